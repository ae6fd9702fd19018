import { FailureSeries } from '../failure-series.ts'
import { type EndedPauses, type PauseTarget, pausesAtATime } from '../pauses.ts'
import { endPause, lockOfPause } from './programs/scheduling/ending-pauses.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import { type TimedPause, textOfTarget } from './tables/triggers/pause-table.ts'

/** How often to look for what is known of pauses that another program has ended. */
const sweepIntervalMs = 600_000

const sweepFailed =
  'What is known of pauses that Java nodes or other programs have ended could not be forgotten; it is tried again.'

/** Ends pauses whose time is over, each in a transaction of its own, so that one that fails holds up no other. */
export class PauseEnder {
  readonly #transactor: SqlTransactor
  /** Those that could not be ended and that were reported. */
  readonly #told = new Set<string>()
  readonly #isBesideJava: boolean
  readonly #sweeps: FailureSeries
  #sweptMs = Number.NEGATIVE_INFINITY

  constructor(transactor: SqlTransactor, sharedWithJava: boolean) {
    this.#transactor = transactor
    this.#isBesideJava = sharedWithJava
    this.#sweeps = new FailureSeries(transactor.session.context)
  }

  async endPauses(): Promise<EndedPauses> {
    const { clock } = this.#transactor.session.context
    const found = await this.#timed()
    const timed = (await this.#sweep(clock.elapsedMs(), found.length > 0)) ? await this.#timed() : found
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

  #timed(): Promise<readonly TimedPause[]> {
    return this.#transactor.read(({ pauses }) => pauses.timed(pausesAtATime + 1))
  }

  /**
   * Forgets what is known of pauses that are over; false when it did not. Nodes of Java end pauses without a look at
   * our tables, and may pause the same anew, which must not end with the first pause: beside them each look at timed
   * pauses begins with it. One that fails holds up the end of no pause.
   */
  async #sweep(elapsedMs: number, hasTimed: boolean): Promise<boolean> {
    const isUrgent = this.#isBesideJava && hasTimed
    if (!isUrgent && elapsedMs - this.#sweptMs < sweepIntervalMs) return false
    this.#sweptMs = elapsedMs
    try {
      await this.#transactor.run(
        function* sweep({ session: { pauses } }) {
          yield* pauses.forgetAllStale()
        },
        { lock: 'none', tells: 'none' },
      )
    } catch (error) {
      this.#sweeps.add(sweepFailed, error)
      return false
    }
    this.#sweeps.end('What is known of pauses that other programs have ended is forgotten again.')
    return true
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
