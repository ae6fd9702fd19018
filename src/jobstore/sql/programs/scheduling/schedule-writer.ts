import { SchedulerError } from '../../../../core/errors.ts'
import type { JobKey } from '../../../../core/key.ts'
import { Lanes } from '../../../../core/lanes.ts'
import { unawaited } from '../../../../core/promises.ts'
import { systemClock } from '../../../../time/clock.ts'
import type { FireSlot } from '../../../fire-slot.ts'
import type { TriggerFiredBundle } from '../../../fired-bundle.ts'
import type { JobAndTriggers } from '../../../job-and-triggers.ts'
import { RowsLockedError } from '../../kernel/sql-runner.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlSession, SqlTransaction } from '../../session/sql-session.ts'
import type { SqlTransactor } from '../../session/sql-transactor.ts'
import { firingInDoubt } from '../steps/firing-in-doubt.ts'
import { JobQueues, type Queued } from './job-queues.ts'
import { ScheduleFootprint } from './schedule-footprint.ts'
import { type ScheduleOutcome, type ScheduleRequest, scheduleMany } from './scheduling.ts'
import { WaitingCalls } from './waiting-calls.ts'

interface Call extends Omit<ScheduleRequest, 'slot'> {
  /** For the trigger that may fire in the transaction; null when none may. */
  readonly slot: FireSlot | null
  readonly resolve: (fired: readonly TriggerFiredBundle[]) => void
  readonly reject: (error: unknown) => void
}

/** Most triggers of calls that share a transaction; a single call may have more. */
const triggersPerTransaction = 1000
/** What a transaction does when it meets a lock of another session, and whether it may fire triggers. */
interface Manner {
  readonly whenLocked: 'passOver' | 'comeBack'
  readonly hasWaitedMs?: number
  readonly fires: boolean
}

export interface ScheduleWriterOptions {
  /** As in {@link scheduleMany}, for the first attempt. */
  readonly mayExpectNew: boolean
  /** The longest that a call waits for locks of other sessions; 0: no limit. Milliseconds. */
  readonly lockTimeoutMs: number
}

/** How many calls of a transaction that was given up are run at a time, each in its own transaction. */
const sideBySide = 4

/**
 * Stores what is scheduled, many calls at a time: while one transaction is under way the next calls gather and share
 * the following one, so that concurrent callers share one commit. Each call succeeds or is refused by itself. A call
 * that needs rows which another session has locked waits by itself: the others go on without it, except those that
 * depend on it. Nothing that waits for a lock fires a trigger, because it would keep a thread of the pool for as long.
 *
 * Where many processes add triggers to one job, its lock goes from hand to hand. Calls that add triggers to a job that
 * is waited for wait behind each other, one queue for each job, and those that wait share the next transaction: so each
 * process stands in the server's queue once.
 */
export class ScheduleWriter {
  readonly #transactor: SqlTransactor
  readonly #options: ScheduleWriterOptions
  #calls: Call[] = []
  #isWriting = false
  /** Calls that wait for locks of other sessions, and those that depend on them. */
  readonly #waiting = new WaitingCalls()
  readonly #apart = new Lanes(sideBySide)
  readonly #queues = new JobQueues<Call>((queued, place) => this.#storeTogether(queued, place))

  constructor(transactor: SqlTransactor, options: ScheduleWriterOptions) {
    this.#transactor = transactor
    this.#options = options
  }

  async schedule(entries: readonly JobAndTriggers[], options: { readonly replace: boolean }): Promise<void> {
    await this.#call({ entries, replace: options.replace, slot: null })
  }

  /** Answers the firing of the trigger when it was fired in the transaction that stored it. */
  async scheduleAndFire(entry: JobAndTriggers, slot: FireSlot): Promise<TriggerFiredBundle | null> {
    const [fired = null] = await this.#call({ entries: [entry], replace: false, slot })
    return fired
  }

