import { expect, onTestFinished, test } from 'vitest'
import { JobBoard } from '../../src/cli/crontab/job-board.ts'
import { watchScheduler } from '../../src/cli/crontab/watch-scheduler.ts'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  ramJobStore,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../../src/index.ts'
import { ManualClock } from '../../src/testing.ts'
import { TimeZone } from '../../src/time/zone.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'

const minuteMs = 60_000

test('a read that fails after a misfire is told, and the next one puts the board right', async () => {
  const clock = new ManualClock()
  const store = new FaultyJobStore(ramJobStore())
  const job = defineJob('work', () => {})
  const scheduler = await createScheduler({ jobs: [job], clock, jobStore: store })
  onTestFinished(() => scheduler.shutdown())
  const detail = JobBuilder.newJob(job).withIdentity('j').build()
  const trigger = TriggerBuilder.newTrigger({ clock })
    .startAt(new Date(clock.now() + minuteMs))
    .withSchedule(
      SimpleScheduleBuilder.repeatMinutelyForever().withMisfireInstruction('rescheduleNextWithExistingCount'),
    )
    .build()
  const firstFire = await scheduler.scheduleJob(detail, trigger)
  const board = new JobBoard(clock.now())
  board.add(detail.key, 'the work', firstFire.getTime())
  const notes: string[] = []
  const view = { note: (text: string) => notes.push(text) }
  watchScheduler(scheduler, { board, view, clock, zone: TimeZone.of('UTC'), beganMs: clock.now() })
  await scheduler.start()

  store.failOn({ operation: 'getTrigger' })
  clock.jump(10.5 * minuteMs)
  await clock.advance(minuteMs)
  expect(notes).toEqual([
    'Missed 00:01:00: the work',
    'When the work runs next could not be read: The store failed on purpose at getTrigger.',
  ])

  clock.jump(10 * minuteMs)
  await clock.advance(minuteMs)
  expect(notes.slice(2)).toEqual([expect.stringMatching(/^Missed /)])
  expect(board.rowOf(detail.key)?.nextFireMs).toBeGreaterThan(clock.now())
})
