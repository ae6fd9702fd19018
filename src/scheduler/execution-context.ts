import type { JobExecutionError } from '../core/errors.ts'
import { cloneJobData, type JobDataMap, mergeJobData } from '../core/job-data-map.ts'
import type { JobLog } from '../core/job-log.ts'
import { type JobKey, recoveringJobsGroup, type TriggerKey } from '../core/key.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type { RemoteJobContext } from '../jobs/define-remote-job.ts'
import type { Job, JobExecutionContext, JobScheduler } from '../jobs/job-definition.ts'
import type { ExecutingJobDetail } from '../jobs/job-run-context.ts'
import type { AwaitResultOptions } from '../jobs/remote-job.ts'
import type { Shard } from '../jobs/sharding.ts'
import { type AttemptOrigin, recoveredTriggerKey } from '../jobstore/attempt-origin.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import type { InterruptReason } from '../listeners/events.ts'
import type { TaskSignal } from '../threadpool/thread-pool.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'

/** What an execution needs of its scheduler. */
export interface ExecutionEnvironment {
  readonly scheduler: JobScheduler
  /** The log of one execution. */
  logOf(context: ExecutionContext): JobLog
  onProgress(context: JobExecutionContext, value: unknown): void
  onInterrupt(context: JobExecutionContext, reason: InterruptReason): void
  awaitResult(context: ExecutionContext, options: AwaitResultOptions): Promise<void>
}

/**
 * One firing as the job and the listeners see it. The abort signal and the copies of the data are made when they are
 * first read, because most jobs read none of them and a scheduler may fire hundreds of thousands of times a second.
 */
export class ExecutionContext implements RemoteJobContext {
  readonly bundle: TriggerFiredBundle
  readonly attempt: number
  readonly originalTriggerKey: TriggerKey
  /** The execution that this one tries again. */
  readonly previousFireInstanceId: string | null
  readonly #environment: ExecutionEnvironment
  readonly scheduledFireTimeMs: EpochMs
  jobInstance: Job<object> | null = null
  refireCount = 0
  runsAgain = false
  result: unknown = undefined
  jobRunTimeMs = -1
  /** From when listeners were told that the job is to run until they were told that it has. */
  isRunning = false
  traceContext: TraceContext | null = null
  #abort: AbortController | null = null
  #taskSignal: LightSignal | null = null
  #abortReason: JobExecutionError | null = null
  /** Whether the shutdown asked it to stop. */
  isEndedByShutdown = false
  #merged: Record<string, unknown> | null = null
  #jobDetail: ExecutingJobDetail | null = null
  #dataFromWorker: JobDataMap | null = null
  /** Why the data that the job left in its worker thread cannot be stored; null when nothing was refused there. */
  jobDataRefusal: { readonly error: unknown } | null = null
  #notes: Map<string, unknown> | null = null
  #log: JobLog | null = null
  /** What the job last reported of its progress; null while it reported nothing. */
  lastProgress: { readonly value: unknown } | null = null
  /** What the history keeps of the data with which it went elsewhere; undefined where it is made of the job's. */
  dataText: string | null | undefined = undefined
  /** When the job began to run; null while it has not. */
  beganTimeMs: EpochMs | null = null
  /** The same by the monotonic clock; null also for one that began elsewhere. */
  beganElapsedMs: number | null = null
  /** Another node has taken over the firing: what happens here counts for nothing. */
  isTakenOver = false
  /** The firing goes on elsewhere under this reference; null while it does not. */
  awaitedReference: string | null = null
  /** An `awaitResult` that is under way; null while none is. */
  awaiting: Promise<void> | null = null

  constructor(bundle: TriggerFiredBundle, origin: AttemptOrigin, environment: ExecutionEnvironment) {
    this.bundle = bundle
    this.attempt = origin.attempt
    this.originalTriggerKey = origin.triggerKey
    this.previousFireInstanceId = origin.previousFireInstanceId
    this.scheduledFireTimeMs = origin.scheduledFireTimeMs
    this.#environment = environment
  }

  /** The job begins to run, for the first time or again. */
  noteBeginning(clock: Pick<Clock, 'now' | 'elapsedMs'>): void {
    if (this.beganTimeMs !== null) return
    this.beganTimeMs = clock.now()
    this.beganElapsedMs = clock.elapsedMs()
  }