  #call(call: Omit<Call, 'resolve' | 'reject'>): Promise<readonly TriggerFiredBundle[]> {
    return new Promise((resolve, reject) => {
      this.#add({ ...call, resolve, reject })
    })
  }

  #add(call: Call): void {
    this.#calls.push(call)
    if (this.#isWriting) return
    this.#isWriting = true
    unawaited(this.#write(), call.reject)
  }

  async #write(): Promise<void> {
    // One turn of the microtask queue lets calls that are made together gather.
    await Promise.resolve()
    for (let batch = this.#takeBatch(); batch.length > 0; batch = this.#takeBatch()) {
      await this.#store(batch)
    }
    this.#isWriting = false
  }

  /** Takes the calls that come next, and puts those behind waiting calls that depend on them. */
  #takeBatch(): Call[] {
    const batch: Call[] = []
    const touched = new ScheduleFootprint()
    let triggers = 0
    let taken = 0
    for (const call of this.#calls) {
      const ahead = this.#waiting.ahead(call)
      if (ahead.length > 0 || this.#isQueued(call)) {
        // It depends on this batch too, and where its calls are then is known after the batch.
        if (touched.meets(call)) break
        this.#wait(call, ahead)
      } else {
        for (const entry of call.entries) triggers += entry.triggers.length
        if (batch.length > 0 && triggers > triggersPerTransaction) break
        batch.push(call)
        if (!this.#waiting.isEmpty) touched.add(call)
      }
      taken++
    }
    this.#calls = this.#calls.slice(taken)
    return batch
  }

  async #store(batch: readonly Call[]): Promise<void> {
    try {
      await this.#transact(batch, { whenLocked: 'passOver', fires: true })
    } catch (error) {
      if (error instanceof RowsLockedError) this.#setApart(batch)
      else if (batch.length === 1 || concernsAll(error)) for (const call of batch) call.reject(error)
      // What one call holds may be what the database refuses: the others must not fail with it.
      else for (const call of batch) await this.#storeOrWait(call)
    }
  }

  /** One before it in its batch may have met a lock. */
  async #storeOrWait(call: Call): Promise<void> {
    const ahead = this.#waiting.ahead(call)
    if (ahead.length > 0 || this.#isQueued(call)) this.#wait(call, ahead)
    else await this.#store([call])
  }

  /** Which of the calls met the lock is not known, so independent calls are run side by side. */
  #setApart(batch: readonly Call[]): void {
    for (const call of batch) this.#wait(call, this.#waiting.ahead(call))
  }

  /** Stores the call by itself when those before it have ended, well or not. */
  #wait(call: Call, ahead: readonly Promise<void>[]): void {
    const end = Promise.all(ahead)
      .then(() => this.#storeAlone(call))
      .catch(call.reject)
      .then(() => {
        this.#waiting.delete(call, end)
      })
    this.#waiting.add(call, end)
  }

  #isQueued(call: Call): boolean {
    const jobKey = onlyJobOf(call)
    return jobKey !== null && this.#queues.has(jobKey)
  }

  async #storeAlone(call: Call): Promise<void> {
    const jobKey = onlyJobOf(call)
    if (jobKey !== null) await this.#queues.run(jobKey, call, this.#elapsedMs())
    else if (!(await this.#storePastLocks([call]))) {
      await this.#transact([call], { whenLocked: 'comeBack', fires: false })
    }
  }

  /** Whether the calls were stored: no other session holds what they lock. */
  async #storePastLocks(calls: readonly Call[]): Promise<boolean> {
    try {
      await this.#apart.run(() => this.#transact(calls, { whenLocked: 'passOver', fires: false }))
      return true
    } catch (error) {
      if (error instanceof RowsLockedError) return false
      throw error
    }
  }

  /** Stores calls that add triggers to one job; answers how many of them have ended. */
  async #storeTogether(
    queued: readonly Queued<Call>[],
    { isFirst }: { readonly isFirst: boolean },
  ): Promise<number> {
    const batch = takeWhole(queued)
    const calls = batch.map(({ call }) => call)
    try {
      if (isFirst && (await this.#storePastLocks(calls))) return calls.length
      const hasWaitedMs = this.#elapsedMs() - (batch[0]?.sinceMs ?? 0)
      await this.#transact(calls, { whenLocked: 'comeBack', hasWaitedMs, fires: false })
    } catch (error) {
      if (error instanceof RowsLockedError) return this.#giveUpOldest(batch, error)
      if (calls.length > 1 && !concernsAll(error)) return this.#storeOneByOne(batch)
      for (const call of calls) call.reject(error)
    }
    return calls.length
  }

  /**
   * What one call holds may be what the database refuses. Where one is given up because of a lock, those behind it wait
   * on together: their own times go on meanwhile.
   */
  async #storeOneByOne(batch: readonly Queued<Call>[]): Promise<number> {
    for (const [index, { call, sinceMs }] of batch.entries()) {
      const hasWaitedMs = this.#elapsedMs() - sinceMs
      try {
        await this.#transact([call], { whenLocked: 'comeBack', hasWaitedMs, fires: false })
      } catch (error) {
        call.reject(error)
        if (error instanceof RowsLockedError) return index + 1
      }
    }
    return batch.length
  }

  /** Those that came later have time left; they wait on without those before them. */
  #giveUpOldest(batch: readonly Queued<Call>[], error: RowsLockedError): number {
    const nowMs = this.#elapsedMs()
    const isOver = ({ sinceMs }: Queued<Call>): boolean => nowMs - sinceMs >= this.#options.lockTimeoutMs
    const firstLeft = batch.findIndex((queued) => !isOver(queued))
    const over = firstLeft === -1 ? batch : batch.slice(0, Math.max(1, firstLeft))
    for (const { call } of over) call.reject(error)
    return over.length
  }

  /** Locks of a server last in real time, also for a scheduler with a manual clock. */
  #elapsedMs(): number {
    return systemClock.elapsedMs()
  }

  async #transact(batch: readonly Call[], { fires, ...manner }: Manner): Promise<void> {
    const requests = batch.map(({ entries, replace, slot }): ScheduleRequest => {
      return { entries, replace, ...(fires && slot !== null && { slot }) }
    })
    let outcomes: readonly ScheduleOutcome[]
    let { mayExpectNew } = this.#options
    const program = (tx: SqlTransaction): SqlProgram<readonly ScheduleOutcome[]> => {
      const first = scheduleMany(tx, requests, { mayExpectNew })
      mayExpectNew = false
      return first
    }
    try {
      outcomes = await this.#transactor.run(program, {
        lock: 'shared',
        ...manner,
        isChange: true,
        withoutFired: (stored) => stored.map((outcome) => ({ ...outcome, fired: [] })),
        ...(requests.some(({ slot }) => slot !== undefined) && firedInCall(this.#transactor.session)),
      })
    } catch (error) {
      for (const { slot } of batch) slot?.release()
      throw error
    }
    for (const [index, { slot, resolve, reject }] of batch.entries()) {
      const { refusal = null, fired = [] } = outcomes[index] ?? {}
      if (fired.length === 0) slot?.release()
      if (refusal === null) resolve(fired)
      else reject(refusal)
    }
  }
}

