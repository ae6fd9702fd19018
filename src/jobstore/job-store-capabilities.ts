/** What a store can do. The conformance suite chooses its cases by it. */
export interface JobStoreCapabilities {
  /** Jobs and triggers survive the process. */
  readonly persistent: boolean
  /** Several schedulers may work on the same data. */
  readonly clustered: boolean
  /** Executions that ended are remembered. Default false. */
  readonly history?: boolean
  /** The store has `records`, and keeps every kind of them. Default false. */
  readonly records?: boolean
  /** The store has `acquireAndFire`. Default false. */
  readonly firesAtOnce?: boolean
  /** The store has `scheduleAndFire`. Default false. */
  readonly firesOnSchedule?: boolean
  /** Jobs can be scheduled inside of a transaction of the user's own. Default false. */
  readonly sharedTransactions?: boolean
  /** The store splits firings of sharded jobs, and has `shards`. Default false. */
  readonly sharding?: boolean
  /** Firings may go on elsewhere: the store has `awaitedResults`. Default false. */
  readonly awaitedResults?: boolean
  /** The store has `changeDefinitions`. Default false. */
  readonly changesDefinitions?: boolean
  /**
   * The longest that a call waits for locks of others while the database is well, if that has a limit. A shutdown that
   * waits without one gives each step of the store 5 seconds more than this, and 10 seconds at least. Milliseconds.
   * Default 0.
   */
  readonly longestLockWaitMs?: number
}
