import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { LoopFixture } from '../support/loop-fixture.ts'

const hourMs = 3_600_000

describe('a wall clock that jumps back', () => {
  it('fires nothing twice: the series goes on where it was', async () => {
    const fixture = await LoopFixture.create()
    await fixture.schedule('t', { inMs: 1000, everyMs: 1000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(3500)
    fixture.clock.jump(-hourMs)
    await fixture.clock.advance(hourMs + 2000)
    const planned = fixture.runs.map(({ plannedMs }) => plannedMs)
    expect(planned).toEqual([1000, 2000, 3000, 4000, 5000])
    expect(fixture.runs.slice(3).map(({ atMs }) => atMs)).toEqual([4000, 5000])
  })

  it('does not let a claim fire early', async () => {
    const fixture = await LoopFixture.create()
    await fixture.schedule('held', { inMs: 5000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(4000)
    fixture.clock.jump(-3000)
    await fixture.clock.advance(2000)
    expect(fixture.runs).toEqual([])
    await fixture.clock.advance(2000)
    expect(fixture.ran).toEqual(['held@5000'])
  })
})

describe('the log', () => {
  it.each([
    ['says that the clock was set back, once for each time', [-5 * 60_000, -10_000], [300_000, 10_000]],
    ['says nothing of small corrections, nor of a jump ahead', [-4000, 3_600_000], []],
  ])('%s', async (_what, jumps, warned) => {
    const clock = new ManualClock()
    const warnings: object[] = []
    const warn = (fields: object, message: string): void => {
      if (message.startsWith('The clock was set back.')) warnings.push(fields)
    }
    const job = defineJob('job', () => {})
    const scheduler = await createScheduler({ clock, jobs: [job], logger: { ...silentLogger, warn } })
    await scheduler.schedule(job, { every: '1s' })
    await scheduler.start()
    await clock.advance(10_000)
    for (const jumpMs of jumps) {
      clock.jump(jumpMs)
      await clock.advance(600_000)
    }
    expect(warnings).toEqual(warned.map((setBackMs) => ({ setBackMs })))
    await scheduler.shutdown()
  })
})

describe('a wall clock that is set wrong and right again', () => {
  it('delays what is held by one idle wait at most', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs: 10_000 })
    await fixture.schedule('held', { inMs: 8000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1000)
    fixture.clock.jump(-hourMs)
    await fixture.clock.advance(9000)
    fixture.clock.jump(hourMs)
    await fixture.clock.advance(9000)
    expect(fixture.runs).toHaveLength(1)
  })
})

describe('a wall clock that jumps forward', () => {
  it.each([
    // Each trigger would fire every ten seconds; an hour is jumped over at 25 s.
    ['ignore', 360, 3_620_000],
    ['rescheduleNextWithRemainingCount', 0, null],
    ['rescheduleNowWithExistingRepeatCount', 1, 30_000],
  ] as const)('applies the policy %s, which runs %d times at once', async (misfire, count, lastPlannedMs) => {
    const fixture = await LoopFixture.create({ idleWaitMs: 5000, misfireThresholdMs: 60_000 })
    await fixture.schedule('t', { inMs: 10_000, everyMs: 10_000, misfire })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(25_000)
    expect(fixture.runs.map(({ plannedMs }) => plannedMs)).toEqual([10_000, 20_000])
    fixture.clock.jump(hourMs)
    await fixture.clock.advance(4999)
    const late = fixture.runs.slice(2)
    expect(late.every(({ atMs }) => atMs >= hourMs + 25_000 && atMs < hourMs + 30_000)).toBe(true)
    expect(late).toHaveLength(count)
    expect(late.at(-1)?.plannedMs ?? null).toBe(lastPlannedMs)
  })

  it('keeps nothing waiting that is scheduled after it', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs: 30_000 })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1000)
    fixture.clock.jump(hourMs)
    await fixture.schedule('t', { inMs: 100 })
    await fixture.clock.advance(100)
    expect(fixture.ran).toEqual([`t@${hourMs + 1100}`])
  })

  it('is noticed within one idle wait', async () => {
    const fixture = await LoopFixture.create({ idleWaitMs: 5000, misfireThresholdMs: 2 * hourMs })
    await fixture.schedule('t', { inMs: hourMs })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1000)
    fixture.clock.jump(hourMs)
    await fixture.clock.advance(5000)
    expect(fixture.runs).toHaveLength(1)
    expect(fixture.runs[0]?.plannedMs).toBe(hourMs)
  })
})

