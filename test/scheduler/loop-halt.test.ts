import { describe, expect, it } from 'vitest'
import { storedCounts } from '../../src/testing/job-store/stored.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { InjectedFailure, type StoreCall } from '../support/intercept-job-store.ts'
import { LoopFixture } from '../support/loop-fixture.ts'

/** The world in which the loop is stopped at each of its calls: batches, a full pool, blocked and waiting triggers. */
async function busyFixture(): Promise<LoopFixture> {
  const fixture = await LoopFixture.create({
    idleWaitMs: 5000,
    maxBatchSize: 3,
    batchTimeWindowMs: 500,
    threadPool: inProcessThreadPool({ size: 3 }),
  })
  await fixture.schedule('plain', { inMs: 1000, everyMs: 700 })
  await fixture.schedule('long', { inMs: 1200, everyMs: 900, durationMs: 1300 })
  await fixture.schedule('exclusive', { inMs: 1100, everyMs: 400, durationMs: 250, exclusive: true })
  await fixture.schedule('sibling', { inMs: 1500, everyMs: 800, job: 'exclusive' })
  await fixture.schedule('once', { inMs: 3000 })
  return fixture
}

const runMs = 6000

/** How many calls the loop makes in the busy world when nobody stops it. */
async function countCalls(): Promise<number> {
  const fixture = await busyFixture()
  const before = fixture.calls.length
  await fixture.settled(fixture.scheduler.start())
  await fixture.clock.advance(runMs)
  return fixture.calls.length - before
}

type Stop = (fixture: LoopFixture) => Promise<void>

/** Stops at the n-th call, before the store has done its work, after it, or after it and while the answer is late. */
async function stopAtCall(nth: number, when: 'before' | 'after' | 'late', stop: Stop): Promise<LoopFixture> {
  const fixture = await busyFixture()
  let count = 0
  const stops: Promise<void>[] = []
  fixture.around = async (call: StoreCall) => {
    const strikes = ++count === nth
    if (strikes && when === 'before') stops.push(stop(fixture))
    const answer = await call.proceed()
    if (strikes && when !== 'before') stops.push(stop(fixture))
    // Not so late that a shutdown that does not wait for jobs would cut the store off.
    if (strikes && when === 'late') await fixture.clock.sleep(900)
    return answer
  }
  // A start that is overtaken by a shutdown says so.
  await fixture.settled(Promise.allSettled([fixture.scheduler.start()]))
  await fixture.clock.advance(runMs)
  expect(stops, `call ${nth} stops the loop`).toHaveLength(1)
  await fixture.settled(Promise.all(stops))
  return fixture
}

/** A job that ended after its scheduler was shut down still counts as running in the store: `isBusy`. */
async function expectNothingAcquired(
  fixture: LoopFixture,
  message: string,
  isBusy: boolean = false,
): Promise<void> {
  const waiting = await fixture.waiting()
  const acquirable = await fixture.acquirable()
  // Of the two triggers of the exclusive job a batch holds one.
  const expected = waiting.filter((name) => name !== 'sibling' && name !== 'exclusive')
  expect(acquirable, message).toEqual(expect.arrayContaining(expected))
  if (!isBusy && (waiting.includes('exclusive') || waiting.includes('sibling'))) {
    expect(acquirable.includes('exclusive') || acquirable.includes('sibling'), message).toBe(true)
  }
  const all = isBusy ? ['long', 'plain'] : ['exclusive', 'long', 'plain', 'sibling']
  expect(waiting, message).toEqual(expect.arrayContaining(all))
}

describe('a loop that is stopped at any of its calls leaves no trigger acquired', () => {
  it.each(['before', 'after', 'late'] as const)('by a shutdown %s the answer', async (when) => {
    const callCount = await countCalls()
    expect(callCount).toBeGreaterThan(40)
    for (let nth = 1; nth <= callCount; nth++) {
      const fixture = await stopAtCall(nth, when, ({ scheduler }) =>
        scheduler.shutdown({ waitForJobsToComplete: nth % 2 === 0 }),
      )
      const message = `stopped at call ${nth}, ${when} its answer`
      await fixture.clock.advance(10_000)
      const runs = fixture.runs.length
      await expectNothingAcquired(fixture, message, nth % 2 === 1)
      await fixture.clock.advance(60_000)
      expect(fixture.runs.length, message).toBe(runs)
      expect(fixture.clock.timerCount, message).toBe(0)
      expect(fixture.errors, message).toEqual([])
    }
  })

  it.each(['before', 'after', 'late'] as const)('by a standby %s the answer', async (when) => {
    const callCount = await countCalls()
    for (let nth = 1; nth <= callCount; nth++) {
      let runsInStandby = -1
      const fixture = await stopAtCall(nth, when, async (world) => {
        await world.scheduler.standby()
        runsInStandby = world.runs.length
      })
      const message = `stopped at call ${nth}, ${when} its answer`
      await fixture.clock.advance(10_000)
      expect(fixture.runs.length, message).toBe(runsInStandby)
      await expectNothingAcquired(fixture, message)
      await fixture.settled(fixture.scheduler.start())
      await fixture.clock.advance(5000)
      expect(fixture.runs.length, message).toBeGreaterThan(runsInStandby)
      await fixture.settled(fixture.scheduler.shutdown())
    }
  })
})

