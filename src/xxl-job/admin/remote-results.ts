import { SchedulerError } from '../../core/errors.ts'
import { textOf } from '../../core/thrown-value.ts'
import type { RemoteResult, ResultTaker } from '../../jobs/remote-job.ts'
import type { Clock } from '../../time/clock.ts'
import { xxlJobCodes } from '../protocol/reply.ts'
import type { Bearer } from './admin-access.ts'
import { referenceOf } from './remote-place.ts'
import type { ReportedResult } from './result-desk.ts'

/** For how long a scheduler that is shut down holds up results at least: an earlier process may have sent its runs. */
const heldUpMinMs = 86_400_000

/** How many results that were taken are remembered. */
const takenMax = 10_000

/** A scheduler, and what it would await the result under. */
interface Addressee {
  readonly taker: ResultTaker
  readonly reference: string
}

/** Results of runs that schedulers remember. */
export class RemoteResults {
  readonly #clock: Clock
  /** Since when each of them has refused results because it is shut down; null for one that has not. */
  readonly #takers = new Map<ResultTaker, number | null>()
  #heldUpMs = heldUpMinMs
  /** References of those that were taken: an executor reports them again when it has not heard so. */
  readonly #taken = new Set<string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  connect(taker: ResultTaker): void {
    if (!this.#takers.has(taker)) this.#takers.set(taker, null)
  }

  /** A run was sent whose result is awaited for so long. */
  expect(timeoutMs: number): void {
    this.#heldUpMs = Math.max(this.#heldUpMs, timeoutMs)
  }

  /** False when no scheduler awaits it. @throws the error of one that might, so that the executor reports it again */
  async report(result: ReportedResult, { groups }: Bearer): Promise<boolean> {
    const references = groups.map((group) => referenceOf(group, result.logId))
    const all = references.flatMap((reference) =>
      [...this.#takers.keys()].map((taker) => ({ taker, reference })),
    )
    try {
      const found = all.length > 1 ? await this.#first(all, awaits) : null
      const taken = await this.#first(found === null ? all : [found], ({ taker, reference }) =>
        taker.reportResult(reference, resultOf(result)),
      )
      if (taken !== null) this.#remember(taken.reference)
      return taken !== null
    } catch (error) {
      // It may have come with others that were refused, and all of them come again.
      if (references.some((reference) => this.#taken.has(reference))) return true
      throw error
    }
  }

  /** The first that says yes; null for none. @throws the error of one that might, when none does */
  async #first(
    addressees: readonly Addressee[],
    ask: (addressee: Addressee) => Promise<boolean>,
  ): Promise<Addressee | null> {
    const failures: unknown[] = []
    for (const addressee of addressees) {
      try {
        if (await ask(addressee)) return addressee
      } catch (error) {
        if (this.#mayAwait(addressee.taker, error)) failures.push(error)
      }
    }
    if (failures.length > 0) throw toError(failures[0])
    return null
  }

  /** Whether one that could not say may await the result. */
  #mayAwait(taker: ResultTaker, error: unknown): boolean {
    const code = SchedulerError.is(error) ? error.code : null
    // What its store cannot keep, it does not await.
    if (code === 'ERR_NOT_SUPPORTED') return false
    if (code !== 'ERR_SCHEDULER_SHUTDOWN') return true
    const refusesSinceMs = this.#takers.get(taker)
    // It was forgotten meanwhile.
    if (refusesSinceMs === undefined) return false
    // While none has taken its place, its results are kept by the executors, until their deadlines have passed.
    const nowMs = this.#clock.elapsedMs()
    const sinceMs = refusesSinceMs ?? nowMs
    const mayReturn = !this.#hasNamesake(taker) && nowMs - sinceMs < this.#heldUpMs
    if (mayReturn) this.#takers.set(taker, sinceMs)
    else this.#takers.delete(taker)
    return mayReturn
  }

  /** Whether another scheduler of that name is known: it has the same data. */
  #hasNamesake(taker: ResultTaker): boolean {
    const { schedulerName } = taker
    return [...this.#takers.keys()].some((other) => other !== taker && other.schedulerName === schedulerName)
  }

  #remember(reference: string): void {
    this.#taken.add(reference)
    const [oldest] = this.#taken
    if (this.#taken.size > takenMax && oldest !== undefined) this.#taken.delete(oldest)
  }
}

/** To be asked before the result is reported: a scheduler that gets a result of another one tells it as late. */
function awaits({ taker, reference }: Addressee): Promise<boolean> {
  return taker.awaitsResult(reference)
}

function resultOf({ handleCode, handleMsg, logId }: ReportedResult): RemoteResult {
  if (handleCode === xxlJobCodes.success) return { result: handleMsg }
  const message = `Run ${logId} failed: code ${handleCode}, ${handleMsg}`
  const code = handleCode === xxlJobCodes.timeout ? 'ERR_JOB_TIMEOUT' : 'ERR_XXL_JOB_RUN'
  return { error: new SchedulerError(code, message) }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new SchedulerError('ERR_XXL_JOB_RUN', textOf(thrown))
}
