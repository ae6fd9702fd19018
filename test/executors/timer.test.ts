import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { Timer } from '../../src/executors/timer.ts'
import type { TimerOptions } from '../../src/executors/timer-options.ts'
import { TimerTask, type TimerTaskState } from '../../src/executors/timer-task.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { Door, TickingClock } from './executor-fixture.ts'

const hourMs = 3_600_000

function setUp(options: TimerOptions = {}): {
  clock: ManualClock
  timer: Timer
  starts: number[]
  task: () => void
} {
  const clock = new ManualClock()
  const starts: number[] = []
  const startMs = clock.now()
  const task = (): void => void starts.push(clock.now() - startMs)
  return { clock, timer: new Timer({ clock, ...options }), starts, task }
}

describe('Timer', () => {
  it('T1: is a timer and its tasks; the loop and the queue are its own business', () => {
    const { timer, task } = setUp()
    expectTypeOf(timer.schedule(task, 5)).toEqualTypeOf<TimerTask>()
    expectTypeOf<keyof TimerTask>().toEqualTypeOf<
      'entry' | 'state' | 'scheduledExecutionTime' | 'run' | 'cancel'
    >()
    expect(timer.size).toBe(1)
  })

  const inAt = (clock: ManualClock, ms: number): Date => new Date(clock.now() + ms)
  type Submit = (timer: Timer, task: () => void, clock: ManualClock) => TimerTask
  it.each<[string, Submit, number[]]>([
    ['once after a delay', (timer, task) => timer.schedule(task, 100), [100]],
    ['once at a date', (timer, task, clock) => timer.schedule(task, inAt(clock, 100)), [100]],
    ['repeated after a delay', (timer, task) => timer.schedule(task, 100, 50), [100, 150, 200]],
    [
      'repeated from a date',
      (timer, task, clock) => timer.schedule(task, inAt(clock, 100), 50),
      [100, 150, 200],
    ],
    [
      'at a fixed rate after a delay',
      (timer, task) => timer.scheduleAtFixedRate(task, 100, 50),
      [100, 150, 200],
    ],
    [
      'at a fixed rate from a date, making up for what is over',
      (timer, task, clock) => timer.scheduleAtFixedRate(task, inAt(clock, -100), 100),
      [0, 0, 100, 200],
    ],
  ])('T4, T5: runs a task %s', async (_name, submit, expected) => {
    const { clock, timer, starts, task } = setUp()
    submit(timer, task, clock)
    await clock.advance(200)
    expect(starts).toEqual(expected)
    timer.cancel()
    expect(clock.timerCount).toBe(0)
  })

  it('T6: schedule counts from the run before: after a long stop there is one, then the usual distance', async () => {
    const { clock, timer, starts, task } = setUp()
    const door = new Door()
    timer.schedule(() => door.opened, 150)
    timer.schedule(task, 100, 100)
    await clock.advance(650)
    expect(starts).toEqual([100])
    door.open()
    await clock.advance(200)
    expect(starts).toEqual([100, 650, 750, 850])
  })

  it('T7: scheduleAtFixedRate keeps to the plan: what was missed in a long stop is made up at once', async () => {
    const { clock, timer, starts, task } = setUp()
    const door = new Door()
    timer.schedule(() => door.opened, 150)
    const repeated = timer.scheduleAtFixedRate(task, 100, 100)
    await clock.advance(650)
    expect([starts, repeated.scheduledExecutionTime]).toEqual([[100], new Date(Date.UTC(2026, 0, 1) + 100)])
    door.open()
    await clock.settle()
    expect(starts).toEqual([100, 650, 650, 650, 650, 650])
    await clock.advance(100)
    expect(starts.slice(6)).toEqual([700])
  })

  it('T8: takes a task once, whatever has become of it', async () => {
    const { clock, timer } = setUp()
    const tasks: Record<TimerTaskState, TimerTask> = {
      VIRGIN: new TimerTask(() => undefined),
      SCHEDULED: timer.schedule(() => undefined, hourMs),
      EXECUTED: timer.schedule(() => undefined, 0),
      CANCELLED: timer.schedule(() => undefined, hourMs),
    }
    await clock.advance(10)
    const cancelled = tasks.CANCELLED.cancel()
    for (const [state, task] of Object.entries(tasks)) expect(task.state).toBe(state)
    for (const state of ['SCHEDULED', 'EXECUTED', 'CANCELLED'] as const) {
      expect(() => timer.schedule(tasks[state], 5)).toThrow(
        expect.objectContaining({ code: 'ERR_TASK_STATE' }),
      )
    }
    // Cancelling tells whether that kept the task from a run.
    expect([cancelled, tasks.CANCELLED.cancel(), tasks.EXECUTED.cancel()]).toEqual([true, false, false])
    expect([tasks.VIRGIN.cancel(), tasks.VIRGIN.state]).toEqual([false, 'CANCELLED'])
    expect([tasks.SCHEDULED.cancel(), tasks.SCHEDULED.state]).toEqual([true, 'CANCELLED'])
  })

  it('T9: cancelled tasks stay until their time comes, or until purge', async () => {
    const { clock, timer, starts, task } = setUp()
    const tasks = [10, 20, 30, 40].map((delayMs) => timer.schedule(task, delayMs))
    for (const index of [0, 1, 3]) tasks[index]?.cancel()
    expect(timer.size).toBe(4)
    await clock.advance(10)
    expect(timer.size).toBe(3)
    expect(timer.purge()).toBe(2)
    expect(timer.size).toBe(1)
    await clock.advance(100)
    expect([starts, timer.size]).toEqual([[30], 0])
    timer.schedule(task, 10).cancel()
    expect([timer.purge(), clock.timerCount]).toEqual([1, 0])
  })

  it('runs no task within purge', async () => {
    const { clock, timer, starts, task } = setUp()
    timer.schedule(task, 0)
    timer.purge()
    expect(starts).toEqual([])
    await clock.settle()
    timer.schedule(task, 0)
    timer.purge()
    expect(starts).toEqual([0])
    await clock.settle()
    expect(starts).toEqual([0, 0])
  })

  it('T10: a task that is due sooner wakes the timer', async () => {
    const { clock, timer, starts, task } = setUp()
    timer.schedule(task, 1000)
    await clock.advance(100)
    timer.schedule(task, 50)
    expect(clock.timerCount).toBe(1)
    await clock.advance(900)
    expect(starts).toEqual([150, 1000])
  })

  it('T11: a slow task delays all others', async () => {
    const { clock, timer, starts, task } = setUp()
    timer.schedule(() => new Promise<void>((resolve) => void clock.setTimer(500, resolve)), 100)
    timer.schedule(task, 200)
    await clock.advance(590)
    expect(starts).toEqual([])
    await clock.advance(10)
    expect(starts).toEqual([600])
  })

  it('T12: a task that throws is told by an event, and the timer goes on', async () => {
    const { clock, timer, starts, task } = setUp()
    const told: unknown[] = []
    timer.events.on('error', (payload) => told.push(payload))
    const error = new Error('planted')
    const thrower = timer.schedule(() => {
      throw error
    }, 100)
    const rejecter = timer.schedule(() => Promise.reject(error), 100, 100)
    timer.schedule(task, 150)
    await clock.advance(200)
    expect(told).toEqual([thrower, rejecter, rejecter].map((failed) => ({ task: failed, error })))
    expect(starts).toEqual([150])
  })

  it.each([
    [
      'throws',
      (error: Error) => () => {
        throw error
      },
    ],
    ['rejects', (error: Error) => () => Promise.reject(error)],
  ])('T12: with failFast a task that %s ends the timer', async (_name, failing) => {
    const { clock, timer, starts, task } = setUp({ failFast: true })
    const told = timer.events.next('error')
    const error = new Error('planted')
    const failed = timer.schedule(failing(error), 100)
    const waiting = timer.schedule(task, 150)
    await clock.advance(200)
    expect(await told).toEqual({ task: failed, error })
    expect([starts, timer.size, waiting.state, clock.timerCount]).toEqual([[], 0, 'CANCELLED', 0])
    expect(() => timer.schedule(task, 1)).toThrow(expect.objectContaining({ code: 'ERR_REJECTED_EXECUTION' }))
  })

  it('T12: tells the logger of a failure that nobody observes', async () => {
    const logged: [unknown, string][] = []
    const logger: Logger = { ...silentLogger, error: (fields, message) => logged.push([fields, message]) }
    const { clock, timer } = setUp({ logger })
    timer.schedule(() => Promise.reject(new Error('planted')), 0)
    await clock.settle()
    expect(logged).toEqual([[{ err: new Error('planted'), failFast: false }, 'A timer task failed']])
  })

  it('T13: follows the wall clock: set ahead an hour, tasks run an hour sooner; set back, an hour later', async () => {
    for (const [jumpMs, elapsedMs] of [
      [hourMs, hourMs],
      [-hourMs, 3 * hourMs],
    ] as const) {
      const { clock, timer } = setUp()
      const ran: number[] = []
      timer.schedule(() => void ran.push(clock.elapsedMs()), 2 * hourMs)
      clock.jump(jumpMs)
      await clock.advance(elapsedMs - 1)
      expect(ran).toEqual([])
      // A clock that is set is noticed within a minute.
      await clock.advance(60_001)
      expect(ran).toHaveLength(1)
    }
  })

  it('gives the event loop a turn while many asynchronous tasks are due', async () => {
    const clock = new TickingClock()
    const timer = new Timer({ clock })
    let runs = 0
    for (let task = 0; task < 10; task++) {
      timer.schedule(async () => {
        clock.ticks(2)
        runs++
      }, 0)
    }
    const turns: number[] = []
    while (runs < 10) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      turns.push(runs)
    }
    expect(turns.length).toBeGreaterThanOrEqual(4)
    expect(turns[0]).toBe(3)
  })

  it('ends with its scope', () => {
    const { clock, timer, task } = setUp()
    const scope = (): void => {
      using scoped = timer
      scoped.schedule(task, 10)
    }
    scope()
    expect([timer.size, clock.timerCount]).toEqual([0, 0])
  })

  it('gives scheduledExecutionTime: for when the run was planned, not when it began', async () => {
    const { clock, timer } = setUp()
    const planned: (Date | null)[] = []
    const door = new Door()
    timer.schedule(() => door.opened, 50)
    const task = new TimerTask((self) => planned.push(self.scheduledExecutionTime))
    expect(timer.scheduleAtFixedRate(task, 100, 100)).toBe(task)
    expect(task.scheduledExecutionTime).toBeNull()
    await clock.advance(170)
    door.open()
    await clock.advance(30)
    const startMs = Date.UTC(2026, 0, 1)
    expect(planned).toEqual([new Date(startMs + 100), new Date(startMs + 200)])
  })

  it('gives it also where runs are planned by the one before, and cancels no task twice: unlike Java', async () => {
    const { clock, timer } = setUp()
    const startMs = Date.UTC(2026, 0, 1)
    const planned: (Date | null)[] = []
    const door = new Door()
    timer.schedule(() => door.opened, 50)
    const task = timer.schedule((self) => planned.push(self.scheduledExecutionTime), 100, 100)
    await clock.advance(170)
    door.open()
    await clock.advance(100)
    expect(planned).toEqual([new Date(startMs + 100), new Date(startMs + 270)])
    timer.cancel()
    expect([task.state, task.cancel()]).toEqual(['CANCELLED', false])
  })

  it('lets a repeated task end itself, and cancel let a run in progress go on', async () => {
    const { clock, timer, starts, task } = setUp()
    let runs = 0
    timer.schedule(
      (self) => {
        if (++runs === 2) self.cancel()
      },
      10,
      10,
    )
    await clock.advance(100)
    expect([runs, timer.size]).toEqual([2, 0])
    const door = new Door()
    timer.schedule(() => door.opened.then(task), 0)
    timer.schedule(task, 0)
    await clock.settle()
    timer.cancel()
    door.open()
    await clock.settle()
    expect(starts).toEqual([100])
  })

  it.each<[string, (timer: Timer) => unknown, string]>([
    ['a negative delay', (timer) => timer.schedule(() => undefined, -1), 'when'],
    ['no number', (timer) => timer.schedule(() => undefined, '5' as never), 'when'],
    ['an invalid date', (timer) => timer.schedule(() => undefined, new Date(Number.NaN)), 'when'],
    ['a period of 0', (timer) => timer.schedule(() => undefined, 1, 0), 'periodMs'],
    ['an endless period', (timer) => timer.scheduleAtFixedRate(() => undefined, 1, Infinity), 'periodMs'],
    ['no task', (timer) => timer.schedule(5 as never, 1), 'task'],
    ['an unknown option', () => new Timer({ daemon: true } as object), 'daemon'],
    ['a flag that is none', () => new Timer({ failFast: 1 as never }), 'failFast'],
  ])('refuses %s', (_name, act, field) => {
    const { timer } = setUp()
    expect(() => act(timer)).toThrow(expect.objectContaining({ field }))
    expect(timer.size).toBe(0)
  })
})
