import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { enableScheduling } from '../../src/annotations/enable-scheduling.ts'
import { scheduled } from '../../src/annotations/scheduled.ts'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import { Timer } from '../../src/executors/timer.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

/** What the default logger writes while the test runs. */
function stderrLines(): string[] {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'error').mockImplementation((line: string) => {
    lines.push(line)
  })
  onTestFinished(() => {
    spy.mockRestore()
  })
  return lines
}

interface Options {
  readonly clock: ManualClock
  readonly logger?: false
}

const fail = (): never => {
  throw Object.assign(new Error('no luck'), { code: 'E_LUCK' })
}

/** Has something run the task that fails, once a second; answers what ends it. */
const lives: readonly [
  name: string,
  begin: (options: Options) => (() => unknown) | Promise<() => unknown>,
][] = [
  [
    'an executor',
    (options) => {
      const executor = new ScheduledExecutor(options)
      executor.scheduleAtFixedRate(fail, 1000, 1000)
      return () => executor.shutdownNow()
    },
  ],
  [
    'a timer',
    (options) => {
      const timer = new Timer(options)
      timer.schedule(fail, 1000)
      return () => {
        timer.cancel()
      }
    },
  ],
  [
    'a task scheduler',
    (options) => {
      const scheduler = new ThreadPoolTaskScheduler(options)
      scheduler.schedule(fail, new Date(options.clock.now() + 1000))
      return () => scheduler.close()
    },
  ],
  [
    'enableScheduling',
    async (options) => {
      const instances = [{ run: scheduled({ fixedRate: 10_000, initialDelay: 1000 }, () => fail()) }]
      const registrar = await enableScheduling({ instances, ...options })
      return () => registrar.close()
    },
  ],
]

describe('a task scheduler whose slots are full', () => {
  it('writes one line a minute, and an event for each task that waits', async () => {
    const lines = stderrLines()
    const clock = new ManualClock()
    const scheduler = new ThreadPoolTaskScheduler({ clock, poolSize: 1 })
    let waits = 0
    scheduler.events.on('taskWaiting', () => waits++)
    const work = (): Promise<void> =>
      new Promise((resolve) => {
        clock.setTimer(900, resolve)
      })
    scheduler.scheduleAtFixedRate(work, 1000)
    scheduler.scheduleAtFixedRate(work, 1000)
    await clock.advance(119_000)
    expect(waits).toBeGreaterThan(50)
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('WARN quartz-ts: A scheduled task waits')
    const closed = scheduler.close()
    await clock.advance(1000)
    await closed
  })
})

describe.each(lives)('%s that was given no logger', (_name, begin) => {
  it('writes a task that failed on one line of stderr, with code and place', async () => {
    const lines = stderrLines()
    const clock = new ManualClock(new Date('2026-03-06T12:00:00Z'))
    const end = await begin({ clock })
    await clock.advance(1500)
    await end()
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^2026-03-06T12:00:01\.000Z ERROR quartz-ts: A (scheduled|timer) task failed/)
    expect(lines[0]).toMatch(/ - E_LUCK: no luck \(at .*default-logger\.test\.ts:\d+:\d+\)+$/)
  })

  it('writes nothing with `logger: false`', async () => {
    const lines = stderrLines()
    const clock = new ManualClock()
    const end = await begin({ clock, logger: false })
    await clock.advance(1500)
    await end()
    expect(lines).toEqual([])
  })
})
