import { checkNumber } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { logThrown } from '../core/thrown-value.ts'
import { TypedEventEmitter, type TypedEvents } from '../core/typed-events.ts'
import { DelayHeap } from './delay-heap.ts'
import type { DelayEngine } from './delayed.ts'
import { FutureTask, PeriodicFutureTask, type TaskOwner } from './future-task.ts'
import { defaultTicksPerWheel } from './hashed-wheel-timer.ts'
import { invokeAll, invokeAny } from './invoke.ts'
import { type ScheduledExecutorEventMap, scheduledExecutorEventNames } from './scheduled-executor-events.ts'
import {
  type ResolvedPolicies,
  type ResolvedScheduledExecutorOptions,
  reconfiguredPolicies,
  resolveScheduledExecutorOptions,
  type ScheduledExecutorOptions,
  type ScheduledExecutorPolicies,
} from './scheduled-executor-options.ts'
import type { ScheduledExecutorService } from './scheduled-executor-service.ts'
import type { ScheduledFuture } from './scheduled-future.ts'
import { CancellationError } from './scheduled-future.ts'
import type { Task, TaskFunction } from './task.ts'
import { TaskLoop } from './task-loop.ts'
import { RejectedExecutionError, Termination } from './termination.ts'
import { TimingWheel } from './timing-wheel.ts'
import { WorkerTasks } from './worker-tasks.ts'

/**
 * Runs functions and worker modules later, at a fixed rate or with a fixed delay, in memory. Delays are measured on the
 * monotonic clock: setting the machine's clock does not change them.
 */
export class ScheduledExecutor implements ScheduledExecutorService {
  readonly #options: ResolvedScheduledExecutorOptions
  readonly #events: TypedEventEmitter<ScheduledExecutorEventMap>
  readonly #loop: TaskLoop
  readonly #termination: Termination
  readonly #workers: WorkerTasks
  readonly #owner: TaskOwner
  #policies: ResolvedPolicies
  #sequence = 0
  #shutdown = false
  /** Set by `shutdownNow`: no policy lets a task run again. */
  #stopped = false
  #terminating = false
  /** Whether waiting tasks keep the process alive. */
  #ref: boolean
  /** How many callers wait for the end. */
  #awaiting = 0