describe('a process that was suspended, or a blocked event loop', () => {
  it.each([
    ['doNothing-like policies skip', 'rescheduleNextWithExistingCount', []],
    ['fire-now policies fire once, under the planned time', 'rescheduleNowWithExistingRepeatCount', [8000]],
  ] as const)(
    'sends a claim that grew too late through its misfire policy: %s',
    async (_, misfire, planned) => {
      const fixture = await LoopFixture.create({ misfireThresholdMs: 5000 })
      await fixture.schedule('held', { inMs: 8000, everyMs: 60_000, misfire })
      await fixture.settled(fixture.scheduler.start())
      await fixture.clock.advance(1000)
      fixture.clock.stall(30_000)
      await fixture.clock.advance(10)
      expect(fixture.runs.map(({ plannedMs }) => plannedMs)).toEqual(planned)
      expect(fixture.timesOf('releaseAcquiredTriggers')).toHaveLength(1)
    },
  )

  it('fires a claim that is late by less than the threshold, late', async () => {
    const fixture = await LoopFixture.create({ misfireThresholdMs: 60_000 })
    await fixture.schedule('held', {
      inMs: 8000,
      everyMs: 60_000,
      misfire: 'rescheduleNextWithExistingCount',
    })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(1000)
    fixture.clock.stall(30_000)
    await fixture.clock.advance(10)
    expect(fixture.ran).toEqual(['held@31000'])
    expect(fixture.runs[0]?.plannedMs).toBe(8000)
  })

  it('does not send round in circles what fires late by its policy', async () => {
    const fixture = await LoopFixture.create({ misfireThresholdMs: 5000 })
    await fixture.schedule('ignore', { inMs: 1000, everyMs: 1000, misfire: 'ignore' })
    await fixture.settled(fixture.scheduler.start())
    await fixture.clock.advance(500)
    fixture.clock.stall(30_000)
    await fixture.clock.advance(1000)
    const planned = fixture.runs.map(({ plannedMs }) => plannedMs)
    expect(planned).toEqual(Array.from({ length: 31 }, (_, index) => (index + 1) * 1000))
    expect(fixture.timesOf('releaseAcquiredTriggers')).toEqual([])
  })
})

describe('starts and standbys that come together', () => {
  it('happen in the order in which they were asked for, and the last one counts', async () => {
    const fixture = await LoopFixture.create()
    const { scheduler, clock } = fixture
    const told: string[] = []
    scheduler.events.on('schedulerStarted', () => told.push('started'))
    scheduler.events.on('schedulerInStandbyMode', () => told.push('standby'))
    fixture.around = async (call) => {
      // Standby waits for the search that is under way.
      if (call.method === 'acquireNextTriggers') await clock.sleep(500)
      return call.proceed()
    }
    await fixture.schedule('t', { inMs: 1000, everyMs: 1000 })
    await fixture.settled(scheduler.start())
    await fixture.settled(Promise.all([scheduler.standby(), scheduler.start()]))
    expect(told).toEqual(['started', 'standby', 'started'])
    expect(scheduler.isStarted).toBe(true)
    await clock.advance(3000)
    expect(fixture.runs.length).toBeGreaterThan(1)
  })

  it('do not outlive a shutdown', async () => {
    const fixture = await LoopFixture.create()
    const { scheduler, clock } = fixture
    fixture.around = async (call) => {
      if (call.method === 'schedulerStarted') await clock.sleep(500)
      return call.proceed()
    }
    const changes = Promise.allSettled([scheduler.start(), scheduler.standby(), scheduler.shutdown()])
    const [started, standing, ended] = await fixture.settled(changes)
    expect(started).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SCHEDULER_SHUTDOWN' } })
    expect(standing).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SCHEDULER_SHUTDOWN' } })
    expect(ended.status).toBe('fulfilled')
    expect(scheduler.isShutdown).toBe(true)
    expect(clock.timerCount).toBe(0)
  })

  it('may be asked for by a listener that is told of the start', async () => {
    const fixture = await LoopFixture.create()
    const { scheduler } = fixture
    scheduler.listenerManager.addSchedulerListener({ schedulerStarted: () => scheduler.standby() })
    await fixture.settled(scheduler.start())
    expect(scheduler.isInStandbyMode).toBe(true)
  })
})
