import type { EpochMs } from '../../time/clock.ts'
import { RecordQueue } from './record-queue.ts'
import type { JobRecord, TriggerRecord } from './records.ts'

/**
 * The WAITING triggers in the order in which they fire. A record is ordered by its trigger, so it must leave the queue
 * before it gets another trigger.
 */
export class FireQueue {
  readonly #ready = new RecordQueue<TriggerRecord>()
  /** Triggers that were set aside because this node did not know their job type, by job type. */
  readonly #shelves = new Map<string, Set<TriggerRecord>>()
  /** The earliest fire time that became available since the last `takeEarliestMs`; infinite when none did. */
  #earliestMs = Number.POSITIVE_INFINITY

  /** The triggers that were set aside, by job type. */
  get shelves(): ReadonlyMap<string, ReadonlySet<TriggerRecord>> {
    return this.#shelves
  }

  /** The trigger to fire first, or null. */
  first(): TriggerRecord | null {
    return this.#ready.first()
  }

  /** The first trigger to fire of those that are due after an instant, or null. */
  firstAfter(timeMs: EpochMs): TriggerRecord | null {
    return this.#ready.firstAfter(timeMs)
  }

  /** The triggers that are due by an instant and not set aside, in the order in which they fire. */
  *dueBy(timeMs: EpochMs): Generator<TriggerRecord, void, undefined> {
    for (const record of this.#ready) {
      const { nextFireTimeMs } = record.trigger
      if (nextFireTimeMs === null || nextFireTimeMs > timeMs) return
      yield record
    }
  }

  /** The fire time of the trigger that is due first, also of one whose job type this node does not know; or null. */
  earliestMs(): EpochMs | null {
    let earliestMs = this.first()?.trigger.nextFireTimeMs ?? null
    // Not as one list: a shelf may hold a million, and a loop asks often.
    for (const shelf of this.#shelves.values()) {
      for (const { trigger } of shelf) {
        const nextMs = trigger.nextFireTimeMs
        if (nextMs !== null && (earliestMs === null || nextMs < earliestMs)) earliestMs = nextMs
      }
    }
    return earliestMs
  }

  add(record: TriggerRecord): void {
    const { job } = record
    if (job.lane === null) {
      this.#offer(record)
    } else {
      job.lane.waiting.insert(record)
      this.settle(job)
      // A claim on another trigger of the job may be released for an earlier one; an execution goes on.
      if (job.executions === 0) this.#announce(record)
    }
  }

  remove(record: TriggerRecord): void {
    const { job } = record
    if (job.lane === null) {
      this.#withdraw(record)
    } else {
      job.lane.waiting.delete(record)
      this.settle(job)
    }
  }

  /** Queues what a job's lane offers now: its first trigger, or nothing while the job is claimed or runs. */
  settle(job: JobRecord): void {
    const { lane } = job
    if (lane === null) return
    const isOpen = job.claims === 0 && job.executions === 0
    const wanted = isOpen ? lane.waiting.first() : null
    if (wanted === lane.offered) return
    if (lane.offered !== null) this.#withdraw(lane.offered)
    lane.offered = wanted
    if (wanted !== null) this.#offer(wanted)
  }

  /** Sets a trigger aside until its job type is known. */
  shelve(record: TriggerRecord): void {
    this.#ready.delete(record)
    const { jobType } = record.job.detail
    const shelf = this.#shelves.get(jobType)
    if (shelf === undefined) this.#shelves.set(jobType, new Set([record]))
    else shelf.add(record)
  }

  /** Queues the triggers of job types that have become known. */
  unshelve(knowsJobType: (jobType: string) => boolean): void {
    for (const [jobType, shelf] of this.#shelves) {
      if (!knowsJobType(jobType)) continue
      this.#shelves.delete(jobType)
      for (const record of shelf) this.#ready.insert(record)
    }
  }

  /** The earliest fire time that became available since the last call, or null. */
  takeEarliestMs(): EpochMs | null {
    const earliestMs = this.#earliestMs
    this.#earliestMs = Number.POSITIVE_INFINITY
    return earliestMs === Number.POSITIVE_INFINITY ? null : earliestMs
  }

  clear(): void {
    this.#ready.clear()
    this.#shelves.clear()
  }

  #offer(record: TriggerRecord): void {
    this.#ready.insert(record)
    this.#announce(record)
  }

  #announce(record: TriggerRecord): void {
    const nextMs = record.trigger.nextFireTimeMs
    if (nextMs !== null && nextMs < this.#earliestMs) this.#earliestMs = nextMs
  }

  #withdraw(record: TriggerRecord): void {
    if (this.#ready.delete(record)) return
    const { jobType } = record.job.detail
    const shelf = this.#shelves.get(jobType)
    shelf?.delete(record)
    if (shelf?.size === 0) this.#shelves.delete(jobType)
  }
}
