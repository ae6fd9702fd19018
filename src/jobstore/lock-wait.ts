/** A statement of a store that waits for a lock of another session. */
export interface LockWait {
  /** The beginning of the statement, without values. */
  readonly statement: string
  /** The server process that waits. */
  readonly processId: number
  /** How long it has waited so far. */
  readonly waitedMs: number
  /**
   * The sessions that hold up the statement, the oldest transaction first. Those that hold the lock and wait for others
   * themselves are left out, except in a deadlock that the server has not found yet.
   */
  readonly holders: readonly LockHolder[]
}

/** A server process that holds a lock for which another one waits. */
export interface LockHolder {
  readonly processId: number
  /** Of the connection's `application_name`. */
  readonly application: string
  /** `active`, `idle in transaction` and so on. */
  readonly state: string
  /** Its current or last statement; the database hides it from users without the right to see it. */
  readonly statement: string
  /** Null when the database hides it from this user, or the session is in no transaction. */
  readonly transactionAgeMs: number | null
}
