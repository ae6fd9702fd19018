import { EventEmitter, once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { AcquiredTrigger, TriggerFiredResult } from '../../src/jobstore/job-store.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import type { StoreCall } from '../support/intercept-job-store.ts'
import { LoopFixture } from '../support/loop-fixture.ts'

/** A store in which somebody else holds what triggers of these names take. */
async function lockedFixture(options: Parameters<typeof LoopFixture.create>[0] = {}) {
  const fixture = await LoopFixture.create(options)
  const locked = new Set<string>()
  const tries: { readonly method: string; readonly atMs: number }[] = []
  fixture.around = async (call: StoreCall) => {
    if (call.method !== 'triggersFired' && call.method !== 'releaseAcquiredTriggers') return call.proceed()
    const claims = call.parameters[0] as readonly AcquiredTrigger[]
    const isLocked = ({ trigger }: AcquiredTrigger): boolean => locked.has(trigger.key.name)
    const held = claims.filter(isLocked)
    if (held.length > 0) tries.push({ method: call.method, atMs: fixture.nowMs })
    const free = claims.filter((claim) => !isLocked(claim))
    if (call.method === 'releaseAcquiredTriggers') {
      await fixture.ram.releaseAcquiredTriggers(free)
      return held
    }
    const fired = [...(await fixture.ram.triggersFired(free))]
    return claims.map((claim): TriggerFiredResult | undefined =>
      isLocked(claim) ? { kind: 'locked' } : fired.shift(),
    )
  }
  return { fixture, locked, tries }
}

/** A loop that has claimed 'held', which somebody else holds now, and waits for its time in five seconds. */
async function claimedFixture() {
  const scene = await lockedFixture()
  const { fixture, locked } = scene
  locked.add('held')
  await fixture.schedule('held', { inMs: 5000 })
  await fixture.settled(fixture.scheduler.start())
  await fixture.clock.advance(100)
  return scene
}

describe('a claim that is locked when it is to be fired', () => {
  it('keeps nothing else from firing on time, and fires once when it is free', async () => {
    const { fixture, locked, tries } = await lockedFixture()
    locked.add('held')
    await fixture.schedule('held', { inMs: 1000 })
    await fixture.schedule('tick', { inMs: 1000, everyMs: 100 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(4000)
    const ticks = fixture.runs.filter(({ name }) => name === 'tick')
    expect(ticks.map(({ atMs }) => atMs)).toEqual(ticks.map(({ plannedMs }) => plannedMs))
    expect(ticks).toHaveLength(31)
    expect(fixture.runs).toHaveLength(31)
    // Soon at first, then four times a second.
    expect(tries.slice(0, 4).map(({ atMs }) => atMs)).toEqual([1000, 1020, 1060, 1140])
    expect(tries.length).toBeLessThan(20)
    expect(new Set(tries.map(({ method }) => method))).toEqual(new Set(['triggersFired']))
    locked.clear()
    await fixture.clock.advance(1000)
    const held = fixture.runs.filter(({ name }) => name === 'held')
    expect(held).toHaveLength(1)
    expect(held[0]?.plannedMs).toBe(1000)
    expect(held[0]?.atMs).toBeLessThanOrEqual(4250)
    expect(fixture.errors).toEqual([])
    await fixture.settled(fixture.scheduler.shutdown())
    expect(fixture.clock.timerCount).toBe(0)
  })

  it('fires at its next times, too, where nothing else has the loop look for them', async () => {
    const { fixture, locked } = await lockedFixture()
    locked.add('held')
    await fixture.schedule('held', { inMs: 1000, everyMs: 2000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1400)
    expect(fixture.runs).toEqual([])
    locked.clear()
    await fixture.clock.advance(8000)
    expect(fixture.runs.map(({ plannedMs }) => plannedMs)).toEqual([1000, 3000, 5000, 7000, 9000])
    expect(fixture.runs.slice(1).map(({ atMs }) => atMs)).toEqual([3000, 5000, 7000, 9000])
  })

  it('ends no series of failures of the search: one error, and pauses that grow', async () => {
    const infos: string[] = []
    const logger = { ...silentLogger, info: (_fields: object, message: string) => infos.push(message) }
    const { fixture, locked, tries } = await lockedFixture({ logger })
    const { around } = fixture
    locked.add('held')
    await fixture.schedule('held', { inMs: 1000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1100)
    const isSearch = ({ method }: StoreCall): boolean =>
      method === 'acquireAndFire' || method === 'acquireNextTriggers'
    let searches = 0
    fixture.around = (call) => {
      if (!isSearch(call)) return around(call)
      searches++
      return Promise.reject(new Error('no search'))
    }
    await fixture.clock.advance(120_000)
    expect(fixture.errors).toEqual(['The job store failed while scanning for the next triggers to fire.'])
    expect(searches).toBeLessThan(40)
    expect(tries.length).toBeGreaterThan(100)
    const again = 'Triggers are searched and fired again.'
    expect(infos).not.toContain(again)
    fixture.around = around
    locked.clear()
    await fixture.clock.advance(60_000)
    expect(fixture.runs.map(({ name }) => name)).toEqual(['held'])
    expect(infos.filter((message) => message === again)).toHaveLength(1)
  })

  it('waits for a slot, and has one before what is found later', async () => {
    const { fixture, locked } = await lockedFixture({ threadPool: { size: 1 } })
    locked.add('held')
    await fixture.schedule('held', { inMs: 1000, durationMs: 5000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1010)
    await fixture.schedule('long', { durationMs: 5000 })
    await fixture.clock.advance(10)
    expect(fixture.ran).toEqual(['long@1010'])
    for (const name of ['a', 'b', 'c']) await fixture.schedule(name, { durationMs: 5000 })
    locked.clear()
    await fixture.clock.advance(5000)
    expect(fixture.ran).toEqual(['long@1010', 'held@6010'])
    await fixture.clock.advance(20_000)
    expect(fixture.runs).toHaveLength(5)
    expect(fixture.errors).toEqual([])
  })

  it('is given back to its misfire policy when it has become too late', async () => {
    const { fixture, locked, tries } = await lockedFixture({ misfireThresholdMs: 2000 })
    locked.add('held')
    await fixture.schedule('held', {
      inMs: 1000,
      everyMs: 60_000,
      misfire: 'rescheduleNextWithExistingCount',
    })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(6000)
    expect(tries.at(-1)?.method).toBe('releaseAcquiredTriggers')
    locked.clear()
    await fixture.clock.advance(1000)
    expect(fixture.runs).toEqual([])
    await fixture.clock.advance(60_000)
    expect(fixture.ran).toEqual(['held@61000'])
  })
})

describe('a claim that is locked while every thread is taken for long', () => {
  const hourMs = 3_600_000

  /** 'held' was locked when it was to be fired; the one thread has gone to a job of three hours. */
  async function fullFixture(options: Parameters<typeof LoopFixture.create>[0] = {}) {
    const scene = await lockedFixture({ threadPool: { size: 1 }, ...options })
    const { fixture, locked } = scene
    locked.add('held')
    await fixture.schedule('held', { inMs: 1000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1010)
    await fixture.schedule('long', { durationMs: 3 * hourMs })
    await fixture.clock.advance(1)
    expect(fixture.ran).toEqual(['long@1010'])
    return scene
  }

  it('is given back once the lock is gone, so that another node can fire it', async () => {
    const { fixture, locked, tries } = await fullFixture()
    await fixture.clock.advance(1000)
    expect(await fixture.acquirable()).toEqual([])
    expect(tries.slice(1, 4).map(({ atMs }) => atMs)).toEqual([1020, 1060, 1140])
    locked.clear()
    await fixture.clock.advance(250)
    expect(await fixture.acquirable()).toEqual(['held'])
    await fixture.clock.advance(3 * hourMs)
    expect(fixture.runs.map(({ name }) => name)).toEqual(['long', 'held'])
    expect(fixture.errors).toEqual([])
  })

  it('is given back in standby', async () => {
    const { fixture, locked } = await fullFixture()
    await fixture.settled(fixture.scheduler.standby())
    locked.clear()
    await fixture.clock.advance(250)
    expect(await fixture.acquirable()).toEqual(['held'])
    expect(fixture.ran).toEqual(['long@1010'])
  })

  it('is given back by a shutdown, and no wait is left over', async () => {
    const { fixture, locked } = await fullFixture()
    locked.clear()
    await fixture.settled(fixture.scheduler.shutdown({ waitForJobsToComplete: true }))
    expect(await fixture.acquirable()).toEqual(['held'])
    expect(fixture.clock.timerCount).toBe(0)
  })

  it('gets the first thread that is free when it is locked until then', async () => {
    const { fixture, locked } = await fullFixture({ misfireThresholdMs: 10 * hourMs })
    await fixture.schedule('later', { inMs: 10 })
    await fixture.clock.advance(3 * hourMs - 1000)
    expect(fixture.timesOf('acquireNextTriggers').length).toBeLessThan(10)
    locked.clear()
    await fixture.clock.advance(1250)
    expect(fixture.runs.map(({ name }) => name)).toEqual(['long', 'held', 'later'])
  })

  it('is tried again where the pool was shut down, which is reported once', async () => {
    const threadPool = inProcessThreadPool({ size: 1 })
    const { fixture, tries } = await fullFixture({ threadPool })
    await threadPool.shutdown({ waitForJobsToComplete: false })
    await fixture.clock.advance(60_000)
    expect(fixture.errors).toEqual(['The thread pool has no threads to give: was it shut down?'])
    expect(tries.length).toBeGreaterThan(10)
  })
})

describe('a loop that gives back one locked claim when another one may fire', () => {
  it('fires nothing after a standby that came while the store was slow to take it back', async () => {
    const { fixture, locked } = await lockedFixture({ misfireThresholdMs: 1000 })
    const { around } = fixture
    const answer = new EventEmitter()
    locked.add('late').add('new')
    await fixture.schedule('late', { inMs: 1000 })
    await fixture.schedule('new', { inMs: 1900 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1990)
    let isAsked = false
    fixture.around = async (call) => {
      if (call.method === 'releaseAcquiredTriggers') {
        isAsked = true
        await once(answer, 'given')
      }
      return around(call)
    }
    locked.clear()
    await fixture.clock.advance(300)
    expect(isAsked).toBe(true)
    await fixture.settled(fixture.scheduler.standby())
    const { length } = fixture.runs
    answer.emit('given')
    await fixture.clock.advance(10_000)
    expect(fixture.runs).toHaveLength(length)
  })
})

describe('idle', () => {
  it('waits for a due trigger that another session has locked', async () => {
    const { fixture, locked } = await lockedFixture()
    locked.add('held')
    await fixture.schedule('held', { inMs: 1000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1500)
    let isIdle = false
    const idle = fixture.scheduler.idle().then(() => {
      isIdle = true
    })
    await fixture.clock.advance(1000)
    expect([isIdle, fixture.ran]).toEqual([false, []])
    locked.clear()
    await fixture.settled(idle)
    expect(fixture.runs.map(({ name }) => name)).toEqual(['held'])
  })

  it('does not wait for the time of one that could not be given back', async () => {
    const { fixture, tries } = await claimedFixture()
    await fixture.schedule('earlier', { inMs: 1000 })
    await fixture.clock.advance(50)
    expect(tries.map(({ method }) => method)).toContain('releaseAcquiredTriggers')
    await fixture.settled(fixture.scheduler.idle())
    expect(fixture.nowMs).toBeLessThan(1000)
  })
})

describe('a claim that is locked when it is to be given back', () => {
  it('is kept when the store fails as another one is tried again, and fires at its time', async () => {
    const { fixture, locked } = await lockedFixture()
    locked.add('tried').add('held')
    await fixture.schedule('tried', { inMs: 1000 })
    await fixture.schedule('held', { inMs: 5000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1010)
    const { around } = fixture
    fixture.around = async (call) => {
      if (call.method !== 'triggersFired') return around(call)
      fixture.around = around
      throw new Error('away')
    }
    await fixture.clock.advance(1000)
    expect(fixture.errors).toEqual(['The job store failed while firing triggers.'])
    locked.clear()
    await fixture.clock.advance(4000)
    expect(fixture.runs.map(({ name }) => name)).toEqual(['tried', 'held'])
    expect(fixture.runs[1]?.atMs).toBe(5000)
  })

  it('does not keep something earlier from being found, and fires at its time', async () => {
    const { fixture, locked } = await claimedFixture()
    await fixture.schedule('earlier', { inMs: 1000 })
    await fixture.clock.advance(2000)
    expect(fixture.ran).toEqual(['earlier@1100'])
    locked.clear()
    await fixture.clock.advance(5000)
    expect(fixture.ran).toEqual(['earlier@1100', 'held@5000'])
  })

  it('is tried again in standby, which does not wait for it', async () => {
    const { fixture, locked } = await claimedFixture()
    await fixture.settled(fixture.scheduler.standby())
    await fixture.clock.advance(10_000)
    expect(await fixture.acquirable()).toEqual([])
    locked.clear()
    await fixture.clock.advance(250)
    expect(await fixture.acquirable()).toEqual(['held'])
    expect(fixture.runs).toEqual([])
    expect(fixture.errors).toEqual([])
  })

  it('is waited for by a shutdown, when the lock ends soon', async () => {
    const { fixture, locked, tries } = await claimedFixture()
    const { around } = fixture
    fixture.around = async (call) => {
      const answer = await around(call)
      if (tries.length === 2) locked.clear()
      return answer
    }
    await fixture.settled(fixture.scheduler.shutdown())
    expect(tries).toHaveLength(2)
    expect(await fixture.acquirable()).toEqual(['held'])
    expect(fixture.errors).toEqual([])
  })

  it('is left to recovery by a shutdown, which says so', async () => {
    const { fixture, tries } = await claimedFixture()
    const beforeMs = fixture.nowMs
    await fixture.settled(fixture.scheduler.shutdown())
    expect([fixture.nowMs - beforeMs, tries.length]).toEqual([310, 7])
    expect(fixture.errors).toEqual(['Acquired triggers could not be released before the halt.'])
    expect(fixture.clock.timerCount).toBe(0)
  })
})
