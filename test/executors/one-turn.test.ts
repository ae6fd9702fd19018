import { describe, expect, it } from 'vitest'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import { Timer } from '../../src/executors/timer.ts'
import type { ClockTimer } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { knownTurnBugs } from '../support/turn-bugs.ts'
import { pause, TickingClock } from './executor-fixture.ts'

/** What tasks may take of one turn of the event loop: the time that they share, and the task that is under way then. */
const shareMs = 5
/** Tasks stop after so many runs, so that a bug ends its test and not the process. */
const mostRuns = 100

/** Some work, without anything that would let a timer fire. */
type Work = () => Promise<void>

interface Life {
  readonly name: string
  readonly taskMs: number
  readonly slots: number
  readonly executors?: number
  /** Has something run the work again and again; answers what ends it. */
  readonly begin: (clock: TickingClock, work: Work) => () => unknown
}

const lives: readonly Life[] = [
  {
    name: 'an executor whose task takes longer than its period',
    taskMs: 12,
    slots: 1,
    begin: (clock, work) => {
      const executor = new ScheduledExecutor({ clock })
      executor.scheduleAtFixedRate(work, 0, 10)
      return () => executor.shutdownNow()
    },
  },
  {
    name: 'an executor of several slots on the wheel',
    taskMs: 12,
    slots: 3,
    begin: (clock, work) => {
      const executor = new ScheduledExecutor({ clock, corePoolSize: 3, engine: 'wheel', tickMs: 1 })
      for (let task = 0; task < 3; task++) executor.scheduleAtFixedRate(work, 0, 10)
      return () => executor.shutdownNow()
    },
  },
  {
    name: 'an executor with a queue of short tasks',
    taskMs: 1,
    slots: 3,
    begin: (clock, work) => {
      const executor = new ScheduledExecutor({ clock, corePoolSize: 3 })
      for (let task = 0; task < mostRuns; task++) executor.execute(work)
      return () => executor.shutdownNow()
    },
  },
  {
    name: 'fifty executors',
    taskMs: 2,
    slots: 1,
    executors: 50,
    begin: (clock, work) => {
      const executors = Array.from({ length: 50 }, () => new ScheduledExecutor({ clock }))
      for (const executor of executors) executor.scheduleAtFixedRate(work, 0, 10)
      return () => {
        for (const executor of executors) executor.shutdownNow()
      }
    },
  },
  {
    name: 'a timer with a queue of short tasks',
    taskMs: 1,
    slots: 1,
    begin: (clock, work) => {
      const timer = new Timer({ clock })
      for (let task = 0; task < mostRuns; task++) timer.schedule(work, 0)
      return () => {
        timer.cancel()
      }
    },
  },
  {
    name: 'a task scheduler',
    taskMs: 12,
    slots: 2,
    begin: (clock, work) => {
      const scheduler = new ThreadPoolTaskScheduler({ clock, poolSize: 2 })
      scheduler.scheduleAtFixedRate(work, 10)
      scheduler.scheduleAtFixedRate(work, 10)
      return () => scheduler.close()
    },
  },
]

/** The longest time that tasks took within one turn of the real event loop. */
async function longestTurnMs({ taskMs, begin }: Life): Promise<number> {
  const clock = new TickingClock()
  let runs = 0
  const end = begin(clock, async () => {
    // Then it takes no time, so that it is not due again.
    if (++runs <= mostRuns) clock.ticks(taskMs)
  })
  let longestMs = 0
  for (let turn = 0; turn < 10; turn++) {
    const beganMs = clock.elapsedMs()
    await new Promise<void>((resolve) => setImmediate(resolve))
    longestMs = Math.max(longestMs, clock.elapsedMs() - beganMs)
  }
  await end()
  return longestMs
}

