import { compareKeys, type JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import {
  addChange,
  addExecution,
  type EndedExecution,
  type JobStatusChange,
  newStatusChange,
} from '../jobstore/job-status.ts'

/** Entries of one kind that wait to be written: at most so many, the oldest are dropped. */
export interface RecordBuffer<Entry, Written = Entry> {
  readonly isEmpty: boolean
  /** It holds so much that it is to be written before the second is over. */
  readonly isLarge: boolean
  /** Answers how many entries were dropped for it. */
  add(entry: Entry): number
  /** Takes all out, to be written. */
  take(): readonly Written[]
  /** Takes back what could not be written, as older than what came meanwhile. Answers how many were dropped. */
  giveBack(taken: readonly Written[]): number
}

/** Entries in the order in which they came. */
export class ListBuffer<Entry> implements RecordBuffer<Entry> {
  readonly #most: number
  readonly #largeFrom: number
  #entries: Entry[] = []

  constructor(most: number) {
    this.#most = most
    this.#largeFrom = Math.ceil(most / 2)
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }
  get isLarge(): boolean {
    return this.#entries.length >= this.#largeFrom
  }

  add(entry: Entry): number {
    this.#entries.push(entry)
    // Not one by one, because each cut moves all entries.
    return this.#entries.length > this.#most + this.#largeFrom ? this.#cut() : 0
  }

  take(): readonly Entry[] {
    const taken = this.#entries
    this.#entries = []
    return taken
  }

  giveBack(taken: readonly Entry[]): number {
    this.#entries = [...taken, ...this.#entries]
    return this.#cut()
  }

  #cut(): number {
    const surplus = Math.max(0, this.#entries.length - this.#most)
    if (surplus > 0) this.#entries.splice(0, surplus)
    return surplus
  }
}

/** Executions, added up by job. */
export class StatusBuffer implements RecordBuffer<EndedExecution, JobStatusChange> {
  readonly #most: number
  #changes = new KeyMap<JobKey, JobStatusChange>()

  constructor(mostJobs: number) {
    this.#most = mostJobs
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0
  }
  get isLarge(): boolean {
    return this.#changes.size >= this.#most / 2
  }

  add(execution: EndedExecution): number {
    const { jobKey } = execution
    let change = this.#changes.get(jobKey)
    if (change === undefined) {
      // The jobs that are known go on; what they say is worth more than one more job.
      if (this.#changes.size >= this.#most) return 1
      change = newStatusChange(jobKey)
      this.#changes.set(jobKey, change)
    }
    addExecution(change, execution)
    return 0
  }

  take(): readonly JobStatusChange[] {
    const taken = this.#changes.values()
    this.#changes = new KeyMap()
    // In order of keys, so that nodes lock the rows of jobs in one order.
    return taken.sort((a, b) => compareKeys(a.jobKey, b.jobKey))
  }

  giveBack(taken: readonly JobStatusChange[]): number {
    const newer = this.#changes
    this.#changes = new KeyMap()
    let dropped = 0
    for (const change of [...taken, ...newer.values()]) {
      const earlier = this.#changes.get(change.jobKey)
      if (earlier !== undefined) addChange(earlier, change)
      else if (this.#changes.size < this.#most) this.#changes.set(change.jobKey, change)
      else dropped++
    }
    return dropped
  }
}
