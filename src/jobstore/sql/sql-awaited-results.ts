import type { JobKey } from '../../core/key.ts'
import type { KeyMap } from '../../core/key-map.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { EpochMs } from '../../time/clock.ts'
import {
  type AwaitedResult,
  type AwaitedResultOutcome,
  type JobStoreAwaitedResults,
  jobOfAwaited,
  type LateFiring,
  type OverdueResults,
  type ResultsInFlight,
} from '../awaited-results.ts'
import type { InterruptTarget } from '../cluster-view.ts'
import type { SqlProgram } from './kernel/statement.ts'
import { uniqueKeys } from './programs/steps/settling.ts'
import type { SqlSession } from './session/sql-session.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'
import type { AwaitedRow, LoadedAwaitedRows } from './tables/firings/awaited-result-table.ts'

/** The awaited results of a store in a database. */
export class SqlAwaitedResults implements JobStoreAwaitedResults {
  readonly #transactor: () => SqlTransactor

  /** `transactor` throws while the store is not open. */
  constructor(transactor: () => SqlTransactor) {
    this.#transactor = transactor
  }

  async put(results: readonly AwaitedResult[]): Promise<readonly AwaitedResultOutcome[]> {
    const transactor = this.#transactor()
    const outcomes = await transactor.run(({ session }) => put(session, results), {
      lock: 'rows',
      tells: 'none',
      // Not known whether it is awaited, the job could neither send it nor end it.
      onDoubt: 'patient',
      wasCommitted: 'runAgain',
    })
    // From now on it is in flight without this process.
    const awaited = results.filter((_, index) => outcomes[index] === 'awaited')
    transactor.session.ledger.forget(awaited.map(({ bundle }) => bundle.fireInstanceId))
    return outcomes
  }

  async find(references: readonly string[]): Promise<readonly AwaitedResult[]> {
    const { results } = await this.#read((session) => session.awaitedResults.find(references))
    return results
  }

  async findTarget(target: InterruptTarget): Promise<readonly AwaitedResult[]> {
    const { results } = await this.#read(({ awaitedResults }) =>
      'jobKey' in target
        ? awaitedResults.ofJob(target.jobKey)
        : awaitedResults.ofFiring(target.fireInstanceId),
    )
    return results
  }

  async inFlight(skip = 0): Promise<ResultsInFlight> {
    const { results, broken } = await this.#read((session) => session.awaitedResults.inFlight(skip))
    return { results, seen: results.length + broken.length }
  }

  async overdue(nowMs: EpochMs, skip = 0): Promise<OverdueResults> {
    const { results: overdue, broken } = await this.#read((session) =>
      session.awaitedResults.overdue(nowMs, skip),
    )
    if (overdue.length === 0 && skip === 0) {
      await this.#transactor().run(({ session }) => session.awaitedResults.deleteOrphans(nowMs), {
        lock: 'rows',
        tells: 'none',
      })
    }
    const nextMs = await this.#transactor().read((session) => session.awaitedResults.nextDeadlineMs(nowMs))
    return { overdue, seen: overdue.length + broken.length, nextMs }
  }

  takeLate(references: readonly string[]): Promise<readonly LateFiring[]> {
    return this.#transactor().run(({ session }) => session.awaitedResults.takeLate(references), {
      lock: 'rows',
      tells: 'none',
    })
  }

  async #read(load: (session: SqlSession) => SqlProgram<LoadedAwaitedRows>): Promise<LoadedResults> {
    const transactor = this.#transactor()
    const { signaler } = transactor.session.context
    const loaded = await transactor.read((session) => withJobs(session, load(session)))
    for (const { reference, error } of loaded.broken) {
      signaler.storeError(
        `The awaited result '${reference}' cannot be read; its execution stays in flight.`,
        error,
      )
    }
    return loaded
  }
}

function* put(
  { awaitedResults }: SqlSession,
  results: readonly AwaitedResult[],
): SqlProgram<readonly AwaitedResultOutcome[]> {
  const stored = new Map(yield* awaitedResults.insert(results))
  // Two of these results may have one reference: then the other firing has it.
  const isStored = ({ reference, bundle }: AwaitedResult): boolean =>
    stored.get(reference) === bundle.fireInstanceId
  const unstored = (): readonly AwaitedResult[] => results.filter((result) => !isStored(result))
  if (unstored().length === 0) return results.map(() => 'awaited')
  // What is left of a firing that has ended does not keep its reference from the next one.
  const freed = yield* awaitedResults.takeLate(unstored().map(({ reference }) => reference))
  if (freed.length > 0) {
    for (const [reference, firing] of yield* awaitedResults.insert(unstored())) stored.set(reference, firing)
  }
  const others = unstored().map(({ reference }) => reference)
  if (others.length === 0) return results.map(() => 'awaited')
  // One that is there with this firing was stored by an attempt whose answer was lost.
  const firings = yield* awaitedResults.firingsOf(others)
  return results.map((result) => {
    if (isStored(result)) return 'awaited'
    const firing = firings.get(result.reference)
    if (firing === undefined) return 'gone'
    return firing === result.bundle.fireInstanceId ? 'awaited' : 'taken'
  })
}

interface LoadedResults {
  readonly results: readonly AwaitedResult[]
  readonly broken: LoadedAwaitedRows['broken']
}

function* withJobs(session: SqlSession, load: SqlProgram<LoadedAwaitedRows>): SqlProgram<LoadedResults> {
  const { found, broken } = yield* load
  if (found.length === 0) return { results: [], broken }
  const keys = uniqueKeys(found.map(({ jobKey }) => jobKey))
  const jobs = yield* session.jobs.load(keys)
  return { results: found.map((row) => resultOf(row, jobs.found)), broken }
}

function resultOf(row: AwaitedRow, jobs: KeyMap<JobKey, JobDetail>): AwaitedResult {
  const { reference, note, deadlineMs, retriesOnTimeout, beganTimeMs, dataText, trigger } = row
  const { fireInstanceId, acquiredTimeMs, fireTimeMs, scheduledFireTimeMs, previousFireTimeMs } = row
  return {
    reference,
    note,
    deadlineMs,
    retriesOnTimeout,
    beganTimeMs,
    ...(dataText !== undefined && { dataText }),
    bundle: {
      fireInstanceId,
      jobDetail: jobOfAwaited(row.jobKey, row.jobType, jobs.get(row.jobKey)),
      trigger,
      calendar: null,
      ...(acquiredTimeMs !== null && { acquiredTimeMs }),
      fireTimeMs,
      scheduledFireTimeMs,
      previousFireTimeMs,
      nextFireTimeMs: trigger.nextFireTimeMs,
    },
  }
}
