/** The calls of a store that is measured. They return at once and never throw. */
export interface StoreProbe {
  /**
   * A statement was answered; statements whose answer is not waited for go with the next one and are not told.
   * `keyword` is its first word in lower case, such as `select`.
   */
  statementAnswered(keyword: string, durationMs: number): void
  /** A transaction was given up for a temporary reason (a lock, a deadlock, a lost connection) and is run again. */
  transactionRepeated(): void
}
