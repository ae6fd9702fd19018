import { JobPersistenceError } from '../../../core/errors.ts'
import type { SqlProgram } from './statement.ts'

/**
 * What a transaction may do to others:
 *
 * - `none`: one guarded statement that waits for no lock (a node's check-in);
 * - `rows`: touches rows that it locks or guards one by one, and that nothing else changes or looks for without their
 *   locks (acquiring, firing, completing, resuming one trigger);
 * - `shared`: stores jobs and triggers, and what is known of pauses of one; excludes `exclusive`, not other `shared`
 *   ones, which meet at the rows of the jobs;
 * - `exclusive`: changes what others depend on without naming it (groups, calendars, everything); one at a time;
 * - `cluster`: takes part in the recovery of failed nodes; one at a time, and excludes `exclusive`;
 * - `schema`: makes and changes tables, which may not exist yet; one at a time.
 */
export type TransactionLock = 'none' | 'rows' | 'shared' | 'exclusive' | 'cluster' | 'schema'

export interface TransactionOptions<Answer = unknown> {
  /** What the transaction may do to others. */
  readonly lock: TransactionLock
  /**
   * What to do about a lock that another session holds for long. `passOver` ends in a `RowsLockedError` at once,
   * for callers that go on without what is locked. `comeBack`, the default, gives up its own locks and its connection
   * and is run again later, until the time limit of the engine: what waits in a queue holds up what comes behind it.
   */
  readonly whenLocked?: 'passOver' | 'comeBack'
  /**
   * With `comeBack`, for what was passed over before and has others of this process behind it, which do not wait on the
   * server: for how many milliseconds the first of them has waited already. It waits in the server's queue for longer,
   * and ends in a `RowsLockedError` when the time is over that a caller waits for locks.
   */
  readonly hasWaitedMs?: number
  /**
   * What to do while it is not known whether a commit happened: `bounded` ends in an error that says so, `patient` asks
   * until the store is shut down, for callers that must know. Default `bounded`.
   */
  readonly onDoubt?: 'bounded' | 'patient'
  /**
   * What to do where the engine cannot tell whether the transaction was committed, because its server has crashed or a
   * standby has taken over with the commit on its way: `runAgain` for programs that find what they have stored, or a
   * look at what the program wrote. The look answers true, false (the program is run again) or null. Default: an error
   * with ERR_COMMIT_UNKNOWN, as after null.
   */
  readonly wasCommitted?: 'runAgain' | ((answer: Answer) => SqlProgram<boolean | null>)
  /**
   * Whether the commit may be answered before it is on the disk: the caller notices when a crash of the database undoes
   * it, and runs the program again. Called with the program's answer. Default: false.
   */
  readonly mayBeLost?: (answer: Answer) => boolean
  /**
   * Whether all of it, the commit included, may go in one trip where the program waits for no answer. Its locks then
   * never outlive a connection that carries no more answers. The engine cannot ask later what became of the commit: it
   * runs the program again, which must do no harm. Default: false.
   */
  readonly goesAtOnce?: boolean
}

/** A transaction was given up, and rolled back, because another session holds a lock that it needs. */
export class RowsLockedError extends JobPersistenceError {}

/** Runs programs on an engine. */
export interface SqlRunner {
  /**
   * Runs a program as one transaction: all or nothing. It is run again when the engine gave it up for a temporary
   * reason (deadlock, serialization, a lost connection), so `begin` makes a new program each time.
   *
   * @throws RowsLockedError when it was to pass over locked rows
   * @throws JobPersistenceError with the engine's error as cause; whatever the program itself throws
   */
  transact<Answer>(
    begin: () => SqlProgram<Answer>,
    options: NoInfer<TransactionOptions<Answer>>,
  ): Promise<Answer>
  /** Runs a program that only reads, without a transaction around its statements. */
  read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer>
  /** Resolves after operations under way; harmless when called twice. */
  close(): Promise<void>
}
