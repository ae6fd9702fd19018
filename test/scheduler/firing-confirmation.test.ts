import { expect, test } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { jobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import type { JobStoreCluster } from '../../src/jobstore/cluster-view.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { latch } from '../support/latch.ts'

/** A store that is certain of its firings when the test says so. */
class DoubtingStore extends DelegatingJobStore {
  signaler: JobStoreContext['signaler'] | null = null
  /** What a job does. */
  duringRun: () => void = () => {}
  #asked = latch()
  #doubt: { readonly promise: Promise<void>; readonly end: (error?: Error) => void } | null = null

  constructor() {
    super(new RAMJobStore())
  }

  /** From now on it is in doubt. */
  doubt(): void {
    let end: (error?: Error) => void = () => {}
    const promise = new Promise<void>((resolve, reject) => {
      end = (error) => {
        if (error === undefined) resolve()
        else reject(error)
      }
    })
    this.#doubt = { promise, end }
    this.#asked = latch()
  }
  /** Resolves when a job is about to begin in doubt. */
  get asked(): Promise<void> {
    return this.#asked.promise
  }
  /** It is certain again; or, with an error, never. */
  end(error?: Error): void {
    this.#doubt?.end(error)
    this.#doubt = null
  }

  override initialize(context: JobStoreContext): Promise<void> {
    this.signaler = context.signaler
    return super.initialize(context)
  }

  override get cluster(): JobStoreCluster {
    return {
      nodes: () => Promise.resolve([]),
      executing: () => Promise.resolve([]),
      interrupt: () => Promise.resolve(),
      order: () => Promise.resolve(),
      announce: () => {},
      remove: () => Promise.resolve(),
      confirmFirings: () => {
        if (this.#doubt === null) return undefined
        this.#asked.open()
        return this.#doubt.promise
      },
    }
  }
}

interface Fixture {
  readonly clock: ManualClock
  readonly store: DoubtingStore
  readonly scheduler: Scheduler
  /** What happened, in order. */
  readonly seen: string[]
  readonly warnings: string[]
}

/** A scheduler in doubt about the job that it has just fired. */
async function inDoubt(): Promise<Fixture> {
  const clock = new ManualClock()
  const store = new DoubtingStore()
  const seen: string[] = []
  const warnings: string[] = []
  const ignore = (): void => {}
  const warn = (_details: object, message: string): void => {
    warnings.push(message)
  }
  const job = defineJob('job', () => {
    seen.push('ran')
    store.duringRun()
  })
  const scheduler = await createScheduler({
    clock,
    jobStore: store,
    jobs: [job],
    instanceId: 'me',
    logger: { debug: ignore, info: ignore, warn, error: ignore },
  })
  scheduler.events.on('jobToBeExecuted', () => seen.push('toBeExecuted'))
  scheduler.events.on('jobWasExecuted', ({ context, error }) => {
    seen.push(`wasExecuted ${error?.code ?? 'well'}${context.isTakenOver ? ', taken over' : ''}`)
  })
  await scheduler.start()
  store.doubt()
  await scheduler.schedule(job, { key: 'once', in: '1s' })
  await clock.advance(1000)
  await store.asked
  return { clock, store, scheduler, seen, warnings }
}

test('a job begins when it is certain that the firing is this node its own', async () => {
  const { clock, store, scheduler, seen, warnings } = await inDoubt()
  await clock.advance(3_600_000)
  expect(seen).toEqual(['toBeExecuted'])
  store.end()
  await clock.advance(1)
  expect(seen).toEqual(['toBeExecuted', 'ran', 'wasExecuted well'])
  expect(warnings).toEqual([])
  await scheduler.shutdown()
})

test('a job does not begin that another node has taken over', async () => {
  const { clock, store, scheduler, seen, warnings } = await inDoubt()
  store.signaler?.recoveredByPeer()
  store.end()
  await clock.advance(1)
  expect(seen).toEqual(['toBeExecuted', 'wasExecuted ERR_JOB_INTERRUPTED, taken over'])
  expect(warnings).toContain('Job DEFAULT.once did not begin: another node has taken over its firing.')
  await scheduler.shutdown()
})

test('nor one whose listener waited while another node took it over', async () => {
  const { clock, store, scheduler, seen } = await inDoubt()
  store.end()
  await clock.advance(1)
  const heard = latch()
  const told = latch()
  scheduler.listenerManager.addJobListener({
    name: 'slow',
    jobToBeExecuted: async () => {
      told.open()
      await heard.promise
    },
  })
  seen.length = 0
  await scheduler.schedule('job', { key: 'again', in: '1s' })
  await clock.advance(1000)
  await told.promise
  store.signaler?.recoveredByPeer()
  heard.open()
  await clock.advance(1)
  expect(seen).not.toContain('ran')
  expect(seen).toContain('wasExecuted ERR_JOB_INTERRUPTED, taken over')
  await scheduler.shutdown()
})

test('a job that waits for it is interrupted as one that runs', async () => {
  const { clock, scheduler, seen, store } = await inDoubt()
  expect(await scheduler.interrupt(jobKey('once'))).toBe(true)
  await clock.advance(1)
  expect(seen).toEqual(['toBeExecuted', 'wasExecuted ERR_JOB_INTERRUPTED'])
  store.end()
  await scheduler.shutdown()
})

test('a job does not begin when the store shuts down meanwhile', async () => {
  const { clock, scheduler, seen, store, warnings } = await inDoubt()
  store.end(new SchedulerError('ERR_SCHEDULER_SHUTDOWN', 'the store shuts down'))
  await clock.advance(1)
  expect(seen).toEqual(['toBeExecuted', 'wasExecuted ERR_SCHEDULER_SHUTDOWN, taken over'])
  expect(warnings[0]).toBe(
    'Job DEFAULT.once did not begin: it was not certain any more that this node fires it.',
  )
  await scheduler.shutdown()
})

test('a job that waited asks again after the one before it kept the event loop busy', async () => {
  const { clock, scheduler, seen, store } = await inDoubt()
  await scheduler.schedule('job', { key: 'other', in: '1s' })
  await clock.advance(1000)
  // As after so long that others may have taken over.
  store.duringRun = () => {
    store.doubt()
  }
  store.end()
  await clock.advance(1)
  expect(seen.filter((what) => what === 'ran')).toHaveLength(1)
  store.signaler?.recoveredByPeer()
  store.end()
  await clock.advance(1)
  expect(seen.filter((what) => what === 'ran')).toHaveLength(1)
  await scheduler.shutdown()
})

test('a job that waits is among those that execute until listeners were told of its end', async () => {
  const { clock, scheduler, store } = await inDoubt()
  const executing = (): string[] => scheduler.getCurrentlyExecutingJobs().map(({ jobKey }) => jobKey.name)
  const atEnd: unknown[] = []
  scheduler.events.on('jobWasExecuted', ({ context }) => atEnd.push(executing(), context.jobRunTimeMs))
  expect(executing()).toEqual(['once'])
  expect(scheduler.getMetaData().numberOfJobsExecuted).toBe(0)
  store.signaler?.recoveredByPeer()
  store.end()
  await clock.advance(1)
  expect(atEnd).toEqual([['once'], 0])
  expect(executing()).toEqual([])
  expect(scheduler.getMetaData().numberOfJobsExecuted).toBe(0)
  await scheduler.shutdown()
})
