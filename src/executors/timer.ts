import { InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { isThenable } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import { TypedEventEmitter, type TypedEvents } from '../core/typed-events.ts'
import type { EpochMs } from '../time/clock.ts'
import { Alarm } from './alarm.ts'
import { DelayHeap } from './delay-heap.ts'
import { RejectedExecutionError } from './termination.ts'
import { type ResolvedTimerOptions, resolveTimerOptions, type TimerOptions } from './timer-options.ts'
import { type TimerEntry, type TimerPlan, TimerTask } from './timer-task.ts'
import { Turn } from './turn.ts'

/** Every event of a `Timer` with its payload. */
export interface TimerEventMap {
  /** A task threw, or the promise that it returned was rejected. */
  error: { readonly task: TimerTask; readonly error: unknown }
}

/** Within this many milliseconds the timer notices that the machine's clock was set. */
const longestSleepMs = 60_000

/** Room for tasks at first, and how it grows, as in Java. */
const [initialCapacity, growthFactor] = [128, 2]

/**
 * Runs tasks one after the other, at times of the wall clock: when the clock is set, tasks run earlier or later. A long
 * task delays all others; `ScheduledExecutor` can run several at a time.
 */
export class Timer implements Disposable {
  readonly #options: ResolvedTimerOptions
  readonly #events: TypedEventEmitter<TimerEventMap>
  readonly #queue = new DelayHeap<TimerEntry>(initialCapacity, growthFactor)
  readonly #alarm: Alarm
  readonly #turn: Turn
  #sequence = 0
  #running = false
  #cancelled = false

  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(options: TimerOptions = {}) {
    this.#options = resolveTimerOptions(options)
    const { clock, logger, ref } = this.#options
    this.#events = new TypedEventEmitter<TimerEventMap>(logger, { error: true })
    this.#turn = new Turn(clock, () => {
      this.#runDue()
    })
    this.#alarm = new Alarm({
      clock,
      now: () => clock.now(),
      onRing: () => {
        this.#turn.ring()
      },
      ref,
      longestSleepMs,
    })
  }

  get events(): TypedEvents<TimerEventMap> {
    return this.#events
  }

  /** How many tasks are in the queue; includes cancelled ones whose time has not come. */
  get size(): number {
    return this.#queue.size
  }

  /**
   * Runs a task `when` milliseconds from now, or at that date; at once when that is past. With `periodMs` the task runs
   * again, each time that long after its last run began: missed runs are not made up.
   *
   * @throws InvalidArgumentError when a delay is negative, a period not above 0, or the date invalid
   * @throws SchedulerError ERR_TASK_STATE when the task was scheduled or cancelled before
   * @throws RejectedExecutionError ERR_REJECTED_EXECUTION when the timer was cancelled
   */
  schedule(
    task: TimerTask | ((task: TimerTask) => unknown),
    when: number | Date,
    periodMs?: number,
  ): TimerTask {
    const plan: TimerPlan =
      periodMs === undefined ? { kind: 'once' } : { kind: 'fixedDelay', periodMs: requirePeriod(periodMs) }
    return this.#add(task, when, plan)
  }

  /**
   * Runs a task `when` milliseconds from now, or at that date, and then every `periodMs` after that time: a late run
   * does not move the ones that follow, and missed runs are made up.
   *
   * @throws as `schedule`
   */
  scheduleAtFixedRate(
    task: TimerTask | ((task: TimerTask) => unknown),
    when: number | Date,
    periodMs: number,
  ): TimerTask {
    return this.#add(task, when, { kind: 'fixedRate', periodMs: requirePeriod(periodMs) })
  }

  /** Ends the timer: waiting tasks are cancelled, a run in progress goes on, and no task can be scheduled any more. */
  cancel(): void {
    this.#cancelled = true
    for (const entry of this.#queue.clear()) entry.state = 'CANCELLED'
    this.#alarm.set(Number.POSITIVE_INFINITY)
  }

  /** Removes cancelled tasks from the queue, where they else stay until their time comes; answers how many. */
  purge(): number {
    const cancelled = this.#queue.toArray().filter(({ state }) => state === 'CANCELLED')
    for (const entry of cancelled) this.#queue.remove(entry)
    if (!this.#running) this.#alarm.set(this.#queue.nextWakeMs())
    return cancelled.length
  }

  /** Keeps the process alive while tasks wait. */
  ref(): this {
    this.#alarm.setRef({ ref: true })
    return this
  }

  /** Lets the process end although tasks wait. */
  unref(): this {
    this.#alarm.setRef({ ref: false })
    return this
  }

  /** Cancels the timer at the end of its scope. */
  [Symbol.dispose](): void {
    this.cancel()
  }

  #add(given: TimerTask | ((task: TimerTask) => unknown), when: number | Date, plan: TimerPlan): TimerTask {
    const atMs = this.#instantOf(when)
    if (this.#cancelled) {
      throw new RejectedExecutionError('The timer was cancelled and takes no more tasks.')
    }
    const task = given instanceof TimerTask ? given : new TimerTask(given)
    const { entry } = task
    if (entry.state !== 'VIRGIN') {
      throw new SchedulerError(
        'ERR_TASK_STATE',
        `The task is ${entry.state} already; a task can be scheduled once. Make another TimerTask.`,
      )
    }
    entry.state = 'SCHEDULED'
    entry.plan = plan
    entry.nextMs = atMs
    entry.sequence = this.#sequence++
    this.#queue.insert(entry, atMs)
    if (!this.#running) this.#alarm.set(this.#queue.nextWakeMs())
    return task
  }

  #instantOf(when: number | Date): EpochMs {
    const nowMs = this.#options.clock.now()
    const ms = when instanceof Date ? when.getTime() : when
    if (!Number.isFinite(ms) || (ms < 0 && ms === when)) {
      const remedy = 'a number of milliseconds from 0, or a valid Date'
      throw new InvalidArgumentError('when', `'when' must be ${remedy}, got ${describeValue(when)}.`)
    }
    return when instanceof Date ? ms : nowMs + ms
  }

  #runDue(): void {
    if (this.#running) return
    const { clock } = this.#options
    this.#running = true
    while (this.#turn.goesOn()) {
      const entry = this.#queue.peekDue(clock.now())
      if (entry === null) break
      if (entry.state === 'CANCELLED') this.#queue.remove(entry)
      else if (this.#run(entry) === 'later') return
    }
    this.#running = false
    this.#alarm.set(this.#queue.nextWakeMs())
  }

  /** Answers `later` when the task returned a promise, for which the other tasks wait. */
  #run(entry: TimerEntry): 'ended' | 'later' {
    this.#plan(entry)
    try {
      const returned = entry.task.run()
      if (!isThenable(returned)) return 'ended'
      Promise.resolve(returned).then(
        () => {
          this.#goOn()
        },
        (error: unknown) => {
          this.#failed(entry, error)
          this.#goOn()
        },
      )
      return 'later'
    } catch (error) {
      this.#failed(entry, error)
      return 'ended'
    }
  }

  /** Notes the run that is about to begin and queues the next one, with one sift. */
  #plan(entry: TimerEntry): void {
    const { plan } = entry
    entry.lastPlannedMs = entry.nextMs
    if (plan.kind === 'once') {
      this.#queue.remove(entry)
      entry.state = 'EXECUTED'
      return
    }
    entry.nextMs = (plan.kind === 'fixedRate' ? entry.nextMs : this.#options.clock.now()) + plan.periodMs
    this.#queue.rekey(entry, entry.nextMs)
  }

  #goOn(): void {
    this.#running = false
    this.#turn.resume()
    this.#runDue()
  }

  #failed({ task }: TimerEntry, error: unknown): void {
    const { failFast, logger } = this.#options
    if (failFast) this.cancel()
    if (!this.#events.has('error')) logThrown(logger, error, 'A timer task failed', { failFast })
    this.#events.emit('error', { task, error })
  }
}

function requirePeriod(periodMs: number): number {
  if (Number.isFinite(periodMs) && periodMs > 0) return periodMs
  throw new InvalidArgumentError(
    'periodMs',
    `'periodMs' must be a number of milliseconds above 0, got ${describeValue(periodMs)}.`,
  )
}
