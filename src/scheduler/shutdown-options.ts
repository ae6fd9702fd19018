export interface ShutdownOptions {
  /** Resolve only when running jobs have ended. Default false. */
  readonly waitForJobsToComplete?: boolean
  /**
   * Wait no longer than this; then say so in a `schedulerError` and end the shutdown within a second, or two where the
   * store has to be cut off. Jobs that still run go on, also in threads, and keep the process alive: `interruptAfterMs`
   * and `interruptJobsOnShutdown` interrupt them. Milliseconds, 0 to 2,147,483,647, default no limit. With
   * `interruptAfterMs` the default is the scheduler's `interruptGraceMs` and 1,000 after it, in which the end of a
   * terminated thread is written.
   */
  readonly timeoutMs?: number
  /**
   * Interrupt jobs that still run after this time; only with `waitForJobsToComplete`. Milliseconds, 0 to 2,147,483,647,
   * default never.
   */
  readonly interruptAfterMs?: number
}
