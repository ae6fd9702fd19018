import type { Logger } from '../../../core/logger.ts'
import { unawaited } from '../../../core/promises.ts'
import { logThrown } from '../../../core/thrown-value.ts'
import type { Clock } from '../../../time/clock.ts'
import { nextTurn } from '../../../time/next-turn.ts'
import { xxlJobCodes } from '../../protocol/reply.ts'
import { keptAtOnce } from '../results/result-store.ts'
import type { RunEnd } from '../results/run-ends.ts'
import { SendOrder } from '../results/send-order.ts'
import type { AcceptedRun, StopReason } from './job-run.ts'

export interface DroppedRunsOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Ends some of them. */
  readonly runsEnded: (ends: readonly RunEnd[]) => void
  /** All that were dropped have ended. */
  readonly onRest: () => void
}

/**
 * Runs that left their queue without having begun. Each gets a log and a result, which for thousands takes seconds, so
 * that they are ended some at a time, and the event loop goes on between. The first ones are ended at once.
 */
export class DroppedRuns {
  readonly #options: DroppedRunsOptions
  readonly #queue = new SendOrder<RunEnd>()
  readonly #ids = new Set<number>()
  #ending: Promise<void> | null = null

  constructor(options: DroppedRunsOptions) {
    this.#options = options
  }

  /** How many have no result yet. */
  get size(): number {
    return this.#queue.size
  }

  /** Whether a run of that id has no result yet. */
  has(logId: number): boolean {
    return this.#ids.has(logId)
  }

  add(runs: readonly AcceptedRun[], reason: StopReason): void {
    const handleMsg = `${reason} [job not executed, in the job queue, killed.]`
    this.#queue.add(
      runs.map(({ facts, log }) => ({ facts, log, handleCode: xxlJobCodes.failure, handleMsg })),
    )
    for (const { facts } of runs) this.#ids.add(facts.logId)
    if (this.#ending !== null) return
    this.#endSome()
    if (this.#queue.size === 0) return
    this.#ending = this.#endOthers()
    unawaited(this.#ending, (error) => {
      logThrown(this.#options.logger, error, 'XXL-JOB runs that were dropped are ended no more')
    })
  }

  /** Resolves when all have their results. That takes as long as the disk takes to have them. */
  async ended(): Promise<void> {
    await this.#ending
  }

  async #endOthers(): Promise<void> {
    while (this.#queue.size > 0) {
      await nextTurn(this.#options.clock)
      this.#endSome()
    }
    this.#ending = null
    this.#options.onRest()
  }

  #endSome(): void {
    const ends: RunEnd[] = []
    while (ends.length < keptAtOnce) {
      const end = this.#queue.takeFirst()
      if (end === undefined) break
      this.#ids.delete(end.facts.logId)
      end.log.line(`<br>----------- the run does not begin -----------<br>${end.handleMsg}`)
      ends.push(end)
    }
    if (ends.length === 0) return
    try {
      this.#options.runsEnded(ends)
    } catch (error) {
      // The others are to have their results all the same.
      const logIds = ends.map(({ facts }) => facts.logId)
      logThrown(this.#options.logger, error, 'XXL-JOB runs that were dropped could not be ended', { logIds })
    }
  }
}
