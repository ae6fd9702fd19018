import { describe, expect, it } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import type { SchedulerSignaler } from '../../src/jobstore/scheduler-signaler.ts'
import type { SchedulerEventMap, SchedulerEventName } from '../../src/listeners/events.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

/** A store that lends its signaler to the test. */
class SignallingStore extends DelegatingJobStore {
  #context: JobStoreContext | null = null

  constructor() {
    super(new RAMJobStore())
  }

  get signaler(): SchedulerSignaler {
    return (this.#context ?? expect.fail('not initialized')).signaler
  }

  override initialize(context: JobStoreContext): Promise<void> {
    this.#context = context
    return super.initialize(context)
  }
}

const forever = defineJob('forever', (context) => {
  return new Promise<void>((resolve) => {
    context.signal.addEventListener('abort', () => {
      resolve()
    })
  })
})

/** Fails when the test says so. */
const endFailing: (() => void)[] = []
const failing = defineJob('failing', () => {
  return new Promise<void>((_, reject) => {
    endFailing.push(() => {
      reject(new Error('stopped'))
    })
  })
})

interface Fixture {
  readonly clock: ManualClock
  readonly scheduler: Scheduler
  readonly signaler: SchedulerSignaler
  readonly seen: [SchedulerEventName, unknown][]
}

async function fixture(...names: SchedulerEventName[]): Promise<Fixture> {
  const clock = new ManualClock()
  const jobStore = new SignallingStore()
  const scheduler = await createScheduler({
    logger: false,
    clock,
    jobStore,
    jobs: [forever, failing],
    instanceId: 'me',
  })
  const seen: [SchedulerEventName, unknown][] = []
  for (const name of names) {
    scheduler.events.on(name, (payload: SchedulerEventMap[typeof name]) => seen.push([name, payload]))
  }
  return { clock, scheduler, signaler: jobStore.signaler, seen }
}

describe('what a clustered store tells the scheduler', () => {
  it('about other nodes becomes events', async () => {
    const { scheduler, signaler, seen } = await fixture('nodeFailed', 'nodeRecovered', 'executionLost')
    const recovery = { node: 'peer', releasedClaims: 1, recoveredExecutions: 2, lostExecutions: 3 }
    const lost = {
      fireInstanceId: 'peer-1',
      node: 'peer',
      jobKey: null,
      triggerKey: triggerKey('t'),
      reason: 'its job is gone',
    }
    signaler.nodeFailed('peer')
    signaler.executionLost({ ...lost, scheduledFireTimeMs: 5000 })
    signaler.nodeRecovered(recovery)
    expect(seen).toEqual([
      ['nodeFailed', { node: 'peer' }],
      ['executionLost', { ...lost, scheduledFireTime: new Date(5000) }],
      ['nodeRecovered', recovery],
    ])
    await scheduler.shutdown()
  })

  it('about waits for locks becomes events', async () => {
    const { scheduler, signaler, seen } = await fixture('lockWaitExceeded')
    const wait = { statement: 'UPDATE t', processId: 7, waitedMs: 1001, holders: [] }
    signaler.lockWaitExceeded(wait)
    expect(seen).toEqual([['lockWaitExceeded', wait]])
    await scheduler.shutdown()
  })

  it('about its check-ins becomes events, and an error when they begin to fail', async () => {
    const { scheduler, signaler, seen } = await fixture('checkInFailed', 'checkInRestored', 'schedulerError')
    const cause = new Error('no answer')
    signaler.checkInFailed(cause)
    signaler.checkInRestored(3)
    expect(seen).toEqual([
      [
        'schedulerError',
        {
          message: expect.stringContaining('me') as string,
          error: expect.objectContaining({ cause }) as Error,
        },
      ],
      ['checkInFailed', { error: cause }],
      ['checkInRestored', { failedAttempts: 3 }],
    ])
    await scheduler.shutdown()
  })

  it('about its own recovery by a peer stops what is running', async () => {
    const { clock, scheduler, signaler, seen } = await fixture('recoveredByPeer', 'jobInterrupted')
    const job = JobBuilder.newJob(forever).withIdentity('j').build()
    const trigger = TriggerBuilder.newTrigger({ clock }).withIdentity('t').build()
    await scheduler.scheduleJob(job, trigger)
    const started = scheduler.events.next('jobToBeExecuted')
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.start()
    await clock.settle()
    const { context } = await started
    signaler.recoveredByPeer()
    await ended
    const { fireInstanceId, jobKey } = context
    expect(seen).toEqual([
      ['recoveredByPeer', {}],
      ['jobInterrupted', { fireInstanceId, jobKey, reason: 'recovered' }],
    ])
    await scheduler.shutdown()
  })

  it('about its own recovery logs what is known: its row may have been deleted', async () => {
    const jobStore = new SignallingStore()
    const warnings: string[] = []
    const note = (_fields: object, message: string): void => {
      warnings.push(message)
    }
    const scheduler = await createScheduler({
      logger: { debug() {}, info() {}, warn: note, error: note },
      jobStore,
    })
    jobStore.signaler.recoveredByPeer()
    expect(warnings).toEqual([expect.stringMatching(/recovered its work, or the row was deleted/)])
    await scheduler.shutdown()
  })

  it.each([
    ['failed', 500],
    ['timed out', 1500],
  ])(
    'about its own recovery leaves another attempt to the peer, where the job had %s',
    async (_, afterMs) => {
      const { clock, scheduler, signaler, seen } = await fixture(
        'jobInterrupted',
        'jobRetryScheduled',
        'retriesExhausted',
      )
      for (const [name, attempts] of Object.entries({ once: 1, often: 3 })) {
        await scheduler.scheduleJob(
          JobBuilder.newJob(failing).withIdentity(name).withTimeout(1000).withRetry({ attempts }).build(),
          TriggerBuilder.newTrigger({ clock }).withIdentity(name).build(),
        )
      }
      await scheduler.start()
      await clock.advance(afterMs)
      seen.splice(0)
      signaler.recoveredByPeer()
      endFailing.forEach((end) => {
        end()
      })
      await clock.advance(10_000)
      expect(seen.filter(([name]) => name !== 'jobInterrupted')).toEqual([])
      await scheduler.shutdown()
    },
  )

  it('about the time puts its clock right, wakes the loop, and warns once about a large difference', async () => {
    const { clock, scheduler, signaler, seen } = await fixture('clockSkewed', 'jobToBeExecuted')
    const job = JobBuilder.newJob(forever).withIdentity('j').build()
    const inAnHour = TriggerBuilder.newTrigger()
      .startAt(new Date(clock.now() + 3_600_000))
      .build()
    await scheduler.scheduleJob(job, inAnHour)
    await scheduler.start()
    await clock.settle()
    signaler.clockOffsetMeasured(800, 2)
    expect(seen).toEqual([])
    const started = scheduler.events.next('jobToBeExecuted')
    signaler.clockOffsetMeasured(3_600_000 - 800, 2)
    signaler.clockOffsetMeasured(0, 2)
    await clock.settle()
    expect((await started).context.fireTime.getTime()).toBe(clock.now() + 3_600_000)
    expect(seen.filter(([name]) => name === 'clockSkewed')).toEqual([
      ['clockSkewed', { offsetMs: 3_600_000, maxClockSkewMs: 1000 }],
    ])
    await scheduler.shutdown({ waitForJobsToComplete: false })
  })
})
