import { describe, expect, it } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import { inProcessThreadPool, zeroSizeThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { InjectedFailure } from '../support/intercept-job-store.ts'
import { LoopFixture } from '../support/loop-fixture.ts'

const idleWaitMs = 10_000

describe('an idle loop', () => {
  it('asks the store after each idle wait, of which at most a fifth is left out at random', async () => {
    const { scheduler, clock, timesOf } = await bound({ idleWaitMs })
    await scheduler.start()
    await clock.advance(600_000)
    const times = timesOf('acquireNextTriggers')
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(Math.max(...waits)).toBeLessThanOrEqual(idleWaitMs)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0.8 * idleWaitMs - 1)
    expect(new Set(waits).size).toBeGreaterThan(10)
  })

  it('counts the idle wait from its question, not from a late answer', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs })
    fixture.around = async (call) => {
      const answer = await call.proceed()
      if (call.method === 'acquireNextTriggers') await fixture.clock.sleep(6000)
      return answer
    }
    await fixture.scheduler.start()
    await fixture.clock.advance(60_000)
    const times = fixture.timesOf('acquireNextTriggers')
    expect(times.length).toBeGreaterThanOrEqual(6)
  })

  it('finds within one idle wait what nobody told it of', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs })
    const { scheduler, clock, ram } = fixture
    await fixture.schedule('known', { inMs: 3_600_000 })
    await scheduler.start()
    await clock.advance(1000)
    const known = await ram.getTrigger(new TriggerKey('known'))
    if (known === null) throw new Error('the trigger is gone')
    // Stored in silence, as another process would.
    const silent = fixture.trigger('silent', { inMs: 20_000 }).withJobKey(known.jobKey ?? fail())
    fixture.around = (call) => call.proceed()
    await ram.scheduleJobs([{ job: null, triggers: [silent.computeFirstFireTime(null)] }], { replace: false })
    await clock.advance(60_000)
    expect(fixture.ran).toEqual(['silent@21000'])
  })
})

describe('a batch', () => {
  it('is acquired in one call, and each trigger of it fires at its own time', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs, maxBatchSize: 5, batchTimeWindowMs: 1000 })
    for (const inMs of [5000, 5200, 5900, 5999]) await fixture.schedule(`t${inMs}`, { inMs })
    await fixture.scheduler.start()
    await fixture.clock.advance(8000)
    expect(fixture.ran).toEqual(['t5000@5000', 't5200@5200', 't5900@5900', 't5999@5999'])
    expect(fixture.timesOf('triggersFired')).toEqual([5000, 5200, 5900, 5999])
    expect(fixture.timesOf('releaseAcquiredTriggers')).toEqual([])
  })

  it('is never larger than the free slots and maxBatchSize', async () => {
    const sizes: number[] = []
    const fixture = await LoopFixture.create({
      maxBatchSize: 3,
      threadPool: inProcessThreadPool({ size: 4 }),
    })
    fixture.around = (call) => {
      if (call.method === 'acquireNextTriggers') {
        sizes.push((call.parameters as [{ maxCount: number }])[0].maxCount)
      }
      return call.proceed()
    }
    for (let index = 0; index < 8; index++) await fixture.schedule(`t${index}`, { durationMs: 50 })
    await fixture.scheduler.start()
    await fixture.clock.advance(1000)
    expect(fixture.runs).toHaveLength(8)
    expect(Math.max(...sizes)).toBe(3)
    expect(sizes.slice(0, 2)).toEqual([3, 1])
  })

  it('does not keep a trigger that repeats inside the window waiting for the rest', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs, maxBatchSize: 5, batchTimeWindowMs: 2000 })
    await fixture.schedule('quick', { inMs: 1000, everyMs: 500 })
    await fixture.schedule('rest', { inMs: 2800 })
    await fixture.scheduler.start()
    await fixture.clock.advance(3000)
    expect(fixture.ran).toEqual([
      'quick@1000',
      'quick@1500',
      'quick@2000',
      'quick@2500',
      'rest@2800',
      'quick@3000',
    ])
  })
})

