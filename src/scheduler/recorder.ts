import { SchedulerError } from '../core/errors.ts'
import type { IdGenerator } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { unawaited } from '../core/promises.ts'
import type { AuditEntry } from '../jobstore/audit.ts'
import type { ExecutionLogLine } from '../jobstore/execution-log.ts'
import type { ExecutionReport } from '../jobstore/execution-report.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { type EndedExecution, endedExecution, type JobStatusChange } from '../jobstore/job-status.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { ExecutionLogLimits, RecordBatch } from '../jobstore/job-store-records.ts'
import type { ExecutionOutcome } from '../jobstore/queries.ts'
import { isStoreGone } from '../jobstore/store-gone.ts'
import type { Clock, ClockTimer } from '../time/clock.ts'
import { nextTurn } from '../time/next-turn.ts'
import { MisfireBuffer, type MisfireNote } from './misfire-buffer.ts'
import type { Notifier } from './notifier.ts'
import {
  AuditBuffer,
  LogBuffer,
  type LoggedLine,
  ProgressBuffer,
  type ProgressNote,
  type RecordBuffer,
  StatusBuffer,
} from './record-buffers.ts'

/** What may be recorded, by the list of a batch that it goes into. */
export interface RecordedEntries {
  readonly statuses: EndedExecution
  readonly logs: LoggedLine
  readonly progress: ProgressNote
  readonly misfires: MisfireNote
  readonly audits: AuditEntry
}

type Kind = keyof RecordedEntries
type Written<Of extends Kind> = NonNullable<RecordBatch[Of]>[number]
type Buffers = { readonly [Of in Kind]: RecordBuffer<RecordedEntries[Of], Written<Of>> }

export interface RecorderParts {
  readonly store: JobStore
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly instanceId: string
  readonly notifier: Notifier
  readonly logger: Logger
}

/** What was taken out of the buffers. */
type Taken = Map<Kind, readonly unknown[]>

/** How long entries gather before they are written. */
const gatherMs = 1000
/** How many lines go with the end of an execution at most, so that its row stays small. */
const endLinesMax = 20
/** How many statuses the store looks for at once, because SQLite blocks the event loop meanwhile. */
const looksAtOnce = 1000
/** The longest time between two attempts while the store fails. */
const retryMaxMs = 30_000

const newBuffers = ({ clock, ids, instanceId }: RecorderParts, logs: LogBuffer): Buffers => ({
  statuses: new StatusBuffer(10_000, clock),
  logs,
  progress: new ProgressBuffer(10_000),
  misfires: new MisfireBuffer(10_000, instanceId, ids.uniqueName()),
  audits: new AuditBuffer(2000),
})

/**
 * Gathers what the scheduler is to remember and writes it about once a second, so that no firing waits for it. While
 * the store fails it keeps a bounded rest, drops the oldest, and says so once. A kind of entry that the store refuses
 * does not hold up the others.
 */
export class Recorder {
  readonly #parts: RecorderParts
  readonly #buffers: Buffers
  readonly #logs = new LogBuffer(20_000)
  #timer: ClockTimer | null = null
  #writing: Promise<void> | null = null
  #failures = 0
  #dropped = 0
  #isLastTry = false
  #isClosed = false

  constructor(parts: RecorderParts) {
    this.#parts = parts
    this.#buffers = newBuffers(parts, this.#logs)
  }

  /** Whether the store keeps entries of this kind. */
  keeps(kind: Kind): boolean {
    return !this.#isClosed && this.#parts.store.records?.kinds.includes(kind) === true
  }

  /** Whether something is not written yet. */
  get isBehind(): boolean {
    return this.#writing !== null || this.#left > 0
  }

