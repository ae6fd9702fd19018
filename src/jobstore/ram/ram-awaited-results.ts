import type { EpochMs } from '../../time/clock.ts'
import {
  type AwaitedResult,
  type AwaitedResultOutcome,
  awaitedResultsAtOnce,
  type JobStoreAwaitedResults,
  jobOfAwaited,
  type LateFiring,
  lateFiringsMax,
  lateFiringsMaxAgeMs,
  type OverdueResults,
  type ResultsInFlight,
} from '../awaited-results.ts'
import type { InterruptTarget } from '../cluster-view.ts'
import type { TriggerRecord } from './records.ts'

/** The awaited results of a store in memory: of executions in flight only. */
export class RamAwaitedResults implements JobStoreAwaitedResults {
  /** The triggers of the executions in flight, by fire instance id. */
  readonly #executions: ReadonlyMap<string, TriggerRecord>
  readonly #results = new Map<string, AwaitedResult>()
  /** The references of the executions, by fire instance id. */
  readonly #references = new Map<string, readonly string[]>()
  /** Firings that ended at their deadline, by reference, the first one first. */
  readonly #late = new Map<string, AwaitedResult>()

  constructor(executions: ReadonlyMap<string, TriggerRecord>) {
    this.#executions = executions
  }

  async put(results: readonly AwaitedResult[]): Promise<readonly AwaitedResultOutcome[]> {
    return results.map((result) => {
      const { reference, bundle } = result
      if (!this.#executions.has(bundle.fireInstanceId)) return 'gone'
      if (this.#results.has(reference)) return 'taken'
      this.#late.delete(reference)
      this.#results.set(reference, result)
      this.#references.set(bundle.fireInstanceId, [...this.#referencesOf(bundle.fireInstanceId), reference])
      return 'awaited'
    })
  }

  async find(references: readonly string[]): Promise<readonly AwaitedResult[]> {
    return references.flatMap((reference) => this.#shown(this.#results.get(reference)))
  }

  async findTarget(target: InterruptTarget): Promise<readonly AwaitedResult[]> {
    if ('fireInstanceId' in target) {
      return this.find(this.#referencesOf(target.fireInstanceId))
    }
    return [...this.#results.values()]
      .filter(({ bundle }) => bundle.jobDetail.key.equals(target.jobKey))
      .slice(0, awaitedResultsAtOnce)
      .flatMap((result) => this.#shown(result))
  }

  async inFlight(skip = 0): Promise<ResultsInFlight> {
    const some = this.#byDeadline().slice(skip, skip + awaitedResultsAtOnce)
    return { results: some.flatMap((result) => this.#shown(result)), seen: some.length }
  }

  async overdue(nowMs: EpochMs, skip = 0): Promise<OverdueResults> {
    for (const [reference, { deadlineMs }] of this.#late) {
      if (deadlineMs < nowMs - lateFiringsMaxAgeMs) this.#late.delete(reference)
    }
    const all = this.#byDeadline()
    const overdue = all.filter(({ deadlineMs }) => deadlineMs <= nowMs)
    const some = overdue.slice(skip, skip + awaitedResultsAtOnce)
    return {
      overdue: some.flatMap((result) => this.#shown(result)),
      seen: some.length,
      nextMs: all[overdue.length]?.deadlineMs ?? null,
    }
  }

  #byDeadline(): AwaitedResult[] {
    return [...this.#results.values()].sort((a, b) => a.deadlineMs - b.deadlineMs)
  }

  async takeLate(references: readonly string[]): Promise<readonly LateFiring[]> {
    return references.flatMap((reference) => {
      const found = this.#late.get(reference)
      this.#late.delete(reference)
      return found === undefined ? [] : [{ reference, fireInstanceId: found.bundle.fireInstanceId }]
    })
  }

  /** The execution has ended. */
  forget(fireInstanceId: string, mayBeLate: boolean): void {
    for (const reference of this.#referencesOf(fireInstanceId)) {
      const result = this.#results.get(reference)
      this.#results.delete(reference)
      if (!mayBeLate || result === undefined) continue
      this.#late.set(reference, result)
      const [oldest] = this.#late.keys()
      if (this.#late.size > lateFiringsMax && oldest !== undefined) this.#late.delete(oldest)
    }
    this.#references.delete(fireInstanceId)
  }

  clear(): void {
    this.#results.clear()
    this.#references.clear()
    this.#late.clear()
  }

  #referencesOf(fireInstanceId: string): readonly string[] {
    return this.#references.get(fireInstanceId) ?? []
  }

  /** As stores in a database answer it: the job as it is now, of the type that began it, and without the calendar. */
  #shown(result: AwaitedResult | undefined): readonly AwaitedResult[] {
    if (result === undefined) return []
    const { fireInstanceId, jobDetail: begun } = result.bundle
    const job = this.#executions.get(fireInstanceId)?.job
    const stored = job?.isStored === true ? job.detail : undefined
    const jobDetail = jobOfAwaited(begun.key, begun.jobType, stored)
    return [{ ...result, bundle: { ...result.bundle, jobDetail, calendar: null } }]
  }
}
