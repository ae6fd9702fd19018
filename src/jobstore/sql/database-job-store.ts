import type { JobStore } from '../job-store.ts'
import type { LockWait } from '../lock-wait.ts'

/** A job store over a database. */
export interface DatabaseJobStore extends JobStore {
  /**
   * Makes the tables or brings them up to date, on a connection of its own; answers the versions that were applied, and
   * the newest one when missing parts of it were made again. Stores migrate when they start unless `migrate` is
   * `'never'`. Any number of processes may migrate at once.
   *
   * On PostgreSQL it waits for transactions of others that use a table which it changes, however long that takes.
   * `onLockWait` is told of a wait that is longer than `lockWaitWarningMs`, and again each minute; what it throws is
   * ignored.
   *
   * @throws JobPersistenceError ERR_SCHEMA_TOO_NEW when a newer release has made them, ERR_SCHEMA_TOO_OLD for a table
   * that lacks columns which cannot be added
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   */
  migrate(options?: { readonly onLockWait?: (wait: LockWait) => void }): Promise<readonly number[]>
  /**
   * What `migrate` would run, as a script of SQL in one transaction; changes nothing. `for` another database than this
   * one, without connecting: an `'empty'` one, or one in which the script of Java `'quartz'` was run.
   *
   * @throws JobPersistenceError as `migrate`
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   */
  migrationScript(options?: { readonly for?: 'empty' | 'quartz' }): Promise<string>
}
