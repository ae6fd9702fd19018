import type { SchedulerError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { unawaited } from '../../../core/promises.ts'
import { logThrown } from '../../../core/thrown-value.ts'
import type { TypedEventEmitter } from '../../../core/typed-events.ts'
import type { Clock } from '../../../time/clock.ts'
import { Gate } from '../../../time/gate.ts'
import { InterruptibleSleep } from '../../../time/interruptible-sleep.ts'
import { nextTurn } from '../../../time/next-turn.ts'
import { settledWithin } from '../../../time/settled-within.ts'
import type { JobResult } from '../../protocol/callback.ts'
import type { Admins } from '../admins/admins.ts'
import type { XxlJobExecutorEventMap } from '../executor-events.ts'
import type { JobLogs } from '../logs/job-logs.ts'
import { batchMax, type KeptResult, keptAtOnce, type ResultStore } from './result-store.ts'
import { SendOrder } from './send-order.ts'

/** Most characters of the messages of one request; one result may have more. */
const batchChars = 1_000_000
/** With so many characters a file takes no further ones: each result is read from the whole file. */
const keptChars = 100_000
/** How long after a failure results are sent again, when nothing says earlier that an admin is back. */
const retryMs = 30_000
/** How long after a failure nothing is sent, whatever happens. */
const pauseMs = 1000
/** After so many single results that admins refuse one after the other, the others wait as well. */
const refusalsMax = 3
/** Of so many waiting results the content is in memory, and of further ones on disk only. */
const inMemoryMax = 1000

/** A result that no admin has yet. */
interface Waiting {
  /** Where it is on disk; null when the disk did not take it. */
  kept: KeptResult | null
  /** Null: it is read from the file. */
  result: JobResult | null
  /** An admin refused a request that it was part of, or did not answer: it goes with others of that kind only. */
  isSuspect: boolean
}

interface Sent {
  readonly waiting: Waiting
  readonly result: JobResult
}

export interface ResultSenderOptions {
  readonly store: ResultStore
  readonly admins: Admins
  readonly logs: JobLogs
  readonly clock: Clock
  readonly logger: Logger
  readonly events: TypedEventEmitter<XxlJobExecutorEventMap>
}

/**
 * Sends results to the admins, the oldest first, until one has taken each of them. Those with which an admin broke down
 * go behind the others: each is about a run of its own, so that their order says nothing to an admin.
 */
export class ResultSender {
  readonly #options: ResultSenderOptions
  readonly #gate: Gate
  readonly #queue = new SendOrder<Waiting>()
  /** Refused alone, or not to be read now; they wait for the next try. */
  #refused: Waiting[] = []
  /** Those without a file. They are in one of the lists too, or on their way. */
  readonly #unkept = new Map<Waiting, JobResult>()
  #inMemory = 0
  /** How many are on their way to an admin, and in neither list. */
  #onTheirWay = 0
  #loop: Promise<void> | null = null
  readonly #pause: InterruptibleSleep
  /** The loop ends when there is nothing to send, or admins take nothing. */
  #isStopping = false
  /** The loop ends after what it sends now. */
  #isOver = false
  #refusals = 0
  /** Most suspects of one request. It grows while admins take them: after an outage all that wait are suspect. */
  #suspectsMax = 1
  /** Whether it was said that results wait. */
  #hasFailed = false

  constructor(options: ResultSenderOptions) {
    this.#options = options
    this.#gate = new Gate(options.clock)
    this.#pause = new InterruptibleSleep(options.clock)
  }

  /** How many results no admin has yet. */
  get size(): number {
    return this.#queue.size + this.#refused.length + this.#onTheirWay
  }

  start(): void {
    const found = this.#options.store.open()
    this.#queue.add(found.map((kept) => ({ kept, result: null, isSuspect: false })))
    this.#loop = this.#run()
    unawaited(this.#loop, (error) => {
      logThrown(this.#options.logger, error, 'the results of XXL-JOB runs are sent no more')
    })
  }

  /** Takes 1 to `batchMax`. On disk when this returns, where the disk takes them. */
  add(results: readonly JobResult[]): void {
    const places = this.#options.store.keep(results)
    for (const [at, result] of results.entries()) {
      const kept = places?.[at] ?? null
      const isInMemory = kept === null || this.#inMemory < inMemoryMax
      if (isInMemory) this.#inMemory++
      const waiting = { kept, result: isInMemory ? result : null, isSuspect: false }
      if (kept === null) this.#unkept.set(waiting, result)
      this.#queue.add([waiting])
    }
    this.#gate.wake()
  }

  /** Something says that an admin is there. */
  adminIsBack(): void {
    if (this.size > 0) this.#gate.wake()
  }

  /**
   * Sends what there is, at most for so long, and no more once admins take nothing; what is left stays on disk, where
   * the disk takes it. Never rejects.
   */
  async stop(limitMs: number): Promise<void> {
    if (this.#loop === null) return
    this.#isStopping = true
    this.#pause.end()
    this.#gate.wake()
    const hasEnded = this.#loop.catch(() => {})
    await settledWithin(this.#options.clock, limitMs, hasEnded)
    this.#isOver = true
    await hasEnded
    await this.#keepAgain()
    const { logger } = this.#options
    const lost = this.#unkept.size
    if (lost > 0) {
      const message = 'results of XXL-JOB runs were not sent, and the disk does not take them: they are lost'
      logger.error({ count: lost }, message)
    }
    if (this.size === lost) return
    const message = 'results of XXL-JOB runs were not sent; they are kept and sent after the next start'
    logger.warn({ count: this.size - lost }, message)
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const batch = this.#take()
      if (batch.length > 0 && (await this.#send(batch))) continue
      if (batch.length === 0 && this.#queue.size > 0) {
        // None of many could be read. The others are tried as well, but not all in one turn.
        await nextTurn(this.#options.clock)
        continue
      }
      if (this.#isStopping) return
      if (batch.length > 0 || this.#refused.length > 0) await this.#rest()
      else await this.#gate.wait(retryMs)
    }
  }

  /** After a failure. What was refused or could not be read is tried again behind the others. */
  async #rest(): Promise<void> {
    await this.#keepAgain()
    await this.#pause.sleep(pauseMs)
    if (!this.#isStopping) await this.#gate.wait(retryMs - pauseMs)
    this.#queue.add(this.#refused)
    this.#refused = []
    this.#refusals = 0
  }

  /** What the disk did not take at the end of its run: some in each turn, which share a file. */
  async #keepAgain(): Promise<void> {
    const { store, clock } = this.#options
    while (this.#unkept.size > 0) {
      const some = this.#someUnkept()
      const places = store.keep(some.map(({ result }) => result))
      if (places === null) return
      for (const [at, { waiting }] of some.entries()) {
        waiting.kept = places[at] ?? null
        this.#unkept.delete(waiting)
      }
      if (this.#unkept.size > 0) await nextTurn(clock)
    }
  }

  #someUnkept(): Sent[] {
    const some: Sent[] = []
    let chars = 0
    for (const [waiting, result] of this.#unkept) {
      some.push({ waiting, result })
      chars += result.handleMsg.length
      if (some.length === keptAtOnce || chars >= keptChars) break
    }
    return some
  }

  /** Looks at so many at most that the event loop goes on, also when none can be read. */
  #take(): Sent[] {
    const batch: Sent[] = []
    let chars = 0
    for (let looks = 0; looks < 2 * batchMax && batch.length < batchMax && chars < batchChars; looks++) {
      const next = this.#queue.first
      if (next === undefined || !this.#goesWith(batch, next)) break
      this.#queue.takeFirst()
      const result = next.result ?? (next.kept === null ? null : this.#options.store.read(next.kept))
      if (result === 'later') this.#refused.push(next)
      if (result === null || result === 'later') continue
      batch.push({ waiting: next, result })
      chars += result.handleMsg.length
    }
    return batch
  }

  /** What may be what an admin cannot take holds up no others. */
  #goesWith(batch: readonly Sent[], next: Waiting): boolean {
    const first = batch[0]
    if (first === undefined) return true
    if (first.waiting.isSuspect !== next.isSuspect) return false
    return !next.isSuspect || batch.length < this.#suspectsMax
  }

  /** False when admins take nothing now. */
  async #send(batch: readonly Sent[]): Promise<boolean> {
    this.#onTheirWay = batch.length
    const answer = await this.#options.admins.callback(batch.map(({ result }) => result))
    this.#onTheirWay = 0
    if (answer.kind === 'accepted') {
      this.#accepted(batch, answer.address)
      return true
    }
    this.#suspectsMax = 1
    const waiting = batch.map((sent) => sent.waiting)
    if (answer.kind === 'unreachable') this.#queue.putBack(waiting)
    else if (answer.kind === 'unanswered') {
      // One of them may be what the admin cannot answer for: the others go first.
      for (const each of waiting) each.isSuspect = true
      this.#queue.add(waiting)
    } else if (waiting.length > 1) {
      for (const each of waiting) each.isSuspect = true
      this.#queue.putBack(waiting)
      return true
    } else {
      this.#refused.push(...waiting)
      this.#refusals++
      if (this.#refusals < refusalsMax && this.#queue.size > 0) return true
    }
    this.#say(batch, answer.error)
    return false
  }

  #accepted(batch: readonly Sent[], adminAddress: string): void {
    const { store, logs, events, logger } = this.#options
    for (const { waiting, result } of batch) {
      if (waiting.kept !== null) store.remove(waiting.kept)
      this.#unkept.delete(waiting)
      if (waiting.result !== null) this.#inMemory--
      this.#note(logs, result, `result sent to ${adminAddress}`)
    }
    this.#refusals = 0
    if (batch[0]?.waiting.isSuspect === true) this.#suspectsMax = Math.min(2 * this.#suspectsMax, batchMax)
    if (this.#hasFailed)
      logger.info({ adminAddress, waiting: this.size }, 'an XXL-JOB admin takes results again')
    this.#hasFailed = false
    events.emit('resultsSent', { adminAddress, logIds: batch.map(({ result }) => result.logId) })
  }

  /** Once, until an admin takes results again. */
  #say(batch: readonly Sent[], error: SchedulerError): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    const { logs, events, logger } = this.#options
    for (const { result } of batch)
      this.#note(logs, result, `result not sent, it is sent again: ${error.message}`)
    logThrown(
      logger,
      error,
      'no XXL-JOB admin takes results; they are kept and sent again',
      { waiting: this.size },
      'warn',
    )
    events.emit('resultsWaiting', { error, count: this.size })
  }

  #note(logs: JobLogs, { logId, logDateTimeMs }: JobResult, text: string): void {
    try {
      logs.append(logId, logDateTimeMs, text)
    } catch (error) {
      logThrown(this.#options.logger, error, 'the log of an XXL-JOB run cannot be written', { logId })
    }
  }
}
