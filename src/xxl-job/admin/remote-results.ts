import { SchedulerError } from '../../core/errors.ts'
import { textOf } from '../../core/thrown-value.ts'
import type { RemoteResult, ResultTaker } from '../../jobs/remote-job.ts'
import { xxlJobCodes } from '../protocol/reply.ts'
import type { Bearer } from './admin-access.ts'
import { referenceOf } from './remote-place.ts'
import type { ReportedResult } from './result-desk.ts'

/** Results of runs that schedulers remember. */
export class RemoteResults {
  readonly #takers = new Set<ResultTaker>()

  connect(taker: ResultTaker): void {
    this.#takers.add(taker)
  }

  /** False when no scheduler awaits it. @throws the error of one that might, so that the executor reports it again */
  async report(result: ReportedResult, { groups }: Bearer): Promise<boolean> {
    const failures: unknown[] = []
    for (const group of groups) {
      if (await this.#report(referenceOf(group, result.logId), result, failures)) return true
    }
    if (failures.length > 0) throw toError(failures[0])
    return false
  }

  async #report(reference: string, result: ReportedResult, failures: unknown[]): Promise<boolean> {
    for (const taker of [...this.#takers]) {
      try {
        if (await taker.reportResult(reference, resultOf(result))) return true
      } catch (error) {
        const code = SchedulerError.is(error) ? error.code : null
        // While none has taken its place, its results are kept by the executors.
        if (code === 'ERR_SCHEDULER_SHUTDOWN' && this.#hasNamesake(taker)) this.#takers.delete(taker)
        // What its store cannot keep, it does not await.
        else if (code !== 'ERR_NOT_SUPPORTED') failures.push(error)
      }
    }
    return false
  }

  /** Whether another scheduler of that name is known: it has the same data. */
  #hasNamesake(taker: ResultTaker): boolean {
    const { schedulerName } = taker
    return [...this.#takers].some((other) => other !== taker && other.schedulerName === schedulerName)
  }
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
