import { type HandleResult, RunContext } from '../run-context.ts'
import { withinRun } from '../xxl-job-helper.ts'
import type { JobRunner, RunningJob } from './job-runner.ts'
import type { XxlJobFunction, XxlJobHandlerObject } from './xxl-job-handler.ts'

/** Runs a handler on the event loop. */
export class FunctionRunner implements JobRunner {
  readonly kind = 'handler'
  readonly name: string
  readonly #handler: XxlJobHandlerObject

  constructor(name: string, handler: XxlJobFunction | XxlJobHandlerObject) {
    this.name = name
    this.#handler = typeof handler === 'function' ? { execute: handler } : handler
  }

  isSame(other: JobRunner): boolean {
    return other === this
  }

  init(): unknown {
    return this.#handler.init?.()
  }

  destroy(): unknown {
    return this.#handler.destroy?.()
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
