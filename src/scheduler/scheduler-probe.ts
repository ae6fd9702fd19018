import type { JobExecutionError } from '../core/errors.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type { JobExecutionContext } from '../jobs/job-definition.ts'
import type { JobStoreOperation } from '../jobstore/delegating-job-store.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import type { AcquiredTrigger, JobCompletion } from '../jobstore/job-store.ts'
import type { StoreProbe } from '../jobstore/store-probe.ts'
import type { Clock } from '../time/clock.ts'
import type { Scheduler } from './scheduler.ts'

/** What a probe knows of the scheduler that it looks into. */
export interface ProbeContext {
  readonly schedulerName: string
  readonly instanceId: string
  readonly clock: Clock
  readonly threadPool: { readonly size: number; availableThreads(): number }
}

/** A call of the job store. */
export interface StoreCall<Answer = unknown> {
  readonly operation: JobStoreOperation
  /** What is to fire, in a call of `triggersFired`; empty in others. */
  readonly claims: readonly AcquiredTrigger[]
  /** What ended, in a call of `triggeredJobsComplete`; empty in others. */
  readonly completions: readonly JobCompletion[]
  /** What was claimed, by the answer to a call that claims; empty for others. */
  claimedBy(answer: Answer): readonly AcquiredTrigger[]
  /** What fired, by the answer to a call that fires; empty for others. */
  firedBy(answer: Answer): readonly TriggerFiredBundle[]
}

/** One run of a job's code; a job that is refired in one firing runs more than once. */
export interface JobRun {
  readonly context: JobExecutionContext
  readonly bundle: TriggerFiredBundle
  /** Gives the run its trace context, which a worker job finds in its own. */
  readonly carry: (trace: TraceContext) => void
  /** Whether the job has handed its work over with `awaitResult`: then the run says nothing of how the firing ends. */
  readonly goesOnElsewhere: () => boolean
}

/**
 * Looks into a scheduler for measurements and traces. Its methods are on the way of every firing: they must be quick
 * and must not throw, and those that surround something must call `proceed` once and answer what it answers.
 */
export interface SchedulerProbe extends Partial<StoreProbe> {
  /**
   * Called once with the scheduler, before the first plugin is initialized; never where pool or store could not be
   * prepared. A plugin that keeps its probes until then would keep those of all schedulers that were never made.
   */
  observe?(scheduler: Scheduler): void
  /** Surrounds each call of the job store. */
  aroundStoreCall?<Answer>(call: StoreCall<Answer>, proceed: () => Promise<Answer>): Promise<Answer>
  /** Surrounds each run of a job's code. `proceed` never rejects; null is a run that ended well. */
  aroundJobRun?(
    run: JobRun,
    proceed: () => Promise<JobExecutionError | null>,
  ): Promise<JobExecutionError | null>
}

/** Makes one probe of several, the first outermost; null of none. */
export function combinedProbe(probes: readonly SchedulerProbe[]): SchedulerProbe | null {
  const [first, ...others] = probes
  if (first === undefined) return null
  if (others.length === 0) return first
  const storeCalls = probes.filter((probe) => probe.aroundStoreCall !== undefined)
  const jobRuns = probes.filter((probe) => probe.aroundJobRun !== undefined)
  return {
    observe: (scheduler) => {
      for (const probe of probes) probe.observe?.(scheduler)
    },
    ...(storeCalls.length > 0 && {
      aroundStoreCall: <Answer>(call: StoreCall<Answer>, proceed: () => Promise<Answer>) =>
        storeCalls.reduceRight<() => Promise<Answer>>(
          (inner, probe) => () => probe.aroundStoreCall?.(call, inner) ?? inner(),
          proceed,
        )(),
    }),
    ...(jobRuns.length > 0 && {
      aroundJobRun: (run: JobRun, proceed: () => Promise<JobExecutionError | null>) =>
        jobRuns.reduceRight((inner, probe) => () => probe.aroundJobRun?.(run, inner) ?? inner(), proceed)(),
    }),
    statementAnswered: (keyword, durationMs) => {
      for (const probe of probes) probe.statementAnswered?.(keyword, durationMs)
    },
    transactionRepeated: () => {
      for (const probe of probes) probe.transactionRepeated?.()
    },
  }
}
