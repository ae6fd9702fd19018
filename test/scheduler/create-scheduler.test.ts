import { describe, expect, it } from 'vitest'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../../src/index.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

describe('a scheduler on the RAM store', () => {
  it('fires a repeating trigger at each of its planned times', async () => {
    const clock = new ManualClock()
    const fired: number[] = []
    const job = defineJob('note', (context) => {
      fired.push(context.scheduledFireTime.getTime())
      expect(clock.now()).toBe(context.scheduledFireTime.getTime())
    })
    const scheduler = await createScheduler({ jobs: [job], clock })
    const start = clock.now() + 1000
    await scheduler.scheduleJob(
      JobBuilder.newJob(job).withIdentity('j').build(),
      TriggerBuilder.newTrigger()
        .startAt(new Date(start))
        .withSchedule(SimpleScheduleBuilder.repeatSecondlyForTotalCount(3))
        .build(),
    )
    await scheduler.start()
    await clock.advance(10_000)
    expect(fired).toEqual([start, start + 1000, start + 2000])
    await scheduler.shutdown()
    expect(clock.timerCount).toBe(0)
  })
})