describe.each(lives)('$name', (life) => {
  it('takes one share of each turn of the event loop', async () => {
    const tookMs = await longestTurnMs(life)
    expect(tookMs).toBeGreaterThan(0)
    expect(tookMs).toBeLessThan(shareMs + life.taskMs)
  })

  const shown = knownTurnBugs.filter(({ executors, slots }) => {
    return slots <= life.slots && executors <= (life.executors ?? 1)
  })
  it.each(shown)('shows a bug that is put in on purpose: $name', async (bug) => {
    const remove = bug.plant()
    try {
      expect(await longestTurnMs(life)).toBeGreaterThan(4 * (shareMs + life.taskMs))
    } finally {
      remove()
    }
  })
})

describe('beside an executor that is behind', () => {
  type Begin = (clock: TickingClock, run: () => void) => unknown
  const neighbours: readonly Begin[] = [
    (clock, run) => new ScheduledExecutor({ clock }).scheduleAtFixedRate(run, 1, 1),
    // Its tasks wait for a promise.
    (clock, run) =>
      new ScheduledExecutor({ clock }).scheduleAtFixedRate(() => Promise.resolve().then(run), 1, 1),
    (clock, run) => {
      const timer = new Timer({ clock })
      for (let task = 0; task < 20; task++) timer.schedule(run, 1)
    },
  ]

  it.each([0, 6])('every other one has its turn, with tasks that take %i ms', async (taskMs) => {
    const clock = new TickingClock()
    const behind = new ScheduledExecutor({ clock })
    behind.scheduleAtFixedRate(
      () => {
        clock.ticks(6)
      },
      0,
      5,
    )
    const runs = neighbours.map(() => 0)
    for (const [index, begin] of neighbours.entries()) {
      begin(clock, () => {
        runs[index] = (runs[index] ?? 0) + 1
        clock.ticks(taskMs)
      })
    }
    await clock.advance(1)
    for (let turn = 0; turn < 40; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    expect(Math.min(...runs)).toBeGreaterThanOrEqual(9)
  })
})

it('a task whose promise settles long after its turn takes one turn each run', async () => {
  class CountingClock extends TickingClock {
    turns = 0
    override setImmediate(callback: () => void): ClockTimer {
      this.turns++
      return super.setImmediate(callback)
    }
  }
  const clock = new CountingClock()
  const executor = new ScheduledExecutor({ clock })
  let runs = 0
  executor.scheduleAtFixedRate(
    () => {
      runs++
      return pause(clock, 8)
    },
    10,
    10,
  )
  await clock.advance(200)
  executor.shutdownNow()
  expect(runs).toBe(20)
  expect(clock.turns).toBe(runs)
})

it('tasks that take long after many quick ones take one share of the turn', async () => {
  const clock = new TickingClock()
  const executor = new ScheduledExecutor({ clock })
  for (let task = 0; task < 200; task++) executor.execute(() => {})
  let runs = 0
  for (let task = 0; task < 20; task++) {
    executor.execute(() => {
      runs++
      clock.ticks(50)
    })
  }
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(runs).toBeLessThanOrEqual(1)
  executor.shutdownNow()
})

describe('while the clock stands still, work that schedules itself', () => {
  const runsMax = 100_000

  it.each<[string, (clock: ManualClock, run: () => void) => () => void]>([
    [
      'on an executor',
      (clock, run) => {
        const executor = new ScheduledExecutor({ clock })
        return () => {
          executor.execute(run)
        }
      },
    ],
    [
      'on a timer',
      (clock, run) => {
        const timer = new Timer({ clock })
        return () => {
          timer.schedule(run, 0)
        }
      },
    ],
  ])('%s leaves turns to the event loop', async (_name, begin) => {
    const clock = new ManualClock()
    let runs = 0
    let isOver = false
    const again = begin(clock, () => {
      if (!isOver && ++runs < runsMax) again()
    })
    again()
    setImmediate(() => {
      isOver = true
    })
    await clock.advance(1)
    expect(runs).toBeGreaterThan(0)
    expect(runs).toBeLessThan(runsMax)
  })

  it('runs all that is due once', async () => {
    const clock = new ManualClock()
    const executor = new ScheduledExecutor({ clock })
    let runs = 0
    for (let task = 0; task < 50_000; task++) executor.schedule(() => runs++, 1)
    await clock.advance(1)
    expect(runs).toBe(50_000)
  })
})