describe('something earlier than what is held', () => {
  it('takes its place when it is scheduled', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs })
    await fixture.schedule('held', { inMs: 8000 })
    await fixture.scheduler.start()
    await fixture.clock.advance(1000)
    expect(fixture.timesOf('acquireNextTriggers')).toEqual([0])
    await fixture.schedule('early', { inMs: 500 })
    await fixture.clock.advance(10_000)
    expect(fixture.ran).toEqual(['early@1500', 'held@8000'])
    expect(fixture.timesOf('releaseAcquiredTriggers')).toEqual([1000])
  })

  it('is not worth giving back a claim that is due within the switch threshold', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs })
    await fixture.schedule('held', { inMs: 8000 })
    await fixture.scheduler.start()
    await fixture.clock.advance(7994)
    await fixture.schedule('early', { inMs: 2 })
    await fixture.clock.advance(100)
    expect(fixture.ran).toEqual(['held@8000', 'early@8000'])
    expect(fixture.timesOf('releaseAcquiredTriggers')).toEqual([])
  })

  it('is not missed when it is announced while the store is being asked', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs })
    const { clock } = fixture
    fixture.around = async (call) => {
      const answer = await call.proceed()
      if (call.method === 'acquireNextTriggers') await clock.sleep(300)
      return answer
    }
    await fixture.scheduler.start()
    await clock.advance(100)
    await fixture.schedule('early', { inMs: 1000 })
    await clock.advance(5000)
    expect(fixture.ran).toEqual(['early@1100'])
  })

  it('is not missed when it was announced to a question that failed', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs })
    const { clock } = fixture
    await fixture.scheduler.start()
    await clock.advance(1000)
    let failures = 1
    fixture.around = (call) => {
      if (call.method === 'acquireNextTriggers' && failures-- > 0) throw new InjectedFailure('no answer')
      return call.proceed()
    }
    await fixture.schedule('early', { inMs: 100 })
    await clock.advance(200)
    expect(fixture.ran).toEqual(['early@1100'])
  })
})

describe('a full pool', () => {
  it('is waited for: the store is not asked while there is no slot', async () => {
    const fixture = await LoopFixture.create({ threadPool: inProcessThreadPool({ size: 1 }) })
    await fixture.schedule('long', { durationMs: 5000 })
    await fixture.schedule('next', { inMs: 1000 })
    await fixture.scheduler.start()
    await fixture.clock.advance(20_000)
    expect(fixture.ran).toEqual(['long@0', 'next@5000'])
    expect(fixture.timesOf('acquireNextTriggers').filter((time) => time > 0 && time < 5000)).toEqual([])
  })

  it('of size zero never asks, and can be started and halted', async () => {
    const fixture = await LoopFixture.create({ threadPool: zeroSizeThreadPool() })
    await fixture.schedule('never', { everyMs: 1000 })
    await fixture.scheduler.start()
    await fixture.clock.advance(100_000)
    await fixture.settled(fixture.scheduler.shutdown())
    expect(fixture.runs).toEqual([])
    expect(fixture.timesOf('acquireNextTriggers')).toEqual([])
    expect(fixture.clock.timerCount).toBe(0)
  })

  it('that somebody else shut down is reported once and does not make the loop spin', async () => {
    const threadPool = inProcessThreadPool({ size: 1 })
    const fixture = await LoopFixture.create({ threadPool })
    await fixture.schedule('long', { durationMs: 60_000 })
    await fixture.schedule('next', { inMs: 1000 })
    await fixture.scheduler.start()
    await fixture.clock.advance(100)
    await threadPool.shutdown({ waitForJobsToComplete: false })
    await fixture.clock.advance(50_000)
    expect(fixture.errors).toEqual(['The thread pool has no threads to give: was it shut down?'])
    await fixture.settled(fixture.scheduler.shutdown())
  })
})

describe('searches of which some fail', () => {
  const scanning = 'The job store failed while scanning for the next triggers to fire.'

  /** A fixture that fires often, with the searches that fail as the test says. */
  async function failing(fails: (nth: number) => boolean): Promise<LoopFixture> {
    const fixture = await LoopFixture.create({ idleWaitMs: 5000 })
    await fixture.schedule('often', { everyMs: 500 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1000)
    let searches = 0
    fixture.around = (call) => {
      const isSearch = call.method === 'acquireNextTriggers' || call.method === 'acquireAndFire'
      return isSearch && fails(++searches) ? Promise.reject(new Error('locked')) : call.proceed()
    }
    return fixture
  }

  it('are one series for a minute', async () => {
    const fixture = await failing((nth) => nth % 3 === 0)
    await fixture.clock.advance(50_000)
    expect(fixture.errors).toEqual([scanning])
    await fixture.clock.advance(30_000)
    expect(fixture.errors).toEqual([scanning, scanning])
    await fixture.settled(fixture.scheduler.shutdown())
  })

  it('are told again when all fail for long', async () => {
    let isAway = false
    const fixture = await failing((nth) => isAway || nth === 1)
    await fixture.clock.advance(5000)
    expect(fixture.errors).toEqual([scanning])
    isAway = true
    await fixture.clock.advance(4000)
    expect(fixture.errors).toEqual([scanning])
    await fixture.clock.advance(20_000)
    expect(fixture.errors).toEqual([scanning, scanning])
    await fixture.settled(fixture.scheduler.shutdown())
  })
})

function fail(): never {
  throw new Error('a stored trigger has a job')
}

/** A fixture with its members bound, to be taken apart. */
async function bound(options: {
  idleWaitMs: number
}): Promise<Pick<LoopFixture, 'scheduler' | 'clock'> & { timesOf: LoopFixture['timesOf'] }> {
  const fixture = await LoopFixture.create(options)
  return {
    scheduler: fixture.scheduler,
    clock: fixture.clock,
    timesOf: (method) => fixture.timesOf(method),
  }
}