  get scheduler(): JobScheduler {
    return this.#environment.scheduler
  }
  get jobKey(): JobKey {
    return this.bundle.jobDetail.key
  }
  get triggerKey(): TriggerKey {
    return this.bundle.trigger.key
  }
  get fireInstanceId(): string {
    return this.bundle.fireInstanceId
  }
  get trigger(): Trigger {
    return this.bundle.trigger
  }
  get calendar(): Calendar | null {
    return this.bundle.calendar
  }
  get fireTime(): Date {
    return new Date(this.bundle.fireTimeMs)
  }
  get scheduledFireTime(): Date {
    return new Date(this.scheduledFireTimeMs)
  }
  get previousFireTime(): Date | null {
    return toDate(this.bundle.previousFireTimeMs)
  }
  get nextFireTime(): Date | null {
    return toDate(this.bundle.nextFireTimeMs)
  }
  get recovering(): boolean {
    return this.bundle.trigger.key.group === recoveringJobsGroup
  }
  get shard(): Shard | null {
    const part = firingPartOf(this.bundle.trigger.jobDataMap)
    if (part === null) return null
    const { item, total, parameter, firingId } = part
    return { item, total, parameter, firingId }
  }
  get recoveringTriggerKey(): TriggerKey | null {
    return recoveredTriggerKey(this.bundle)
  }

  get jobDetail(): ExecutingJobDetail {
    if (this.#jobDetail === null) {
      const { jobDetail } = this.bundle
      const data = this.#dataFromWorker ?? jobDetail.jobDataMap
      this.#jobDetail = { ...jobDetail, jobDataMap: cloneJobData(data) }
    }
    return this.#jobDetail
  }
  get jobDataMap(): Record<string, unknown> {
    return this.jobDetail.jobDataMap
  }
  /** The job's data as the job left them, or null when the data were never read. */
  get changedJobData(): JobDataMap | null {
    return this.#jobDetail?.jobDataMap ?? this.#dataFromWorker
  }
  /** Takes the data that a job left in its worker thread. */
  takeJobData(data: JobDataMap): void {
    if (data === this.bundle.jobDetail.jobDataMap) return
    this.#dataFromWorker = data
    if (this.#jobDetail !== null) this.#jobDetail.jobDataMap = cloneJobData(data)
  }

  get mergedJobDataMap(): Record<string, unknown> {
    const { jobDetail, trigger } = this.bundle
    this.#merged ??= mergeJobData(jobDetail.jobDataMap, trigger.jobDataMap)
    return this.#merged
  }
  set mergedJobDataMap(data: Record<string, unknown>) {
    this.#merged = data
  }

  get signal(): AbortSignal {
    if (this.#abort === null) {
      this.#abort = new AbortController()
      if (this.#abortReason !== null) this.#abort.abort(this.#abortReason)
    }
    return this.#abort.signal
  }
  /** The signal as a pool needs it. */
  get taskSignal(): TaskSignal {
    this.#taskSignal ??= new LightSignal(this.#abortReason)
    return this.#taskSignal
  }
  get log(): JobLog {
    return (this.#log ??= this.#environment.logOf(this))
  }

  /** Why the execution was asked to stop; null while it was not. */
  get interruption(): JobExecutionError | null {
    return this.#abortReason
  }

  /** Asks the execution to stop, for a reason in a word; the first error stays. */
  interrupt(error: JobExecutionError, reason: InterruptReason): void {
    // Also of one that was asked to stop before.
    if (reason === 'recovered') this.isTakenOver = true
    if (this.#abortReason !== null) return
    this.#abortReason = error
    this.isEndedByShutdown = reason === 'shutdown'
    this.#environment.onInterrupt(this, reason)
    this.#taskSignal?.abort(error)
    this.#abort?.abort(error)
  }

  progress(value: unknown): void {
    this.lastProgress = { value }
    this.#environment.onProgress(this, value)
  }
  awaitResult(options: AwaitResultOptions): Promise<void> {
    const asked = this.#environment.awaitResult(this, options)
    // Another one is refused meanwhile.
    if (this.awaiting !== null) return asked
    const awaiting = asked.finally(() => {
      this.awaiting = null
    })
    // The very promise of the caller: what waits for it here sees to its failure where the caller does not.
    this.awaiting = awaiting
    return awaiting
  }
  put(key: string, value: unknown): void {
    this.#notes ??= new Map()
    this.#notes.set(key, value)
  }
  get(key: string): unknown {
    return this.#notes?.get(key)
  }
}

class LightSignal implements TaskSignal {
  #reason: JobExecutionError | null
  readonly #listeners: (() => void)[] = []

  constructor(reason: JobExecutionError | null) {
    this.#reason = reason
  }

  get aborted(): boolean {
    return this.#reason !== null
  }
  get reason(): unknown {
    return this.#reason ?? undefined
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener)
  }
  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners.indexOf(listener)
    if (index >= 0) this.#listeners.splice(index, 1)
  }

  abort(reason: JobExecutionError): void {
    this.#reason = reason
    for (const listener of this.#listeners.splice(0)) listener()
  }
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
