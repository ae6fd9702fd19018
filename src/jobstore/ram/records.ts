import type { TriggerKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { AcquiredTrigger } from '../job-store.ts'
import type { OpenFirings } from '../split-firing.ts'
import type { StoredTriggerState } from '../trigger-state.ts'
import { RecordQueue } from './record-queue.ts'

/**
 * The states a record itself can be in. BLOCKED and PAUSED_BLOCKED are not among them: whether triggers are blocked is
 * kept once, at the job, so that a firing does not change the job's other triggers.
 */
export type OwnState = Exclude<StoredTriggerState, 'BLOCKED' | 'PAUSED_BLOCKED'>

/** A claim of this store, which finds its trigger without a look-up among all of them. */
export class RamClaim implements AcquiredTrigger {
  readonly trigger: Trigger
  readonly fireInstanceId: string
  declare isSplit?: true
  readonly #record: TriggerRecord

  constructor(record: TriggerRecord, fireInstanceId: string) {
    this.trigger = record.trigger
    this.fireInstanceId = fireInstanceId
    this.#record = record
  }

  /** The trigger that was claimed; null for a claim that was copied. */
  static recordOf(claim: AcquiredTrigger): TriggerRecord | null {
    return #record in claim ? claim.#record : null
  }
}

/** A stored trigger. There may be a million of them, so it has few fields. */
export class TriggerRecord {
  trigger: Trigger
  readonly job: JobRecord
  state: OwnState
  /** Fire instance id of the scheduler's claim while ACQUIRED, else null. */
  claim: string | null = null
  /** When it was last claimed. */
  claimedMs = 0
  // The triggers of a job are a linked list, so that adding and deleting one never depends on their number.
  previousOfJob: TriggerRecord | null = null
  nextOfJob: TriggerRecord | null = null

  constructor(trigger: Trigger, job: JobRecord, state: OwnState) {
    this.trigger = trigger
    this.job = job
    this.state = state
  }
}

/**
 * The waiting triggers of one job that forbids concurrent execution. Only the first of them is in the queue, and none
 * while the job runs or is claimed, so the cost does not depend on how many triggers the job has.
 */
export class Lane {
  readonly waiting: RecordQueue<TriggerRecord> = new RecordQueue<TriggerRecord>()
  offered: TriggerRecord | null = null
}

/** What is known of a sharded job beside its detail. */
export interface JobShards {
  open: OpenFirings | null
  /** Items that are turned off. */
  readonly disabled: Set<number>
  /** The triggers of items that are executing, by the ids of their executions. */
  readonly executing: Map<string, TriggerKey>
}

/** A stored job, or one that was deleted while it runs. */
export class JobRecord {
  detail: JobDetail
  /** False once it was deleted, while executions of it are still in flight. */
  isStored = true
  firstTrigger: TriggerRecord | null = null
  /** How many of its triggers are ACQUIRED. */
  claims = 0
  /** Executions in flight. */
  executions = 0
  /** It has no trigger any more and is deleted when its executions have ended. */
  isSpent = false
  /** The lane of its waiting triggers, for a job that forbids concurrent execution; null for other jobs. */
  lane: Lane | null = null
  /** Null until the job was split or an item of it was turned off. */
  shards: JobShards | null = null

  constructor(detail: JobDetail) {
    this.detail = detail
  }

  /** Whether its triggers must wait for an execution to end. */
  get isBlocked(): boolean {
    return this.executions > 0 && this.detail.disallowConcurrentExecution
  }

  /** Whether one of its triggers is paused. */
  get hasPaused(): boolean {
    for (let record = this.firstTrigger; record !== null; record = record.nextOfJob) {
      if (record.state === 'PAUSED') return true
    }
    return false
  }

  /** Whether a trigger of the job is still stored. */
  has(record: TriggerRecord): boolean {
    return record.previousOfJob !== null || record === this.firstTrigger
  }

  link(record: TriggerRecord): void {
    const first = this.firstTrigger
    record.nextOfJob = first
    if (first !== null) first.previousOfJob = record
    this.firstTrigger = record
  }

  unlink(record: TriggerRecord): void {
    const { previousOfJob, nextOfJob } = record
    if (previousOfJob === null) this.firstTrigger = nextOfJob
    else previousOfJob.nextOfJob = nextOfJob
    if (nextOfJob !== null) nextOfJob.previousOfJob = previousOfJob
    record.previousOfJob = null
    record.nextOfJob = null
  }

  /** Its triggers as they are now; the job's list may change while the answer is iterated. */
  triggers(): TriggerRecord[] {
    const records: TriggerRecord[] = []
    for (let record = this.firstTrigger; record !== null; record = record.nextOfJob) records.push(record)
    return records
  }
}
