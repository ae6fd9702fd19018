/** A statement of a store that waits for a lock of somebody else. */
export interface LockWait {
  /** The beginning of its text, without values. */
  readonly statement: string
  /** The server process that waits. */
  readonly processId: number
  /** So far. */
  readonly waitedMs: number
  /** Who is in the way, the oldest transaction first. */
  readonly holders: readonly LockHolder[]
}

/** A server process that holds what another one waits for. */
export interface LockHolder {
  readonly processId: number
  /** Of the connection's `application_name`. */
  readonly application: string
  /** `active`, `idle in transaction` and so on. */
  readonly state: string
  /** What it runs, or ran last; the database hides it from users without the right to see it. */
  readonly statement: string
  readonly transactionAgeMs: number
}
