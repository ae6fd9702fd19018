import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import type { ScheduledExecutorOptions } from '../../src/executors/scheduled-executor-options.ts'
import type { ScheduledFuture } from '../../src/executors/scheduled-future.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

/** The engines that an executor runs on. Times in the tests are multiples of each wheel's tick. */
export const engines: [string, ScheduledExecutorOptions][] = [
  ['heap', { engine: 'heap' }],
  ['wheel', { engine: 'wheel' }],
  ['wheel of fine ticks', { engine: 'wheel', tickMs: 1 }],
]

/** An executor on a clock that stands still. */
export function executorOn(options: ScheduledExecutorOptions): {
  clock: ManualClock
  executor: ScheduledExecutor
} {
  const clock = new ManualClock()
  return { clock, executor: new ScheduledExecutor({ clock, ...options }) }
}

/** A manual clock whose tasks take time: what runs tells how much. */
export class TickingClock extends ManualClock {
  #tickedMs = 0

  override elapsedMs(): number {
    return super.elapsedMs() + this.#tickedMs
  }

  ticks(ms: number): void {
    this.#tickedMs += ms
  }
}

/** A promise that the test settles. */
export class Door {
  readonly opened: Promise<void>
  open!: () => void

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve
    })
  }
}

/** Waits that long on the clock. */
export function pause(clock: ManualClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(ms, resolve)
  })
}

/** How a future ended, without failing the test: its value, or the error as it is. */
export async function endOf(future: ScheduledFuture<unknown>): Promise<unknown> {
  return future.get().catch((error: unknown) => error)
}
