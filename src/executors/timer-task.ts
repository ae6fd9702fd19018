import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import type { EpochMs } from '../time/clock.ts'
import type { Delayed } from './delayed.ts'

/**
 * Where a task is in its life: not scheduled yet, waiting for its (next) run, run for the only time, or cancelled.
 */
export type TimerTaskState = 'VIRGIN' | 'SCHEDULED' | 'EXECUTED' | 'CANCELLED'

/** When a task runs: once, or again and again. */
export type TimerPlan =
  | { readonly kind: 'once' }
  | { readonly kind: 'fixedDelay' | 'fixedRate'; readonly periodMs: number }

/** The fields that a timer sets on a task. */
export interface TimerEntry extends Delayed {
  readonly task: TimerTask
  state: TimerTaskState
  plan: TimerPlan
  /** For when the next run is planned. */
  nextMs: EpochMs
  /** For when the last run was planned; null before the first. */
  lastPlannedMs: EpochMs | null
}

/** A task for one `Timer`, to be scheduled once. */
export class TimerTask {
  /** @internal */
  readonly entry: TimerEntry
  readonly #run: (task: TimerTask) => unknown

  /**
   * `run` is called with the task; when it returns a promise, the timer waits for it before the next task.
   *
   * @throws InvalidArgumentError when `run` is no function
   */
  constructor(run: (task: TimerTask) => unknown) {
    const given: unknown = run
    if (typeof given !== 'function') {
      throw new InvalidArgumentError('task', `'task' must be a function, got ${describeValue(given)}.`)
    }
    this.#run = run
    this.entry = {
      task: this,
      state: 'VIRGIN',
      plan: { kind: 'once' },
      nextMs: 0,
      lastPlannedMs: null,
      sequence: 0,
      queueIndex: -1,
    }
  }

  get state(): TimerTaskState {
    return this.entry.state
  }

  /** For when the last run, or the one in progress, was planned; null before the first. */
  get scheduledExecutionTime(): Date | null {
    const { lastPlannedMs } = this.entry
    return lastPlannedMs === null ? null : new Date(lastPlannedMs)
  }

  /** Runs the task. */
  run(): unknown {
    return this.#run(this)
  }

  /** Keeps the task from running (again); a run in progress goes on. True when that kept it from a planned run. */
  cancel(): boolean {
    const prevents = this.entry.state === 'SCHEDULED'
    this.entry.state = 'CANCELLED'
    return prevents
  }
}
