import { describe, expect, it } from 'vitest'
import {
  GroupMatcher,
  JobBuilder,
  JobExecutionError,
  type RetryOptions,
  retryingJobsGroup,
  type SchedulerEventMap,
} from '../../src/index.ts'
import { seededIds } from '../../src/testing.ts'
import { detailOf, firing, jobOf, type ShellRig, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

interface Attempt {
  readonly attempt: number
  readonly trigger: string
  readonly origin: string
  readonly atMs: number
  readonly plannedMs: number
  readonly data: unknown
}

interface Retrying extends ShellRig {
  readonly attempts: Attempt[]
  readonly scheduled: SchedulerEventMap['jobRetryScheduled'][]
}

/** A job that fails in its first `failures` attempts, and what it saw in each. */
async function retrying(retry: RetryOptions, failures: number, seed = 7, flags = {}): Promise<Retrying> {
  const attempts: Attempt[] = []
  const job = jobOf(
    (context) => {
      attempts.push({
        attempt: context.attempt,
        trigger: `${context.triggerKey.group}.${context.triggerKey.name.slice(0, 3)}`,
        origin: context.originalTriggerKey.toString(),
        atMs: context.fireTime.getTime() - rig.startMs,
        plannedMs: context.scheduledFireTime.getTime() - rig.startMs,
        data: { ...context.mergedJobDataMap },
      })
      if (attempts.length <= failures) throw new JobExecutionError(`failure ${attempts.length}`)
    },
    { retry, ...flags },
  )
  const rig = await shellRig([job], { ids: seededIds(seed) })
  const scheduled: SchedulerEventMap['jobRetryScheduled'][] = []
  rig.scheduler.events.on('jobRetryScheduled', (event) => scheduled.push(event))
  return { ...rig, attempts, scheduled }
}

const oneShot = (rig: ShellRig, afterMs = 1000) =>
  firing(rig.startMs + afterMs)
    .getTriggerBuilder()
    .usingJobData({ who: 'trigger' })
    .build()

const detail = () => detailOf('job', (builder) => builder.usingJobData({ who: 'job', what: 'report' }))
const retryOf = (retry: RetryOptions) => JobBuilder.from(detail()).withRetry(retry).build()

const fixed = (attempts: number, initialMs = 1000): RetryOptions => ({
  attempts,
  backoff: { type: 'fixed', initialMs, jitter: 0 },
})

describe('a job with a retry policy', () => {
  it('runs again until it ends well, under triggers of its own that keep data and planned time', async () => {
    const policy = fixed(5)
    const rig = await retrying(policy, 2)
    await rig.scheduler.scheduleJob(retryOf(policy), oneShot(rig))
    await rig.clock.advance(60_000)
    const same = {
      origin: 'DEFAULT.trigger',
      plannedMs: 1000,
      data: { who: 'trigger', what: 'report' },
    }
    expect(rig.attempts).toEqual([
      { attempt: 1, trigger: 'DEFAULT.tri', atMs: 1000, ...same },
      { attempt: 2, trigger: `${retryingJobsGroup}.RT_`, atMs: 2000, ...same },
      { attempt: 3, trigger: `${retryingJobsGroup}.RT_`, atMs: 3000, ...same },
    ])
    await rig.scheduler.shutdown()
  })

  it('says once, after the last attempt, that the firing is not tried again', async () => {
    const policy = fixed(3)
    const rig = await retrying(policy, 99)
    const exhausted: unknown[] = []
    rig.scheduler.events.on('retriesExhausted', ({ jobKey, triggerKey, attempts, error }) => {
      exhausted.push([jobKey.toString(), triggerKey.toString(), attempts, error.message, rig.attempts.length])
    })
    await rig.scheduler.scheduleJob(retryOf(policy), oneShot(rig))
    await rig.clock.advance(60_000)
    expect(exhausted).toEqual([['DEFAULT.job', 'DEFAULT.trigger', 3, 'failure 3', 3]])
    await rig.scheduler.shutdown()
  })

  it('keeps a job that is not durable until its last attempt, and then lets it go', async () => {
    const policy = fixed(3)
    const rig = await retrying(policy, 99)
    const deleted: string[] = []
    rig.scheduler.events.on('jobDeleted', ({ jobKey }) => deleted.push(jobKey.toString()))
    await rig.scheduler.scheduleJob(retryOf(policy), oneShot(rig))
    for (const attempts of [1, 2]) {
      await rig.clock.advance(1000)
      expect(rig.attempts).toHaveLength(attempts)
      expect(await rig.scheduler.checkExists(theJob)).toBe(true)
      expect(await rig.scheduler.checkExists(theTrigger)).toBe(false)
      expect(await rig.scheduler.getTriggersOfJob(theJob)).toHaveLength(1)
    }
    await rig.clock.advance(1000)
    expect(rig.attempts).toHaveLength(3)
    expect(deleted).toEqual([theJob.toString()])
    expect(await rig.scheduler.checkExists(theJob)).toBe(false)
    await rig.clock.advance(60_000)
    expect(rig.attempts).toHaveLength(3)
    await rig.scheduler.shutdown()
  })

  it('tells of each attempt: an event when it is planned, listeners when it runs', async () => {
    const policy = fixed(3)
    const rig = await retrying(policy, 2)
    const seen: string[] = []
    rig.scheduler.listenerManager.addJobListener({
      name: 'attempts',
      jobToBeExecuted: ({ attempt }) => {
        seen.push(`attempt ${attempt}`)
      },
      jobWasExecuted: ({ attempt }, error) => {
        seen.push(`attempt ${attempt} ended: ${error?.message ?? 'well'}`)
      },
    })
    rig.scheduler.listenerManager.addTriggerListener({
      name: 'instructions',
      triggerComplete: (_trigger, { attempt }, instruction) => {
        seen.push(`attempt ${attempt} ${instruction}`)
      },
    })
    await rig.scheduler.scheduleJob(retryOf(policy), oneShot(rig))
    await rig.clock.advance(60_000)
    expect(seen).toEqual([
      'attempt 1',
      'attempt 1 ended: failure 1',
      'attempt 1 deleteTrigger',
      'attempt 2',
      'attempt 2 ended: failure 2',
      'attempt 2 deleteTrigger',
      'attempt 3',
      'attempt 3 ended: well',
      'attempt 3 deleteTrigger',
    ])
    expect(
      rig.scheduled.map(({ attempt, retryTime, triggerKey, context }) => [
        attempt,
        retryTime.getTime() - rig.startMs,
        triggerKey.group,
        context.attempt,
      ]),
    ).toEqual([
      [2, 2000, retryingJobsGroup, 1],
      [3, 3000, retryingJobsGroup, 2],
    ])
    await rig.scheduler.shutdown()
  })

  it.each([1, 2, 3, 4, 5])(
    'waits longer each time, within the jitter of its policy (seed %i)',
    async (seed) => {
      const policy: RetryOptions = {
        attempts: 7,
        backoff: { type: 'exponential', initialMs: 1000, factor: 3, maxMs: 20_000, jitter: 0.25 },
      }
      const rig = await retrying(policy, 99, seed)
      await rig.scheduler.scheduleJob(retryOf(policy), oneShot(rig))
      await rig.clock.advance(600_000)
      expect(rig.attempts).toHaveLength(7)
      const waits = rig.attempts.slice(1).map(({ atMs }, index) => atMs - (rig.attempts[index]?.atMs ?? 0))
      for (const [index, most] of [1000, 3000, 9000, 20_000, 20_000, 20_000].entries()) {
        expect(waits[index], `seed ${seed}, wait ${index + 1}`).toBeLessThanOrEqual(most)
        expect(waits[index], `seed ${seed}, wait ${index + 1}`).toBeGreaterThanOrEqual(most * 0.75)
      }
      expect(new Set(waits.slice(3)).size).toBeGreaterThan(1)
      await rig.scheduler.shutdown()
    },
  )

  it('stores its notes in the trigger and shows the job none of them', async () => {
    const policy = fixed(2)
    const rig = await retrying(policy, 1)
    await rig.scheduler.scheduleJob(retryOf(policy), oneShot(rig))
    await rig.clock.advance(1500)
    const [key] = await rig.scheduler.getTriggerKeys(GroupMatcher.groupEquals(retryingJobsGroup))
    const stored = key === undefined ? null : await rig.scheduler.getTrigger(key)
    expect(stored?.jobDataMap).toMatchObject({
      who: 'trigger',
      QRTZ_RETRY_ATTEMPT: '2',
      QRTZ_RETRY_ORIG_TRIGGER_NAME: 'trigger',
      QRTZ_RETRY_ORIG_TRIGGER_GROUP: 'DEFAULT',
    })
    expect(stored?.description).toBe('attempt 2 of 2 for trigger DEFAULT.trigger')
    await rig.clock.advance(1000)
    expect(rig.attempts[1]?.data).toEqual({ who: 'trigger', what: 'report' })
    await rig.scheduler.shutdown()
  })

  it('describes its trigger in no more words than a database keeps', async () => {
    const policy = fixed(2)
    const rig = await retrying(policy, 1)
    const named = oneShot(rig).getTriggerBuilder().withIdentity('😀'.repeat(200), 'g'.repeat(200)).build()
    await rig.scheduler.scheduleJob(retryOf(policy), named)
    await rig.clock.advance(1500)
    const [key] = await rig.scheduler.getTriggerKeys(GroupMatcher.groupEquals(retryingJobsGroup))
    const stored = key === undefined ? null : await rig.scheduler.getTrigger(key)
    expect(stored?.description).toMatch(/^attempt 2 of 2 for trigger g+\.😀+\.\.\.$/u)
    expect(Array.from(stored?.description ?? '')).toHaveLength(250)
    await rig.scheduler.shutdown()
  })

  it('does not wait for the retry to fire on: a repeating trigger keeps its schedule', async () => {
    const policy = fixed(2, 1500)
    const rig = await retrying(policy, 1)
    await rig.scheduler.scheduleJob(retryOf(policy), firing(rig.startMs, 3))
    await rig.clock.advance(10_000)
    expect(rig.attempts.map(({ attempt, atMs, plannedMs }) => [attempt, atMs, plannedMs])).toEqual([
      [1, 0, 0],
      [1, 1000, 1000],
      [2, 1500, 0],
      [1, 2000, 2000],
    ])
    await rig.scheduler.shutdown()
  })

  it('never overlaps itself when it disallows concurrent execution', async () => {
    let running = 0
    let most = 0
    let runs = 0
    const ends: (() => void)[] = []
    const job = jobOf(
      async () => {
        runs++
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => ends.push(resolve))
        running--
        throw new Error('failed')
      },
      { retry: fixed(3, 500), disallowConcurrentExecution: true },
    )
    const { clock, scheduler, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 4))
    for (let turn = 0; turn < 100; turn++) {
      await clock.advance(300)
      ends.shift()?.()
    }
    expect(runs).toBe(12)
    expect(most).toBe(1)
    expect(await scheduler.checkExists(theJob)).toBe(false)
    await scheduler.shutdown()
  })

  it.each(['unscheduleFiringTrigger', 'unscheduleAllTriggers'])(
    'does not run again after %s',
    async (flag) => {
      let runs = 0
      const job = jobOf(
        () => {
          runs++
          throw new JobExecutionError('enough', { [flag]: true })
        },
        { retry: fixed(5) },
      )
      const { clock, scheduler, startMs } = await shellRig([job])
      await scheduler.scheduleJob(detailOf(job), firing(startMs, 3))
      await clock.advance(60_000)
      expect(runs).toBe(1)
      expect(await scheduler.getTriggersOfJob(theJob)).toHaveLength(1)
      await scheduler.shutdown()
    },
  )

  it('is retried when it refired too often, and when its time was over', async () => {
    const attempts: string[] = []
    const job = jobOf(
      ({ attempt, refireCount, signal }) => {
        attempts.push(`${attempt}/${refireCount}`)
        if (attempt === 1) throw new JobExecutionError('again', { refireImmediately: true })
        if (attempt === 3) return
        return new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            resolve()
          })
        })
      },
      { retry: fixed(5), timeoutMs: 100 },
    )
    const { clock, scheduler, startMs } = await shellRig([job], { maxRefires: 1 })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(60_000)
    expect(attempts).toEqual(['1/0', '1/1', '2/0', '3/0'])
    await scheduler.shutdown()
  })

  it('is not retried when it was vetoed, when it was deleted, or with one attempt', async () => {
    const policy = fixed(3)
    const vetoed = await retrying(policy, 99)
    vetoed.scheduler.listenerManager.addTriggerListener({ name: 'veto', vetoJobExecution: () => true })
    await vetoed.scheduler.scheduleJob(retryOf(policy), oneShot(vetoed))
    await vetoed.clock.advance(60_000)
    expect(vetoed.scheduled).toEqual([])
    expect(await vetoed.scheduler.checkExists(theJob)).toBe(false)
    await vetoed.scheduler.shutdown()

    const deleted = await retrying(policy, 99)
    await deleted.scheduler.scheduleJob(retryOf(policy), oneShot(deleted))
    await deleted.clock.advance(1500)
    await deleted.scheduler.deleteJob(theJob)
    await deleted.clock.advance(60_000)
    expect(deleted.attempts).toHaveLength(1)
    await deleted.scheduler.shutdown()

    const single = await retrying(fixed(1), 99)
    await single.scheduler.scheduleJob(retryOf(fixed(1)), oneShot(single))
    await single.clock.advance(60_000)
    expect(single.attempts).toHaveLength(1)
    await single.scheduler.shutdown()
  })

  it('gives each firing of a trigger attempts of its own', async () => {
    const policy = fixed(2, 100)
    const rig = await retrying(policy, 99)
    await rig.scheduler.scheduleJob(retryOf(policy), firing(rig.startMs, 3))
    await rig.clock.advance(10_000)
    expect(rig.attempts.map(({ attempt, plannedMs }) => [attempt, plannedMs])).toEqual([
      [1, 0],
      [2, 0],
      [1, 1000],
      [2, 1000],
      [1, 2000],
      [2, 2000],
    ])
    expect(await rig.scheduler.checkExists(theJob)).toBe(false)
    await rig.scheduler.shutdown()
  })
})
