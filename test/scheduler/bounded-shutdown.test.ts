import { describe, expect, it } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { unawaited } from '../../src/core/promises.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import type { SchedulerEventMap } from '../../src/listeners/events.ts'
import type { ShutdownOptions } from '../../src/scheduler/shutdown-options.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { interceptJobStore, type StoreMethod } from '../support/intercept-job-store.ts'
import { LoopFixture } from '../support/loop-fixture.ts'

/** Calls of these are carried out, or not, and never answered. */
type Silence = { readonly methods: readonly StoreMethod[]; readonly when: 'before' | 'after' }

function silence(fixture: LoopFixture, { methods, when }: Silence): { readonly answerNow: () => void } {
  const answers: (() => void)[] = []
  fixture.around = async (call) => {
    if (!methods.includes(call.method)) return call.proceed()
    const answer = when === 'after' ? await call.proceed() : undefined
    await new Promise<void>((resolve) => answers.push(resolve))
    return when === 'after' ? answer : call.proceed()
  }
  return {
    answerNow: () => {
      for (const answer of answers.splice(0)) answer()
    },
  }
}

function left(fixture: LoopFixture): SchedulerEventMap['shutdownIncomplete'][] {
  const seen: SchedulerEventMap['shutdownIncomplete'][] = []
  fixture.scheduler.events.on('shutdownIncomplete', (what) => seen.push(what))
  return seen
}

/** How long the shutdown takes, milliseconds. */
async function timeToEnd(fixture: LoopFixture, options: ShutdownOptions): Promise<number> {
  const startedMs = fixture.clock.elapsedMs()
  await fixture.settled(fixture.scheduler.shutdown(options))
  return fixture.clock.elapsedMs() - startedMs
}

/** The code with which a call is refused. */
function answerOf(call: Promise<void>): Promise<string> {
  return call.then(
    () => 'done',
    (error: unknown) => (SchedulerError.is(error) ? error.code : 'another error'),
  )
}

const everything: readonly StoreMethod[] = [
  'acquireNextTriggers',
  'triggersFired',
  'releaseAcquiredTriggers',
  'releaseAllAcquiredTriggers',
  'triggeredJobsComplete',
  'getJob',
  'shutdown',
]
const incomplete = /^The job store did not answer in time while /

describe('a shutdown ends although the store does not answer', () => {
  it.each([
    ['acquireNextTriggers', 'before'],
    ['acquireNextTriggers', 'after'],
    ['triggersFired', 'before'],
    ['triggersFired', 'after'],
    ['triggeredJobsComplete', 'before'],
    ['triggeredJobsComplete', 'after'],
    ['releaseAcquiredTriggers', 'before'],
    ['shutdown', 'before'],
  ] as const)('to %s (%s it did so), at once or when the time is over', async (method, when) => {
    for (const [options, limitMs] of [
      [{}, 1000],
      [{ timeoutMs: 200 }, 200],
      [{ waitForJobsToComplete: true, timeoutMs: 5000 }, 5000],
    ] as const) {
      const fixture = await LoopFixture.create()
      await fixture.schedule('t', { inMs: 1000, everyMs: 1000 })
      await fixture.schedule('later', { inMs: 20_000 })
      await fixture.settled(fixture.scheduler.start())
      const { answerNow } = silence(fixture, { methods: [method], when })
      await fixture.clock.advance(2500)
      silence(fixture, { methods: everything, when: 'before' })
      const seen = left(fixture)
      const tookMs = await timeToEnd(fixture, options)
      // The store gets another second to free what it has here.
      expect(tookMs).toBeLessThanOrEqual(limitMs + 1000)
      expect(fixture.scheduler.isShutdown).toBe(true)
      expect(seen).toMatchObject([{ isStoreCutOff: true }])
      expect(fixture.errors.filter((message) => incomplete.test(message))).toHaveLength(1)
      const [calls, runs] = [fixture.calls.length, fixture.runs.length]
      answerNow()
      await fixture.clock.advance(600_000)
      expect(fixture.calls.length).toBe(calls)
      expect(fixture.runs.length).toBe(runs)
      expect(fixture.clock.timerCount).toBe(0)
    }
  })

  it('to a start, which is refused', async () => {
    const fixture = await LoopFixture.create()
    const { answerNow } = silence(fixture, { methods: ['schedulerStarted'], when: 'after' })
    const started = expect(fixture.scheduler.start()).rejects.toMatchObject({
      code: 'ERR_SCHEDULER_SHUTDOWN',
    })
    await fixture.schedule('t', { inMs: 1000 })
    expect(await timeToEnd(fixture, {})).toBeLessThanOrEqual(1000)
    await started
    answerNow()
    await fixture.clock.advance(600_000)
    expect(fixture.runs).toEqual([])
    expect(fixture.clock.timerCount).toBe(0)
  })

  it('to a search, and ends the waits for a scheduler without work', async () => {
    const fixture = await LoopFixture.create()
    silence(fixture, { methods: ['acquireNextTriggers'], when: 'before' })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(10)
    const idle = fixture.scheduler.idle()
    await fixture.clock.advance(10)
    await timeToEnd(fixture, {})
    await fixture.settled(idle)
    expect(fixture.scheduler.isShutdown).toBe(true)
  })

  it('and says how many ends are not written', async () => {
    const fixture = await LoopFixture.create()
    for (const name of ['a', 'b', 'c']) await fixture.schedule(name, { inMs: 1000 })
    silence(fixture, { methods: ['triggeredJobsComplete'], when: 'before' })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1500)
    const seen = left(fixture)
    expect(await timeToEnd(fixture, { waitForJobsToComplete: true, timeoutMs: 3000 })).toBe(3000)
    expect(seen).toEqual([{ executions: 0, completionsUnwritten: 3, isStoreCutOff: true }])
  })
})

