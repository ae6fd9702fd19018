import { InvalidArgumentError } from '../../../core/errors.ts'
import { FunctionRunner, type FunctionRunnerOptions } from './function-runner.ts'
import type { JobRunner } from './job-runner.ts'
import { type WorkerHandlers, WorkerRunner } from './worker-runner.ts'
import { handlersOf } from './xxl-job-decorator.ts'
import { checkHandler, isWorkerHandler, type XxlJobHandler } from './xxl-job-handler.ts'

/** The handlers of an executor by their names. */
export class HandlerRegistry {
  readonly #runners = new Map<string, JobRunner>()
  readonly #threads: WorkerHandlers
  readonly #options: FunctionRunnerOptions

  constructor(threads: WorkerHandlers, options: FunctionRunnerOptions) {
    this.#threads = threads
    this.#options = options
  }

  get names(): readonly string[] {
    return [...this.#runners.keys()]
  }

  find(name: string): JobRunner | null {
    return this.#runners.get(name) ?? null
  }

  /**
   * @param argument what the method calls the handler
   * @throws InvalidArgumentError ERR_INVALID_OPTION for what is no handler, and for a name that is taken
   * @throws SchedulerError ERR_WORKER_MODULE
   */
  add(method: string, argument: string, name: string, handler: XxlJobHandler): void {
    checkHandler(method, argument, handler)
    if (this.#runners.has(name)) {
      throw new InvalidArgumentError(
        argument,
        `${method}: there is a handler '${name}' already. Give each handler a name of its own.`,
        'ERR_INVALID_OPTION',
      )
    }
    if (isWorkerHandler(handler)) {
      this.#threads.check(handler)
      this.#runners.set(name, new WorkerRunner(name, handler, this.#threads))
    } else this.#runners.set(name, new FunctionRunner(name, handler, this.#options))
  }

  /** Functions and the like by their names, and methods with `@XxlJob`. @throws InvalidArgumentError */
  addAll(
    method: string,
    handlers: Readonly<Record<string, XxlJobHandler>>,
    instances: readonly object[],
  ): void {
    for (const [name, handler] of Object.entries(handlers))
      this.add(method, `handlers.${name}`, name, handler)
    for (const [index, instance] of instances.entries()) {
      const place = `instances[${index}]`
      for (const [name, handler] of handlersOf(instance, place)) this.add(method, place, name, handler)
    }
  }
}
