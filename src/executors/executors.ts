import { checkObject } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import type { TypedEvents } from '../core/typed-events.ts'
import { ScheduledExecutor } from './scheduled-executor.ts'
import type { ScheduledExecutorEventMap } from './scheduled-executor-events.ts'
import type { ScheduledExecutorOptions } from './scheduled-executor-options.ts'
import type { ScheduledExecutorService } from './scheduled-executor-service.ts'
import type { ScheduledFuture } from './scheduled-future.ts'
import type { Task } from './task.ts'

/** An executor that cannot be reconfigured: it gives no access to the one behind it. */
class SealedExecutor implements ScheduledExecutorService {
  readonly #executor: ScheduledExecutorService

  constructor(executor: ScheduledExecutorService) {
    this.#executor = executor
    Object.freeze(this)
  }

  get events(): TypedEvents<ScheduledExecutorEventMap> {
    return this.#executor.events
  }
  get isShutdown(): boolean {
    return this.#executor.isShutdown
  }
  get isTerminated(): boolean {
    return this.#executor.isTerminated
  }
  get activeCount(): number {
    return this.#executor.activeCount
  }
  get queueSize(): number {
    return this.#executor.queueSize
  }
  schedule<T>(task: Task<T>, delayMs: number): ScheduledFuture<T> {
    return this.#executor.schedule(task, delayMs)
  }
  scheduleAtFixedRate(task: Task<unknown>, initialDelayMs: number, periodMs: number): ScheduledFuture<never> {
    return this.#executor.scheduleAtFixedRate(task, initialDelayMs, periodMs)
  }
  scheduleWithFixedDelay(
    task: Task<unknown>,
    initialDelayMs: number,
    delayMs: number,
  ): ScheduledFuture<never> {
    return this.#executor.scheduleWithFixedDelay(task, initialDelayMs, delayMs)
  }
  execute(task: Task<unknown>): void {
    this.#executor.execute(task)
  }
  submit<T>(task: Task<T>): ScheduledFuture<T> {
    return this.#executor.submit(task)
  }
  invokeAll<T>(tasks: Iterable<Task<T>>): Promise<ScheduledFuture<T>[]> {
    return this.#executor.invokeAll(tasks)
  }
  invokeAny<T>(tasks: Iterable<Task<T>>): Promise<T> {
    return this.#executor.invokeAny(tasks)
  }
  shutdown(): void {
    this.#executor.shutdown()
  }
  shutdownNow(): ScheduledFuture<unknown>[] {
    return this.#executor.shutdownNow()
  }
  awaitTermination(timeoutMs?: number): Promise<boolean> {
    return this.#executor.awaitTermination(timeoutMs)
  }
  ref(): this {
    this.#executor.ref()
    return this
  }
  unref(): this {
    this.#executor.unref()
    return this
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#executor[Symbol.asyncDispose]()
  }
}

/** Makes executors, by the names that Java gives to the usual ones. */
export const Executors: {
  /**
   * An executor that runs one task at a time and cannot be reconfigured.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   */
  newSingleThreadScheduledExecutor(
    options?: Omit<ScheduledExecutorOptions, 'corePoolSize'>,
  ): ScheduledExecutorService
  /**
   * An executor that runs up to `corePoolSize` tasks at a time, 0 to 100,000; 0 counts as one.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   */
  newScheduledThreadPool(
    corePoolSize: number,
    options?: Omit<ScheduledExecutorOptions, 'corePoolSize'>,
  ): ScheduledExecutor
} = Object.freeze({
  newSingleThreadScheduledExecutor: (options = {}) => {
    checkPoolOptions(
      'newSingleThreadScheduledExecutor',
      options,
      'For several tasks at a time use newScheduledThreadPool(n).',
    )
    return new SealedExecutor(new ScheduledExecutor({ ...options, corePoolSize: 1 }))
  },
  newScheduledThreadPool: (corePoolSize, options = {}) => {
    checkPoolOptions('newScheduledThreadPool', options, 'It is the first argument.')
    return new ScheduledExecutor({ ...options, corePoolSize })
  },
})

function checkPoolOptions(method: string, options: ScheduledExecutorOptions, remedy: string): void {
  checkObject(method, 'options', options)
  if (options.corePoolSize === undefined) return
  throw new InvalidArgumentError(
    'corePoolSize',
    `${method}: 'corePoolSize' is no option here. ${remedy}`,
    'ERR_INVALID_OPTION',
  )
}