describe('a loop that cannot give back its claims', () => {
  const releases = (call: StoreCall): boolean => call.method === 'releaseAcquiredTriggers'

  it('keeps trying in standby, which does not wait for it, and succeeds when the store is back', async () => {
    const fixture = await LoopFixture.create()
    let isAway = true
    fixture.around = async (call) => {
      if (isAway && releases(call)) throw new InjectedFailure('the store is away')
      return call.proceed()
    }
    await fixture.schedule('held', { inMs: 5000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(100)
    await fixture.settled(fixture.scheduler.standby())
    await fixture.clock.advance(60_000)
    expect(await fixture.acquirable()).toEqual([])
    isAway = false
    await fixture.clock.advance(60_000)
    expect(await fixture.acquirable()).toEqual(['held'])
    expect(fixture.runs).toEqual([])
    expect(fixture.errors).toEqual([
      'The job store could not take back acquired triggers; nothing fires here until it does.',
    ])
  })

  it('gives up after ten attempts of a halt, however often it failed before, and says so', async () => {
    const fixture = await LoopFixture.create()
    fixture.around = async (call) => {
      if (releases(call)) throw new InjectedFailure('the store is away')
      return call.proceed()
    }
    await fixture.schedule('held', { inMs: 5000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(100)
    await fixture.settled(fixture.scheduler.standby())
    await fixture.clock.advance(60_000)
    const before = fixture.timesOf('releaseAcquiredTriggers').length
    expect(before).toBeGreaterThan(5)
    await fixture.settled(fixture.scheduler.shutdown({ waitForJobsToComplete: true }))
    const attempts = fixture.timesOf('releaseAcquiredTriggers').length - before
    expect(attempts).toBeGreaterThanOrEqual(9)
    expect(attempts).toBeLessThanOrEqual(11)
    expect(fixture.errors.at(-1)).toBe('Acquired triggers could not be released before the halt.')
    expect(fixture.clock.timerCount).toBe(0)
  })

  it('goes on when the store is back before the halt ends', async () => {
    const fixture = await LoopFixture.create()
    let failures = 5
    fixture.around = async (call) => {
      if (releases(call) && failures-- > 0) throw new InjectedFailure('the store is away')
      return call.proceed()
    }
    await fixture.schedule('held', { inMs: 5000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(100)
    await fixture.settled(fixture.scheduler.shutdown({ waitForJobsToComplete: true }))
    expect(await fixture.acquirable()).toEqual(['held'])
  })
})

describe('an answer that was lost', () => {
  it('of triggersFired ends the firing, so that a non-concurrent job is not blocked for ever', async () => {
    const fixture = await LoopFixture.create()
    let losses = 1
    fixture.around = async (call) => {
      const answer = await call.proceed()
      if (call.method === 'triggersFired' && losses-- > 0) throw new InjectedFailure('the answer is lost')
      return answer
    }
    await fixture.schedule('exclusive', { inMs: 1000, everyMs: 1000, exclusive: true })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(3500)
    expect(fixture.ran).toEqual(['exclusive@2000', 'exclusive@3000'])
    expect(fixture.errors).toEqual(['The job store failed while firing triggers.'])
  })

  it('of the last firing deletes its trigger, as the end of a run would', async () => {
    const fixture = await LoopFixture.create()
    fixture.around = async (call) => {
      const answer = await call.proceed()
      if (call.method === 'triggersFired') throw new InjectedFailure('the answer is lost')
      return answer
    }
    await fixture.schedule('once', { inMs: 1000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(10_000)
    expect(await storedCounts(fixture.ram)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
  })

  it('of an acquisition gives back what was claimed', async () => {
    const fixture = await LoopFixture.create()
    let losses = 1
    fixture.around = async (call) => {
      const answer = await call.proceed()
      if (call.method === 'acquireNextTriggers' && losses-- > 0)
        throw new InjectedFailure('the answer is lost')
      return answer
    }
    await fixture.schedule('t', { inMs: 1000, everyMs: 1000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(3500)
    expect(fixture.ran).toEqual(['t@1000', 't@2000', 't@3000'])
  })
})