/** The job to which a call adds triggers, when it does nothing else. */
function onlyJobOf({ entries }: Call): JobKey | null {
  const [entry] = entries
  if (entry === undefined || entries.length > 1 || entry.job !== null) return null
  const jobKey = entry.triggers[0]?.jobKey ?? null
  const isOnly = jobKey !== null && entry.triggers.every((trigger) => trigger.jobKey?.equals(jobKey) === true)
  return isOnly ? jobKey : null
}

/** The first of those that wait, as many as a transaction may have. */
function takeWhole(queued: readonly Queued<Call>[]): readonly Queued<Call>[] {
  let triggers = 0
  const end = queued.findIndex(({ call }, index) => {
    for (const entry of call.entries) triggers += entry.triggers.length
    return index > 0 && triggers > triggersPerTransaction
  })
  return end === -1 ? [...queued] : queued.slice(0, end)
}

/** As with any firing, but where none is in flight the caller is told that it is not known. */
function firedInCall(session: SqlSession): ReturnType<typeof firingInDoubt<readonly ScheduleOutcome[]>> {
  const idsOf = (outcomes: readonly ScheduleOutcome[]): readonly string[] =>
    outcomes.flatMap(({ fired }) => fired.map(({ fireInstanceId }) => fireInstanceId))
  return firingInDoubt(session, idsOf, null)
}

/**
 * Whether each call would fail by itself, after as many tries, or may be stored already: to run it again would refuse
 * what it has stored itself.
 */
function concernsAll(error: unknown): boolean {
  return (
    SchedulerError.is(error) &&
    (error.code === 'ERR_DATABASE_UNAVAILABLE' || error.code === 'ERR_COMMIT_UNKNOWN')
  )
}
