import { DelegatingJobStore, type JobStoreOperation } from '../jobstore/delegating-job-store.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type {
  AcquiredAndFired,
  AcquiredTrigger,
  CompletionAnswer,
  JobCompletion,
  JobStore,
  TriggerFiredResult,
} from '../jobstore/job-store.ts'
import type { SchedulerProbe, StoreCall } from './scheduler-probe.ts'

const nothing = (): readonly never[] => []

/** What was claimed and what fired, by the answers of the operations that do so. */
const claimedBy: Partial<Record<JobStoreOperation, (answer: never) => readonly AcquiredTrigger[]>> = {
  acquireNextTriggers: (acquired: readonly AcquiredTrigger[]) => acquired,
  acquireAndFire: ({ acquired }: AcquiredAndFired) => acquired,
}
const firedBy: Partial<Record<JobStoreOperation, (answer: never) => readonly TriggerFiredBundle[]>> = {
  acquireAndFire: ({ fired }: AcquiredAndFired) => fired,
  scheduleAndFire: (fired: TriggerFiredBundle | null) => (fired === null ? [] : [fired]),
  triggersFired: (results: readonly TriggerFiredResult[]) =>
    results.flatMap((result) => (result.kind === 'fired' ? [result.bundle] : [])),
}

/** A store whose calls go through a probe. */
export class ProbedJobStore extends DelegatingJobStore {
  readonly #probe: SchedulerProbe

  constructor(inner: JobStore, probe: SchedulerProbe) {
    super(inner)
    this.#probe = probe
  }

  protected override around<Answer>(
    operation: JobStoreOperation,
    proceed: () => Promise<Answer>,
  ): Promise<Answer> {
    return this.#surrounded(operation, {}, proceed)
  }

  override triggersFired(claims: readonly AcquiredTrigger[]): Promise<readonly TriggerFiredResult[]> {
    return this.#surrounded('triggersFired', { claims }, () => this.inner.triggersFired(claims))
  }

  override triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    return this.#surrounded('triggeredJobsComplete', { completions }, () =>
      this.inner.triggeredJobsComplete(completions),
    )
  }

  #surrounded<Answer>(
    operation: JobStoreOperation,
    given: Partial<Pick<StoreCall, 'claims' | 'completions'>>,
    proceed: () => Promise<Answer>,
  ): Promise<Answer> {
    const call: StoreCall<Answer> = {
      operation,
      claims: given.claims ?? [],
      completions: given.completions ?? [],
      claimedBy: claimedBy[operation] ?? nothing,
      firedBy: firedBy[operation] ?? nothing,
    }
    return this.#probe.aroundStoreCall?.(call, proceed) ?? proceed()
  }
}
