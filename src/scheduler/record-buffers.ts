import { compareKeys, type JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { AuditEntry } from '../jobstore/audit.ts'
import type { ExecutionLogChunk, ExecutionLogLine, ExecutionProgress } from '../jobstore/execution-log.ts'
import {
  addChange,
  addExecution,
  type EndedExecution,
  type JobStatusChange,
  newStatusChange,
} from '../jobstore/job-status.ts'
import type { Clock } from '../time/clock.ts'

/** A line and the execution that logged it. */
export interface LoggedLine {
  readonly fireInstanceId: string
  readonly line: ExecutionLogLine
}

/** That an execution said something of its progress, or has ended. */
export interface ProgressNote {
  readonly fireInstanceId: string
  /** Called when it is written, because most progress is overtaken before. */
  readonly progressText: () => string | null
}

/** Entries of one kind that wait to be written: at most so many, the oldest are dropped. */
export interface RecordBuffer<Entry, Written = Entry> {
  /** How many entries it holds. */
  readonly size: number
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

  get size(): number {
    return this.#entries.length
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
  readonly #clock: Pick<Clock, 'now'>
  #changes = new KeyMap<JobKey, JobStatusChange>()
  /** The change that was found last: one job often runs many times in a row. */
  #latest: JobStatusChange | null = null

  constructor(mostJobs: number, clock: Pick<Clock, 'now'>) {
    this.#most = mostJobs
    this.#clock = clock
  }

  get size(): number {
    return this.#changes.size
  }
  get isLarge(): boolean {
    return this.#changes.size >= this.#most / 2
  }

  add(execution: EndedExecution): number {
    const { jobKey } = execution
    if (jobKey !== this.#latest?.jobKey) {
      let change = this.#changes.get(jobKey)
      if (change === undefined) {
        // The jobs that are known go on; what they say is worth more than one more job.
        if (this.#changes.size >= this.#most) return 1
        change = newStatusChange(jobKey)
        this.#changes.set(jobKey, change)
      }
      this.#latest = change
    }
    addExecution(this.#latest, execution)
    return 0
  }

  take(): readonly JobStatusChange[] {
    // In order of keys, so that nodes lock the rows of jobs in one order.
    return this.#takeAll().sort((a, b) => compareKeys(a.jobKey, b.jobKey))
  }

  giveBack(taken: readonly JobStatusChange[]): number {
    const newer = this.#takeAll()
    const nowMs = this.#clock.now()
    let dropped = 0
    for (const change of [...taken, ...newer]) {
      const earlier = this.#changes.get(change.jobKey)
      if (earlier !== undefined) addChange(earlier, change, nowMs)
      else if (this.#changes.size < this.#most) this.#changes.set(change.jobKey, change)
      else dropped++
    }
    return dropped
  }

  #takeAll(): JobStatusChange[] {
    const taken = this.#changes.values()
    this.#changes = new KeyMap()
    this.#latest = null
    return taken
  }
}

/** Log lines, by execution. */
export class LogBuffer implements RecordBuffer<LoggedLine, ExecutionLogChunk> {
  readonly #most: number
  #chunks = new Map<string, ExecutionLogLine[]>()
  #lines = 0

  constructor(mostLines: number) {
    this.#most = mostLines
  }

  get size(): number {
    return this.#lines
  }
  get isLarge(): boolean {
    return this.#lines >= this.#most / 2
  }

  add({ fireInstanceId, line }: LoggedLine): number {
    const lines = this.#chunks.get(fireInstanceId)
    if (lines === undefined) this.#chunks.set(fireInstanceId, [line])
    else lines.push(line)
    this.#lines++
    return this.#cut()
  }

  /** Takes out the lines of one execution, if there are some and no more than `most`; else null. */
  takeOf(fireInstanceId: string, most: number): readonly ExecutionLogLine[] | null {
    const lines = this.#chunks.get(fireInstanceId)
    if (lines === undefined || lines.length > most) return null
    this.#chunks.delete(fireInstanceId)
    this.#lines -= lines.length
    return lines
  }

  take(): readonly ExecutionLogChunk[] {
    const taken = Array.from(this.#chunks, ([fireInstanceId, lines]) => ({ fireInstanceId, lines }))
    this.#chunks = new Map()
    this.#lines = 0
    return taken
  }

  giveBack(taken: readonly ExecutionLogChunk[]): number {
    const newer = this.#chunks
    this.#chunks = new Map(taken.map(({ fireInstanceId, lines }) => [fireInstanceId, [...lines]]))
    for (const { lines } of taken) this.#lines += lines.length
    for (const [fireInstanceId, lines] of newer) {
      this.#chunks.set(fireInstanceId, [...(this.#chunks.get(fireInstanceId) ?? []), ...lines])
    }
    return this.#cut()
  }

  #cut(): number {
    let dropped = 0
    for (const [fireInstanceId, lines] of this.#chunks) {
      if (this.#lines <= this.#most) break
      this.#chunks.delete(fireInstanceId)
      this.#lines -= lines.length
      dropped += lines.length
    }
    return dropped
  }
}

/** The last progress of each execution. */
export class ProgressBuffer implements RecordBuffer<ProgressNote, ExecutionProgress> {
  readonly #most: number
  #notes = new Map<string, ProgressNote>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#notes.size
  }
  get isLarge(): boolean {
    return false
  }

  add(note: ProgressNote): number {
    if (this.#notes.size >= this.#most && !this.#notes.has(note.fireInstanceId)) return 1
    this.#notes.set(note.fireInstanceId, note)
    return 0
  }

  take(): readonly ExecutionProgress[] {
    const taken = Array.from(this.#notes.values(), ({ fireInstanceId, progressText }) => ({
      fireInstanceId,
      progressText: progressText(),
    }))
    this.#notes = new Map()
    return taken
  }

  giveBack(taken: readonly ExecutionProgress[]): number {
    const newer = this.#notes
    this.#notes = new Map()
    let dropped = 0
    for (const { fireInstanceId, progressText } of taken) {
      dropped += this.add({ fireInstanceId, progressText: () => progressText })
    }
    for (const note of newer.values()) dropped += this.add(note)
    return dropped
  }
}

/** Entries of the audit; of those with one id, the newest. */
export class AuditBuffer implements RecordBuffer<AuditEntry> {
  readonly #most: number
  #entries = new Map<string, AuditEntry>()

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#entries.size
  }
  get isLarge(): boolean {
    return this.#entries.size >= this.#most / 2
  }

  add(entry: AuditEntry): number {
    this.#entries.set(entry.id, entry)
    return this.#cut()
  }

  take(): readonly AuditEntry[] {
    const taken = [...this.#entries.values()]
    this.#entries = new Map()
    return taken
  }

  giveBack(taken: readonly AuditEntry[]): number {
    this.#entries = new Map([...taken.map((entry) => [entry.id, entry] as const), ...this.#entries])
    return this.#cut()
  }

  #cut(): number {
    let dropped = 0
    for (const id of this.#entries.keys()) {
      if (this.#entries.size <= this.#most) break
      this.#entries.delete(id)
      dropped++
    }
    return dropped
  }
}