describe('a shutdown', () => {
  it('says how many executions it left, and leaves a store that answers as it should be', async () => {
    const fixture = await LoopFixture.create()
    await fixture.schedule('long', { inMs: 1000, durationMs: 60_000 })
    await fixture.schedule('later', { inMs: 20_000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1500)
    const seen = left(fixture)
    expect(await timeToEnd(fixture, { waitForJobsToComplete: true, timeoutMs: 3000 })).toBe(3000)
    expect(seen).toEqual([{ executions: 1, completionsUnwritten: 0, isStoreCutOff: false }])
    expect(await fixture.acquirable()).toContain('later')
  })

  it('that leaves nothing says nothing', async () => {
    const fixture = await LoopFixture.create()
    await fixture.schedule('short', { inMs: 1000, durationMs: 100 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1050)
    const seen = left(fixture)
    expect(await timeToEnd(fixture, { waitForJobsToComplete: true })).toBe(50)
    expect(seen).toEqual([])
    expect(fixture.errors).toEqual([])
  })

  it('gives listeners a second, and blames no store for them', async () => {
    const fixture = await LoopFixture.create()
    const never = (): Promise<void> => new Promise(() => {})
    fixture.scheduler.listenerManager.addSchedulerListener({
      schedulerInStandbyMode: never,
      schedulerShuttingdown: never,
    })
    await fixture.settled(fixture.scheduler.start())
    const seen = left(fixture)
    expect(await timeToEnd(fixture, {})).toBe(2000)
    expect(seen).toEqual([])
  })

  it.each([
    ['a listener', 'schedulerInStandbyMode'],
    ['a plugin', 'shutdown'],
    ['a start', 'schedulerStarting'],
  ] as const)('gives %s ten seconds at most, also where it may take longer', async (_, callback) => {
    const silent = { [callback]: () => new Promise<void>(() => {}) }
    const plugins = [{ name: 'a', initialize: () => {}, ...(callback === 'shutdown' && silent) }]
    const fixture = await LoopFixture.create({ plugins })
    if (callback !== 'shutdown') fixture.scheduler.listenerManager.addSchedulerListener(silent)
    // Waits for its listeners.
    const started = answerOf(fixture.scheduler.start())
    await fixture.clock.advance(1)
    expect(await timeToEnd(fixture, { waitForJobsToComplete: true, timeoutMs: 60_000 })).toBe(10_000)
    expect(await started).toBe(callback === 'schedulerStarting' ? 'ERR_SCHEDULER_SHUTDOWN' : 'done')
  })

  it.each([
    ['listeners of schedulerStarting', 'schedulerStarting'],
    ['listeners of schedulerStarted', 'schedulerStarted'],
    ['a plugin', 'start'],
  ] as const)('refuses a start that %s never answer, and a standby behind it', async (_, callback) => {
    const silent = { [callback]: () => new Promise<void>(() => {}) }
    const plugins = [{ name: 'a', initialize: () => {}, ...(callback === 'start' && silent) }]
    const fixture = await LoopFixture.create({ plugins })
    if (callback !== 'start') fixture.scheduler.listenerManager.addSchedulerListener(silent)
    const started = answerOf(fixture.scheduler.start())
    await fixture.clock.advance(1)
    const stoodBy = answerOf(fixture.scheduler.standby())
    await fixture.clock.advance(1)
    await timeToEnd(fixture, {})
    expect(await started).toBe('ERR_SCHEDULER_SHUTDOWN')
    // A start whose listeners are told of it holds up nothing.
    expect(await stoodBy).toBe(callback === 'schedulerStarted' ? 'done' : 'ERR_SCHEDULER_SHUTDOWN')
  })

  it('interrupts in time although a listener does not answer', async () => {
    const never = (): Promise<void> => new Promise(() => {})
    const aborted: number[] = []
    const job = defineJob('endless', async ({ signal }) => {
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve)
      })
      aborted.push(fixture.clock.elapsedMs() - startedMs)
    })
    const fixture = await LoopFixture.create({ jobs: [job] })
    fixture.scheduler.listenerManager.addSchedulerListener({ schedulerInStandbyMode: never })
    await fixture.settled(fixture.scheduler.start())
    await fixture.settled(fixture.scheduler.schedule(job, { at: new Date(fixture.clock.now()) }))
    await fixture.clock.advance(10)
    const startedMs = fixture.clock.elapsedMs()
    await timeToEnd(fixture, { waitForJobsToComplete: true, interruptAfterMs: 1000 })
    expect(aborted).toEqual([1000])
  })

  it('has one deadline for listeners, plugins and the store, whatever hangs, and writes what it can', async () => {
    const never = (): Promise<void> => new Promise(() => {})
    const plugins = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
      name,
      initialize: () => {},
      shutdown: never,
    }))
    const fixture = await LoopFixture.create({ plugins })
    fixture.scheduler.listenerManager.addSchedulerListener({
      schedulerInStandbyMode: never,
      schedulerShuttingdown: never,
      schedulerShutdown: never,
    })
    await fixture.schedule('short', { inMs: 1000, durationMs: 100 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1050)
    const seen = left(fixture)
    expect(await timeToEnd(fixture, { waitForJobsToComplete: true, timeoutMs: 3000 })).toBeLessThanOrEqual(
      4000,
    )
    // The store has answered all the while.
    expect(seen).toEqual([])
    expect(fixture.errors.filter((message) => message.includes('did not shut down in time'))).toHaveLength(5)
  })
})

