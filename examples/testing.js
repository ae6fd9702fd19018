// Testing a schedule: a clock that stands still until it is told to move. node examples/testing.js
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CronScheduleBuilder, createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'
import { ManualClock } from 'quartz-ts/testing'

const dayMs = 24 * 60 * 60 * 1000

test('the report is written at 07:30 in New York, also when clocks go forward', async () => {
  const clock = new ManualClock(new Date('2026-03-06T12:00:00Z'))
  const written = []
  const report = defineJob('report', (context) => {
    written.push(context.fireTime.toISOString())
  })
  const scheduler = await createScheduler({ jobs: [report], clock })
  await scheduler.scheduleJob(
    JobBuilder.newJob(report).build(),
    TriggerBuilder.newTrigger({ clock })
      .withSchedule(CronScheduleBuilder.cronSchedule('0 30 7 * * ?').inTimeZone('America/New_York'))
      .build(),
  )
  await scheduler.start()

  await clock.advance(3 * dayMs)

  assert.deepEqual(written, [
    '2026-03-06T12:30:00.000Z',
    '2026-03-07T12:30:00.000Z',
    '2026-03-08T11:30:00.000Z',
    '2026-03-09T11:30:00.000Z',
  ])
  await scheduler.shutdown()
  assert.equal(clock.timerCount, 0)
})
