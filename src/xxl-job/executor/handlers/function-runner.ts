import { type HandleResult, RunContext } from '../run-context.ts'
import { withinRun } from '../xxl-job-helper.ts'
import type { JobRunner, RunningJob } from './job-runner.ts'
import type { XxlJobFunction, XxlJobHandlerObject } from './xxl-job-handler.ts'

/** Runs a handler on the event loop. */
export class FunctionRunner implements JobRunner {
  readonly kind = 'handler'
  readonly canBeStopped = false
  readonly name: string
  readonly #handler: XxlJobHandlerObject
  /** Lanes that have begun and not ended: several jobs may have this handler. */
  #lanes = 0
  /** The last `init` or `destroy`. */
  #step: Promise<unknown> = Promise.resolve()

  constructor(name: string, handler: XxlJobFunction | XxlJobHandlerObject) {
    this.name = name
    this.#handler = typeof handler === 'function' ? { execute: handler } : handler
  }

  isSame(other: JobRunner): boolean {
    return other === this
  }

  /** With the first lane. The others wait for it as well. */
  init(): unknown {
    const isFirst = this.#lanes++ === 0
    if (!('init' in this.#handler)) return null
    return isFirst ? this.#next(() => this.#handler.init?.()) : this.#step
  }

  /** With the last lane: others may still use what `init` has made. */
  destroy(): unknown {
    return --this.#lanes > 0 ? null : this.#next(() => this.#handler.destroy?.())
  }

  /** One after the other: what `init` opens, an earlier `destroy` must not close. */
  #next(step: () => unknown): Promise<unknown> {
    this.#step = this.#step.then(step, step)
    return this.#step
  }

  async execute({ facts, signal, log }: RunningJob): Promise<HandleResult> {
    const context = new RunContext(
      facts,
      () => signal,
      (text) => {
        log.line(text)
      },
    )
    await withinRun(context, () => this.#handler.execute(context))
    return context.result
  }
}
