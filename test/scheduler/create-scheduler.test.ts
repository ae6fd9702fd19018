import { describe, expect, it } from 'vitest'
import {
  createScheduler,
  defineJob,
  inProcessThreadPool,
  JobBuilder,
  ramJobStore,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../../src/index.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

describe('a scheduler that could not be made', () => {
  const note = defineJob('note', () => {})

  it('can be tried again with the same pool, and a pool that is shut down says so', async () => {
    const threadPool = inProcessThreadPool({ size: 1 })
    const create = (jobStore: JobStore) =>
      createScheduler({ jobs: [note], jobStore, logger: false, threadPool })
    const away = ramJobStore()
    away.initialize = () => Promise.reject(new Error('away'))
    await expect(create(away)).rejects.toThrow('away')
    await expect(create(away)).rejects.toThrow('away')
    const scheduler = await create(ramJobStore())
    await scheduler.start()
    const ran = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(JobBuilder.newJob(note).build(), TriggerBuilder.newTrigger().build())
    expect((await ran).error).toBeNull()
    await expect(create(ramJobStore())).rejects.toThrow("belongs to scheduler 'QuartzScheduler' already")
    await scheduler.shutdown()
    await expect(create(ramJobStore())).rejects.toThrow(
      "Thread pool 'in-process' is shut down and cannot be used again; make another one.",
    )
  })
})

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