const waiting = { waitForJobsToComplete: true }

describe('a shutdown that waits without a limit', () => {
  it.each(['acquireNextTriggers', 'triggersFired', 'releaseAcquiredTriggers'] as const)(
    'gives a store that does not answer to %s ten seconds where no job runs',
    async (method) => {
      const fixture = await LoopFixture.create()
      await fixture.schedule('t', { inMs: 1000, everyMs: 1000 })
      await fixture.settled(fixture.scheduler.start())
      silence(fixture, { methods: [method], when: 'before' })
      await fixture.clock.advance(2500)
      silence(fixture, { methods: everything, when: 'before' })
      const seen = left(fixture)
      expect(await timeToEnd(fixture, waiting)).toBe(10_000)
      expect(seen).toMatchObject([{ isStoreCutOff: true }])
      expect(fixture.clock.timerCount).toBe(0)
    },
  )

  it('gives a store that may wait long for locks five seconds more than that', async () => {
    const ram = ramJobStore()
    const store = interceptJobStore(
      ram,
      async (call) => (call.method === 'shutdown' ? new Promise(() => {}) : call.proceed()),
      { capabilities: { ...ram.capabilities, longestLockWaitMs: 30_000 } },
    )
    const fixture = await LoopFixture.create({ jobStore: store })
    await fixture.settled(fixture.scheduler.start())
    const seen = left(fixture)
    // And another second after it was cut off.
    expect(await timeToEnd(fixture, waiting)).toBe(36_000)
    expect(seen).toMatchObject([{ isStoreCutOff: true }])
  })

  it('gives it ten seconds to close', async () => {
    const store = interceptJobStore(ramJobStore(), async (call) =>
      call.method === 'shutdown' ? new Promise(() => {}) : call.proceed(),
    )
    const fixture = await LoopFixture.create({ jobStore: store })
    await fixture.settled(fixture.scheduler.start())
    const seen = left(fixture)
    // And another second after it was cut off.
    expect(await timeToEnd(fixture, waiting)).toBe(11_000)
    expect(seen).toMatchObject([{ isStoreCutOff: true }])
  })

  it('cuts no store off before the last job has ended, and its end is written', async () => {
    const fixture = await LoopFixture.create()
    await fixture.schedule('long', { inMs: 1000, durationMs: 60_000 })
    await fixture.schedule('later', { inMs: 1200 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1100)
    silence(fixture, { methods: ['triggersFired'], when: 'before' })
    await fixture.clock.advance(400)
    let isAway = true
    const { around } = fixture
    fixture.around = (call) => {
      if (isAway && call.method === 'triggeredJobsComplete') throw new Error('The store is away.')
      return around(call)
    }
    const seen = left(fixture)
    const startedMs = fixture.clock.elapsedMs()
    const ended = fixture.scheduler.shutdown(waiting)
    await fixture.clock.advance(3_600_000)
    expect(fixture.scheduler.isShutdown).toBe(false)
    isAway = false
    await fixture.settled(ended)
    expect(fixture.clock.elapsedMs() - startedMs).toBeLessThanOrEqual(3_600_000 + 20_000)
    expect(seen).toEqual([{ executions: 0, completionsUnwritten: 0, isStoreCutOff: true }])
  })
})

describe('a second shutdown', () => {
  const silent = (): Promise<void> => new Promise(() => {})

  /** A scheduler whose shutdown, without a limit, waits. */
  async function held(by: 'a job' | 'a listener' | 'a plugin' | 'the store'): Promise<LoopFixture> {
    const plugins = by === 'a plugin' ? [{ name: 'a', initialize: () => {}, shutdown: silent }] : []
    const fixture = await LoopFixture.create({ plugins })
    if (by === 'a listener') {
      fixture.scheduler.listenerManager.addSchedulerListener({ schedulerShuttingdown: silent })
    }
    await fixture.schedule('t', { inMs: 1000, durationMs: by === 'a job' ? 600_000 : 0 })
    await fixture.settled(fixture.scheduler.start())
    if (by === 'the store') silence(fixture, { methods: ['triggeredJobsComplete'], when: 'before' })
    await fixture.clock.advance(1500)
    unawaited(fixture.scheduler.shutdown(waiting), () => {})
    await fixture.clock.advance(100)
    expect(fixture.scheduler.isShutdown).toBe(false)
    return fixture
  }

  it.each([
    ['a job', 500],
    ['a listener', 1000],
    ['a plugin', 1000],
    ['the store', 1000],
  ] as const)('may end one without a limit that waits for %s', async (by, endMs) => {
    const fixture = await held(by)
    expect(await timeToEnd(fixture, { ...waiting, timeoutMs: 500 })).toBe(endMs)
    expect(fixture.scheduler.isShutdown).toBe(true)
  })

  it('makes no limit longer, and sets none of its own where it names none', async () => {
    const fixture = await held('a job')
    const ended = fixture.scheduler.shutdown({ ...waiting, timeoutMs: 5000 })
    const startedMs = fixture.clock.elapsedMs()
    unawaited(fixture.scheduler.shutdown({ ...waiting, timeoutMs: 60_000 }), () => {})
    unawaited(fixture.scheduler.shutdown({ ...waiting }), () => {})
    unawaited(fixture.scheduler.shutdown(), () => {})
    await fixture.settled(ended)
    expect(fixture.clock.elapsedMs() - startedMs).toBe(5000)
  })
})

it('a shutdown whose time is over names what runs apart from what has ended and is not written', async () => {
  const fixture = await LoopFixture.create({ threadPool: inProcessThreadPool({ size: 2 }) })
  fixture.around = (call) =>
    call.method === 'triggeredJobsComplete' ? Promise.reject(new Error('disk full')) : call.proceed()
  await fixture.schedule('series', { everyMs: 100 })
  await fixture.settled(fixture.scheduler.start())
  // As many as may be unwritten, and one in each slot.
  await fixture.clock.advance(2000)
  await timeToEnd(fixture, { waitForJobsToComplete: true, timeoutMs: 1000 })
  const texts = fixture.errors.filter((text) => text.includes('the time to shut down is over'))
  expect(texts).toEqual([
    '2 executions have ended, and their ends are not written although the time to shut down is over.',
  ])
})