  /** @throws InvalidArgumentError ERR_INVALID_OPTION */
  constructor(options: ScheduledExecutorOptions = {}) {
    this.#options = resolveScheduledExecutorOptions(options)
    const { clock, logger, ref, onError, policies } = this.#options
    this.#policies = policies
    this.#ref = ref
    this.#events = new TypedEventEmitter(logger, scheduledExecutorEventNames)
    this.#termination = new Termination(clock)
    this.#workers = new WorkerTasks(this.#options, ({ future }, value) => {
      this.#events.emit('taskProgress', { future, value })
    })
    this.#loop = new TaskLoop({
      clock,
      logger,
      events: this.#events,
      engine: engineOf(this.#options),
      ref,
      onError,
      slots: () => this.#policies.corePoolSize,
      mayContinue: () =>
        !this.#stopped && (!this.#shutdown || this.#policies.continueExistingPeriodicTasksAfterShutdown),
      onIdle: () => {
        this.#terminateWhenIdle()
      },
    })
    this.#owner = {
      cancelled: (future) => {
        if (this.#policies.removeOnCancel || this.#shutdown) this.#loop.remove(future)
      },
      delayOf: (future) => {
        const dueMs = this.#loop.engine.dueMs(future)
        return dueMs === null ? 0 : dueMs - clock.elapsedMs()
      },
    }
  }

  get events(): TypedEvents<ScheduledExecutorEventMap> {
    return this.#events
  }
  get isShutdown(): boolean {
    return this.#shutdown
  }
  get isTerminated(): boolean {
    return this.#termination.isReached
  }
  get activeCount(): number {
    return this.#loop.activeCount
  }
  get queueSize(): number {
    return this.#loop.engine.size
  }
  /** The policies in force. */
  get policies(): Readonly<Required<ScheduledExecutorPolicies>> {
    return this.#policies
  }

  schedule<T>(task: Task<T>, delayMs: number): ScheduledFuture<T> {
    requireDelay('delayMs', delayMs)
    return this.#add(task, new FutureTask<T>(this.#owner, this.#sequence++), delayMs)
  }

  scheduleAtFixedRate(task: Task<unknown>, initialDelayMs: number, periodMs: number): ScheduledFuture<never> {
    requirePeriod('periodMs', periodMs)
    return this.#addPeriodic(task, 'fixedRate', initialDelayMs, periodMs)
  }

  scheduleWithFixedDelay(
    task: Task<unknown>,
    initialDelayMs: number,
    delayMs: number,
  ): ScheduledFuture<never> {
    requirePeriod('delayMs', delayMs)
    return this.#addPeriodic(task, 'fixedDelay', initialDelayMs, delayMs)
  }

  execute(task: Task<unknown>): void {
    this.schedule(task, 0)
  }

  submit<T>(task: Task<T>): ScheduledFuture<T> {
    return this.schedule(task, 0)
  }

  invokeAll<T>(tasks: Iterable<Task<T>>): Promise<ScheduledFuture<T>[]> {
    return invokeAll(this, tasks)
  }

  invokeAny<T>(tasks: Iterable<Task<T>>): Promise<T> {
    return invokeAny(this, tasks)
  }

  /**
   * Changes policies; others stay. After `shutdown` it cancels waiting tasks that may no longer run.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   */
  reconfigure(policies: ScheduledExecutorPolicies): void {
    this.#policies = reconfiguredPolicies(this.#policies, policies)
    this.#workers.resize(this.#policies.corePoolSize)
    if (this.#shutdown) this.#withdraw()
    this.#loop.wakeSoon()
  }

  /** Removes cancelled tasks from the queue; answers how many. */
  purge(): number {
    const cancelled = this.#loop.engine.toArray().filter(({ isDone }) => isDone)
    for (const future of cancelled) this.#loop.remove(future)
    return cancelled.length
  }

  shutdown(): void {
    if (this.#shutdown) return
    this.#shutdown = true
    this.#updateRef()
    this.#withdraw()
    this.#terminateWhenIdle()
  }

  shutdownNow(): ScheduledFuture<unknown>[] {
    this.#shutdown = true
    this.#stopped = true
    const neverRan = this.#loop.engine.clear().filter((future) => future.cancel())
    this.#loop.interrupt(new CancellationError('The executor was shut down.'))
    this.#loop.wake()
    return neverRan
  }

  async awaitTermination(timeoutMs: number = Number.POSITIVE_INFINITY): Promise<boolean> {
    checkNumber('awaitTermination', 'timeoutMs', timeoutMs)
    this.#awaiting++
    this.#updateRef()
    try {
      return await this.#termination.wait(timeoutMs)
    } finally {
      this.#awaiting--
      this.#updateRef()
    }
  }

  ref(): this {
    this.#ref = true
    this.#updateRef()
    return this
  }

  unref(): this {
    this.#ref = false
    this.#updateRef()
    return this
  }

  /**
   * Shuts down and waits until all tasks that may still run have ended. A task that awaits it waits for itself, and for
   * ever.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.shutdown()
    await this.awaitTermination()
  }

  /** A caller that waits for the end of the last tasks keeps the process alive, as a blocked thread does in Java. */
  #updateRef(): void {
    this.#loop.setRef({ ref: this.#ref || (this.#shutdown && this.#awaiting > 0) })
  }

  #addPeriodic(
    task: Task<unknown>,
    kind: 'fixedRate' | 'fixedDelay',
    initialDelayMs: number,
    periodMs: number,
  ): ScheduledFuture<never> {
    requireDelay('initialDelayMs', initialDelayMs)
    const future = new PeriodicFutureTask(this.#owner, this.#sequence++, { kind, periodMs })
    return this.#add(task, future, initialDelayMs)
  }

  #add<T>(task: Task<unknown>, future: FutureTask<T>, delayMs: number): ScheduledFuture<T> {
    // First, because a worker task opens the threads, which nothing would end.
    if (this.#shutdown) {
      this.#events.emit('taskRejected', { task })
      throw new RejectedExecutionError('The executor is shut down and takes no more tasks.')
    }
    const run = this.#runnable(task)
    const { decorateTask } = this.#options
    future.task = decorateTask === null ? run : decorated(decorateTask(run, future))
    this.#loop.add(future, Math.max(delayMs, 0))
    return future
  }

  #runnable(task: Task<unknown>): TaskFunction<unknown> {
    if (typeof task === 'function') return task
    const given: unknown = task
    if (typeof given === 'object' && given !== null && Reflect.get(given, 'kind') === 'worker') {
      return this.#workers.runnable(task)
    }
    throw new InvalidArgumentError(
      'task',
      `'task' must be a function or a task of defineWorkerTask, got ${describeValue(given)}.`,
    )
  }

  /** Cancels waiting tasks that may no longer run. One that is due only waits for its turn, so it runs, as in Java. */
  #withdraw(): void {
    const { executeExistingDelayedTasksAfterShutdown, continueExistingPeriodicTasksAfterShutdown } =
      this.#policies
    for (const future of this.#loop.engine.toArray()) {
      const mayRun = future.isPeriodic
        ? continueExistingPeriodicTasksAfterShutdown
        : executeExistingDelayedTasksAfterShutdown || future.getDelay() <= 0
      if (future.isDone) this.#loop.remove(future)
      else if (!mayRun) future.cancel()
    }
  }

  #terminateWhenIdle(): void {
    if (!this.#shutdown || !this.#loop.isIdle || this.#terminating) return
    this.#terminating = true
    const reach = (): void => {
      this.#termination.reach()
    }
    const closing = this.#workers.close()
    if (closing === null) reach()
    else {
      closing.then(reach, (error: unknown) => {
        logThrown(this.#options.logger, error, 'The worker threads of an executor did not end')
        reach()
      })
    }
  }
}

function engineOf({ engine, tickMs }: ResolvedScheduledExecutorOptions): DelayEngine<FutureTask> {
  return engine === 'heap' ? new DelayHeap() : new TimingWheel(tickMs, defaultTicksPerWheel)
}

function requireDelay(field: string, delayMs: number): void {
  if (Number.isFinite(delayMs)) return
  throw new InvalidArgumentError(
    field,
    `'${field}' must be a finite number of milliseconds, got ${describeValue(delayMs)}.`,
  )
}

function requirePeriod(field: string, periodMs: number): void {
  if (Number.isFinite(periodMs) && periodMs > 0) return
  throw new InvalidArgumentError(
    field,
    `'${field}' must be a number of milliseconds above 0, got ${describeValue(periodMs)}.`,
  )
}

function decorated(returned: unknown): TaskFunction<unknown> {
  if (typeof returned === 'function') return returned as TaskFunction<unknown>
  throw new InvalidArgumentError(
    'decorateTask',
    `'decorateTask' must return a function, got ${describeValue(returned)}.`,
  )
}
