import { SchedulerError } from '../../../../core/errors.ts'
import { Lanes } from '../../../../core/lanes.ts'
import { unawaited } from '../../../../core/promises.ts'
import type { FireSlot } from '../../../fire-slot.ts'
import type { TriggerFiredBundle } from '../../../fired-bundle.ts'
import type { JobAndTriggers } from '../../../job-and-triggers.ts'
import { RowsLockedError } from '../../kernel/sql-runner.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlSession, SqlTransaction } from '../../session/sql-session.ts'
import type { SqlTransactor } from '../../session/sql-transactor.ts'
import { firingInDoubt } from '../steps/firing-in-doubt.ts'
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
  readonly fires: boolean
}

/** How many calls of a transaction that was given up are run at a time, each in its own transaction. */
const sideBySide = 4

/**
 * Stores what is scheduled, many calls at a time: while one transaction is under way the next calls gather and share
 * the following one, so that concurrent callers share one commit. Each call succeeds or is refused by itself. A call
 * that needs rows which another session has locked waits by itself: the others go on without it, except those that
 * depend on it. Nothing that waits for a lock fires a trigger, because it would keep a thread of the pool for as long.
 */
export class ScheduleWriter {
  readonly #transactor: SqlTransactor
  readonly #mayExpectNew: boolean
  #calls: Call[] = []
  #isWriting = false
  /** Calls that wait for locks of other sessions, and those that depend on them. */
  readonly #waiting = new WaitingCalls()
  readonly #apart = new Lanes(sideBySide)

  /** `mayExpectNew`: as in {@link scheduleMany}, for the first attempt. */
  constructor(transactor: SqlTransactor, mayExpectNew: boolean) {
    this.#transactor = transactor
    this.#mayExpectNew = mayExpectNew
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
      if (ahead.length > 0) {
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
    if (ahead.length > 0) this.#wait(call, ahead)
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

  async #storeAlone(call: Call): Promise<void> {
    try {
      await this.#apart.run(() => this.#transact([call], { whenLocked: 'passOver', fires: false }))
    } catch (error) {
      if (!(error instanceof RowsLockedError)) throw error
      await this.#transact([call], { whenLocked: 'comeBack', fires: false })
    }
  }

  async #transact(batch: readonly Call[], { whenLocked, fires }: Manner): Promise<void> {
    const requests = batch.map(({ entries, replace, slot }): ScheduleRequest => {
      return { entries, replace, ...(fires && slot !== null && { slot }) }
    })
    let outcomes: readonly ScheduleOutcome[]
    let mayExpectNew = this.#mayExpectNew
    const program = (tx: SqlTransaction): SqlProgram<readonly ScheduleOutcome[]> => {
      const first = scheduleMany(tx, requests, { mayExpectNew })
      mayExpectNew = false
      return first
    }
    try {
      outcomes = await this.#transactor.run(program, {
        lock: 'shared',
        whenLocked,
        isChange: true,
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
