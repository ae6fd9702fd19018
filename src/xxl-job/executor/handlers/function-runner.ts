import type { Logger } from '../../../core/logger.ts'
import type { Clock } from '../../../time/clock.ts'
import { settledWithin } from '../../../time/settled-within.ts'
import { type HandleResult, RunContext } from '../run-context.ts'
import { withinRun } from '../xxl-job-helper.ts'
import type { JobRunner, RunningJob } from './job-runner.ts'
import type { XxlJobFunction, XxlJobHandlerObject } from './xxl-job-handler.ts'

/** How long `destroy` waits for runs that go on after their lane has left them. */
const runsMaxMs = 10_000
/** How long `init` waits for an earlier `destroy`, which may have waited for runs first. */
const destroyMaxMs = 30_000
/** After so long the executor says that `init` goes on. */
const slowInitMs = 30_000

export interface FunctionRunnerOptions {
  readonly clock: Clock
  readonly logger: Logger
}

/** Runs a handler on the event loop. */
export class FunctionRunner implements JobRunner {
  readonly kind = 'handler'
  readonly canBeStopped = false
  readonly name: string
  readonly #handler: XxlJobHandlerObject
  readonly #options: FunctionRunnerOptions
  /** Lanes that have begun and not ended: several jobs may have this handler. */
  #lanes = 0
  /** Those that no lane waits for any more are among them. */
  readonly #runs = new Set<Promise<unknown>>()
  #prepared: Promise<void> | null = null
  #destroyed: Promise<void> | null = null

  constructor(
    name: string,
    handler: XxlJobFunction | XxlJobHandlerObject,
    { clock, logger }: FunctionRunnerOptions,
  ) {
    this.name = name
    this.#handler = typeof handler === 'function' ? { execute: handler } : handler
    this.#options = { clock, logger }
  }

  isSame(other: JobRunner): boolean {
    return other === this
  }

  /** With the first lane. The others wait for it as well. */
  init(): unknown {
    if (this.#lanes++ === 0) this.#prepared = this.#prepare()
    return this.#prepared
  }

  /** With the last lane: others may still use what `init` has made. */
  destroy(): unknown {
    if (--this.#lanes > 0) return null
    this.#destroyed = this.#destroy()
    return this.#destroyed
  }

  async execute({ facts, signal, log }: RunningJob): Promise<HandleResult> {
    const context = new RunContext(
      facts,
      () => signal,
      (text) => {
        log.line(text)
      },
    )
    const run = withinRun(context, async () => this.#handler.execute(context))
    this.#runs.add(run)
    try {
      await run
    } finally {
      this.#runs.delete(run)
    }
    return context.result
  }

  /** What `init` opens, an earlier `destroy` must not close; but one that hangs must not stop the handler for good. */
  async #prepare(): Promise<void> {
    if (this.#destroyed !== null) {
      const hasEnded = this.#destroyed.catch(() => {})
      await this.#wait(
        destroyMaxMs,
        hasEnded,
        'destroy of an XXL-JOB handler hangs; its next run does not wait',
      )
    }
    if (this.#handler.init === undefined) return
    // A run must not begin unprepared, so that a slow `init` is waited for.
    const preparing = Promise.resolve(this.#handler.init())
    await this.#wait(slowInitMs, preparing, 'init of an XXL-JOB handler goes on; its runs wait for it')
    await preparing
  }

  async #destroy(): Promise<void> {
    if (this.#runs.size > 0) {
      const runs = Promise.allSettled(this.#runs)
      await this.#wait(runsMaxMs, runs, 'a run of an XXL-JOB handler goes on; its destroy does not wait')
    }
    await this.#handler.destroy?.()
  }

  /** At most so long; then the log says so. */
  async #wait(limitMs: number, work: Promise<unknown>, message: string): Promise<void> {
    const { clock, logger } = this.#options
    if (!(await settledWithin(clock, limitMs, work)))
      logger.warn({ handler: this.name, afterMs: limitMs }, message)
  }
}
