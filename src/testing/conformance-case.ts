/**
 * One sentence about how a store or pool behaves, and the code that checks it. Register it with any test runner:
 * `test(case.name, () => case.run())`.
 */
export interface ConformanceCase {
  /** The subject of the sentence; cases of one area come one after the other. */
  readonly area: string
  /** The sentence. Unique within its area. */
  readonly name: string
  /** Rejects when the sentence is not true. */
  readonly run: () => Promise<void>
}
