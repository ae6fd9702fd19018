import { describe, expect, it } from 'vitest'
import { createScheduler, inProcessThreadPool, ramJobStore, type Scheduler } from '../../src/index.ts'
import { ManualClock, seededIds } from '../../src/testing.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'
import { detailOf, firing, jobOf, theJob } from '../support/shell-rig.ts'

interface Life {
  readonly clock: ManualClock
  readonly scheduler: Scheduler
  readonly store: FaultyJobStore
}

/** Ways for a scheduler to live; each ends in a shutdown. */
const lives: Readonly<Record<string, (life: Life) => Promise<unknown>>> = {
  'never started': ({ scheduler }) => scheduler.shutdown(),
  'never started, with triggers': async ({ clock, scheduler }) => {
    await scheduler.scheduleJob(detailOf('job'), firing(clock.now(), 5))
    await clock.advance(120_000)
    await scheduler.shutdown()
  },
  started: async ({ clock, scheduler }) => {
    await scheduler.start()
    await clock.advance(120_000)
    await scheduler.shutdown()
  },
  'started and shut down at once': async ({ scheduler }) => {
    await scheduler.start()
    await scheduler.shutdown()
  },
  'shut down while it starts': async ({ scheduler }) => {
    const starting = scheduler.start()
    const ending = scheduler.shutdown()
    await Promise.allSettled([starting, ending])
  },
  'shut down before its delayed start': async ({ clock, scheduler }) => {
    scheduler.startDelayed(60_000)
    await clock.advance(1000)
    await scheduler.shutdown()
  },
  'started with delay': async ({ clock, scheduler }) => {
    scheduler.startDelayed(60_000)
    await clock.advance(120_000)
    expect(scheduler.isStarted).toBe(true)
    await scheduler.shutdown()
  },
  'started while a delayed start was due': async ({ clock, scheduler }) => {
    scheduler.startDelayed(60_000)
    await scheduler.start()
    await clock.advance(120_000)
    await scheduler.shutdown()
  },
  'in standby': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.standby()
    await clock.advance(120_000)
    await scheduler.shutdown()
  },
  'started again after standby': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.standby()
    await scheduler.start()
    await clock.advance(120_000)
    await scheduler.shutdown()
  },
  'with triggers that wait': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(clock.now() + 10_000, 5))
    await clock.advance(1000)
    await scheduler.shutdown()
  },
  'with triggers that fire': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(clock.now(), 5))
    await clock.advance(2000)
    await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 5000 })
  },
  'with a job that outlives the deadline of the shutdown': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('endless'), firing(clock.now(), 5))
    await clock.advance(2000)
    const ending = scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 5000 })
    await clock.advance(5000)
    await ending
  },
  'with a job that nobody waits for': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('endless'), firing(clock.now(), 5))
    await clock.advance(2000)
    await scheduler.shutdown()
  },
  'with a job that runs against its time limit until it is interrupted': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.scheduleJob(
      detailOf('obedient', (builder) => builder.withTimeout(600_000)),
      firing(clock.now()),
    )
    await clock.advance(2000)
    expect(await scheduler.interrupt(theJob)).toBe(true)
    await scheduler.shutdown({ waitForJobsToComplete: true })
  },
  'with a retry to come': async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.scheduleJob(
      detailOf('failing', (builder) => builder.withRetry({ attempts: 5 })),
      firing(clock.now()),
    )
    await clock.advance(10)
    await scheduler.shutdown()
  },
  'with a store that fails for ever': async ({ clock, scheduler, store }) => {
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(clock.now() + 1000, 5))
    for (const operation of ['acquireNextTriggers', 'triggersFired', 'triggeredJobsComplete'] as const) {
      store.failOn({ operation, times: Number.POSITIVE_INFINITY })
    }
    await clock.advance(20_000)
    // The loop tries for a while to give back what it may hold.
    const ending = scheduler.shutdown()
    await clock.advance(120_000)
    await ending
  },
  'with a store that does not shut down': async ({ clock, scheduler, store }) => {
    await scheduler.start()
    store.failOn({ operation: 'shutdown' })
    await clock.advance(1000)
    await scheduler.shutdown()
  },
  disposed: async ({ clock, scheduler }) => {
    await scheduler.start()
    await scheduler.scheduleJob(detailOf('job'), firing(clock.now(), 5))
    await clock.advance(500)
    await scheduler[Symbol.asyncDispose]()
  },
}

describe('a scheduler that was shut down leaves no timer behind', () => {
  it.each(Object.entries(lives))('%s', async (_name, live) => {
    const clock = new ManualClock()
    const store = new FaultyJobStore(ramJobStore())
    const failing = class {
      static readonly jobType = 'failing'
      execute(): never {
        throw new Error('failed')
      }
    }
    const endless = class {
      static readonly jobType = 'endless'
      execute(): Promise<never> {
        return new Promise(() => {})
      }
    }
    const obedient = class {
      static readonly jobType = 'obedient'
      execute({ signal }: { readonly signal: AbortSignal }): Promise<void> {
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve()
          })
        })
      }
    }
    const scheduler = await createScheduler({
      logger: false,
      ids: seededIds(7),
      jobs: [jobOf(() => {}), failing, endless, obedient],
      clock,
      jobStore: store,
      threadPool: inProcessThreadPool({ size: 2 }),
    })
    await live({ clock, scheduler, store })
    expect(clock.timerCount).toBe(0)
    expect(scheduler.isShutdown).toBe(true)
    await expect(scheduler.start()).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
    expect(clock.timerCount).toBe(0)
  })
})
