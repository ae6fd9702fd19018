import { expect, test } from 'vitest'
import { systemIds } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobStoreContext, SchedulerSignaler } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/trigger-builder.ts'

const quiet: SchedulerSignaler = {
  triggerMisfired: () => {},
  triggerFinalized: () => {},
  jobDeleted: () => {},
  triggerInError: () => {},
  schedulingChanged: () => {},
  storeError: () => {},
}

test('a repeating trigger is acquired, fired, completed and waits for its next time', async () => {
  const clock = new ManualClock()
  const store = new RAMJobStore()
  const context: JobStoreContext = {
    schedulerName: 'test',
    instanceId: 'node',
    clock,
    ids: systemIds,
    logger: silentLogger,
    signaler: quiet,
    misfireThresholdMs: 60_000,
    knowsJobType: () => true,
  }
  await store.initialize(context)
  const job = JobBuilder.newJob('noop').withIdentity('job').build()
  const trigger = TriggerBuilder.newTrigger({ clock })
    .withIdentity('trigger')
    .forJob(job)
    .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
    .build()
    .computeFirstFireTime(null)
  await store.scheduleJobs([{ job, triggers: [trigger] }], { replace: false })

  const acquired = await store.acquireNextTriggers({
    noLaterThanMs: clock.now(),
    maxCount: 5,
    timeWindowMs: 0,
  })
  expect(acquired.map((claim) => claim.trigger)).toEqual([trigger])
  const [result] = await store.triggersFired(acquired)
  expect(result).toMatchObject({ kind: 'fired', bundle: { scheduledFireTimeMs: clock.now() } })
  await store.triggeredJobsComplete(
    acquired.map(({ fireInstanceId }) => ({
      fireInstanceId,
      trigger,
      jobDetail: job,
      instruction: 'noop',
      jobDataMap: null,
      retryTrigger: null,
    })),
  )
  expect((await store.getTrigger(trigger.key))?.nextFireTimeMs).toBe(clock.now() + 1000)
  expect(await store.getTriggerState(trigger.key)).toBe('NORMAL')
})