  /** How many entries wait to be written. */
  get #left(): number {
    return this.#kinds().reduce((sum, kind) => sum + this.#buffers[kind].size, 0)
  }

  /** What the store keeps of the log of an execution; null when it keeps none. */
  get logLimits(): ExecutionLogLimits | null {
    return this.keeps('logs') ? (this.#parts.store.records?.logLimits ?? null) : null
  }

  /** Whether the history of the store keeps executions with this outcome. */
  keepsOutcome(outcome: ExecutionOutcome): boolean {
    return this.#parts.store.records?.keeps(outcome) === true
  }

  /**
   * Takes over the lines of an execution that ended, to be written together with it; null when there are none, when
   * they are too many for that, or when the store does not take them so.
   */
  takeLogLines(fireInstanceId: string): readonly ExecutionLogLine[] | null {
    if (this.#logs.size === 0 || this.#parts.store.records?.takesLogLines !== true) return null
    return this.#logs.takeOf(fireInstanceId, endLinesMax)
  }

  /** The same as `note`, for the status of a job one of whose executions is completed next. */
  noteCompletion(
    { fireInstanceId, jobDetail }: Pick<TriggerFiredBundle, 'fireInstanceId' | 'jobDetail'>,
    report: ExecutionReport,
  ): void {
    if (this.#parts.store.records?.countsCompletions === true) return
    const ended = endedExecution({ jobKey: jobDetail.key, fireInstanceId }, report, this.#parts.clock.now())
    this.note('statuses', ended)
  }

  /** Returns at once and never throws. */
  note<Of extends Kind>(kind: Of, entry: RecordedEntries[Of]): void {
    if (!this.keeps(kind)) return
    const buffer: RecordBuffer<RecordedEntries[Of], Written<Of>> = this.#buffers[kind]
    this.#dropped += buffer.add(entry)
    if (buffer.isLarge && this.#failures === 0) this.#writeSoon(0)
    else if (this.#timer === null && this.#writing === null) this.#writeSoon(this.#delayMs)
  }

  /** Writes what is there now; resolves also when that fails. */
  async flush(): Promise<void> {
    this.#cancelTimer()
    while (this.#writing !== null) await this.#writing
    if (this.#isClosed || !this.isBehind) return
    this.#writing = this.#write()
    await this.#writing
  }

  /** Writes what is left, and takes no more; says how much of it the store did not take. */
  async close(): Promise<void> {
    while (this.#writing !== null) await this.#writing
    this.#isLastTry = true
    await this.flush()
    this.#dropped += this.#left
    this.abandon()
    if (this.#dropped > 0) this.#sayDropped()
  }

  abandon(): void {
    this.#isClosed = true
    this.#cancelTimer()
  }

  get #delayMs(): number {
    return Math.min(gatherMs * 2 ** this.#failures, retryMaxMs)
  }

  #writeSoon(delayMs: number): void {
    if (this.#writing !== null) return
    if (delayMs === 0) {
      unawaited(this.flush(), this.#stopped)
      return
    }
    // The process may end without it.
    this.#timer = this.#parts.clock.setTimer(
      delayMs,
      () => {
        this.#timer = null
        unawaited(this.flush(), this.#stopped)
      },
      { unref: true },
    )
  }

  #cancelTimer(): void {
    this.#timer?.cancel()
    this.#timer = null
  }

  async #write(): Promise<void> {
    const failed = await this.#writeKinds(this.#kinds())
    this.#writing = null
    this.#judge(failed)
    if (this.isBehind && !this.#isClosed && this.#timer === null) this.#writeSoon(this.#delayMs)
  }

  /** All kinds in the same batches; when one fails, each kind by itself. Answers the last failure. */
  async #writeKinds(kinds: readonly Kind[]): Promise<{ readonly error: unknown } | null> {
    const taken: Taken = new Map()
    for (const kind of kinds) {
      if (this.#buffers[kind].size > 0) taken.set(kind, this.#buffers[kind].take())
    }
    let batches = [taken]
    try {
      await this.#leaveOutGone(taken)
      batches = batchesOf(taken, this.#parts.store.records?.entriesAtOnce)
      await this.#writeBatches(batches)
      return null
    } catch (error) {
      for (const kind of taken.keys()) {
        const unwritten = batches.flatMap((batch) => batch.get(kind) ?? [])
        if (unwritten.length > 0) this.#giveBack(kind, unwritten)
      }
      if (taken.size === 1) return { error }
    }
    let failed: { readonly error: unknown } | null = null
    for (const kind of taken.keys()) failed = (await this.#writeKinds([kind])) ?? failed
    return failed
  }

  /** Leaves out the statuses of jobs that are gone. */
  async #leaveOutGone(taken: Taken): Promise<void> {
    const { clock, store } = this.#parts
    const statuses = (taken.get('statuses') ?? []) as readonly JobStatusChange[]
    if (statuses.length === 0 || store.records?.worthWriting === undefined) return
    const left: JobStatusChange[] = []
    for (let from = 0; from < statuses.length && !this.#isClosed; from += looksAtOnce) {
      if (from > 0) await nextTurn(clock)
      left.push(...(await store.records.worthWriting(statuses.slice(from, from + looksAtOnce))))
    }
    taken.set('statuses', left)
  }

  /** Takes those that are written out of the list. */
  async #writeBatches(batches: Taken[]): Promise<void> {
    const { clock, store } = this.#parts
    for (let [batch] = batches; batch !== undefined && !this.#isClosed; [batch] = batches) {
      try {
        await store.records?.write(Object.fromEntries(batch))
      } catch (error) {
        if (SchedulerError.is(error) && error.code === 'ERR_COMMIT_UNKNOWN') this.#dropStatuses(batch)
        throw error
      }
      batches.shift()
      // What is due has its turn.
      if (batches.length > 0) await nextTurn(clock)
    }
  }

  /** Executions may be left out of the status of a job, but never count twice. All else may be written again. */
  #dropStatuses(batch: Taken): void {
    this.#dropped += batch.get('statuses')?.length ?? 0
    batch.delete('statuses')
  }

  #giveBack(kind: Kind, entries: readonly unknown[]): void {
    const buffer = this.#buffers[kind] as RecordBuffer<unknown>
    this.#dropped += buffer.giveBack(entries)
  }

  #judge(failed: { readonly error: unknown } | null): void {
    if (failed !== null) {
      // What is left is counted when it is closed.
      if (isStoreGone(failed.error)) {
        this.abandon()
        return
      }
      if (this.#failures++ > 0 && !this.#isLastTry) return
      const next = this.#isLastTry ? 'the shutdown does not wait for it' : 'it is tried again'
      this.#parts.notifier.error(
        `The job store could not write down what was recorded of executions; ${next}.`,
        failed.error,
      )
      return
    }
    if (this.#dropped > 0) this.#sayDropped()
    const failures = this.#failures
    this.#failures = 0
    if (failures > 0) this.#parts.logger.info({ failures }, 'Records of executions are written again.')
  }

  #sayDropped(): void {
    const { logger } = this.#parts
    logger.warn(
      { dropped: this.#dropped },
      'Records of executions were dropped: the job store failed, or took too long.',
    )
    this.#dropped = 0
  }

  readonly #stopped = (error: unknown): void => {
    this.#parts.notifier.error('Writing records of executions has stopped.', error)
  }

  #kinds(): readonly Kind[] {
    return Object.keys(this.#buffers) as Kind[]
  }
}

/** Batches of at most so many entries, in the order in which they are to be written. */
function batchesOf(taken: Taken, most = Number.POSITIVE_INFINITY): Taken[] {
  const batches: Taken[] = []
  let room = 0
  for (const [kind, entries] of taken) {
    for (let from = 0; from < entries.length; ) {
      if (room === 0) {
        batches.push(new Map())
        room = Math.max(1, most)
      }
      const some = entries.slice(from, from + room)
      batches.at(-1)?.set(kind, some)
      from += some.length
      room -= some.length
    }
  }
  return batches
}
