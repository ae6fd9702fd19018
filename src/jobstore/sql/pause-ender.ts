import { type EndedPauses, type PauseTarget, pausesAtATime } from '../pauses.ts'
import { endPause, lockOfPause } from './programs/scheduling/ending-pauses.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import { type TimedPause, textOfTarget } from './tables/triggers/pause-table.ts'

/**
 * How often to look for what is known of pauses that are over: nodes of Java end them without a look at our tables, and
 * may pause the same anew, which must not end with the first pause.
 */
const sweepIntervalMs = { besideJava: 0, alone: 600_000 }

/** Ends pauses whose time is over, each in a transaction of its own, so that one that fails holds up no other. */
export class PauseEnder {
  readonly #transactor: SqlTransactor
  /** Those that could not be ended and that were reported. */
  readonly #told = new Set<string>()
  readonly #sweepIntervalMs: number
  #sweptMs = Number.NEGATIVE_INFINITY

  constructor(transactor: SqlTransactor, sharedWithJava: boolean) {
    this.#transactor = transactor
    this.#sweepIntervalMs = sharedWithJava ? sweepIntervalMs.besideJava : sweepIntervalMs.alone
  }

  async endPauses(): Promise<EndedPauses> {
    const { clock } = this.#transactor.session.context
    await this.#sweep(clock.elapsedMs())
    const timed = await this.#transactor.read(({ pauses }) => pauses.timed(pausesAtATime + 1))
    const nowMs = clock.now()
    const over = timed.slice(0, pausesAtATime).filter(({ untilMs }) => untilMs <= nowMs)
    const ended: PauseTarget[] = []
    for (const pause of over) if (await this.#end(pause)) ended.push(pause.target)
    return { ended, nextMs: timed[over.length]?.untilMs ?? null }
  }

  async #end(pause: TimedPause): Promise<boolean> {
    const { target } = pause
    const text = textOfTarget(target)
    try {
      const isEnded = await this.#transactor.run((tx) => endPause(tx, pause), {
        lock: lockOfPause(target),
        isChange: true,
      })
      this.#told.delete(text)
      return isEnded
    } catch (error) {
      if (!this.#told.has(text)) {
        const what = `The pause of ${describe(target)} is over and could not be ended; it is tried again.`
        this.#transactor.session.context.signaler.storeError(what, error)
      }
      this.#told.add(text)
      return false
    }
  }

  async #sweep(elapsedMs: number): Promise<void> {
    if (elapsedMs - this.#sweptMs < this.#sweepIntervalMs) return
    this.#sweptMs = elapsedMs
    await this.#transactor.run(
      function* sweep({ session: { pauses } }) {
        yield* pauses.forgetAllStale()
      },
      { lock: 'none', tells: 'none' },
    )
  }
}

function describe(target: PauseTarget): string {
  switch (target.scope) {
    case 'trigger':
    case 'job':
      return `${target.scope} '${target.key.toString()}'`
    case 'triggerGroup':
      return `trigger group '${target.group}'`
    case 'jobGroup':
      return `job group '${target.group}'`
    case 'all':
      return 'everything'
  }
}
