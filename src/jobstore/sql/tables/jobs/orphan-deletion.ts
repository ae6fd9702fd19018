import type { JobKey } from '../../../../core/key.ts'
import type { PendingReply } from '../../kernel/statement.ts'
import { jobKeyOf } from '../encoding/key-rows.ts'

/**
 * A deletion of those among some jobs that have lost their last trigger. Which these are comes with the answer to the
 * COMMIT, so that no round trip is spent on it.
 */
export class OrphanDeletion {
  /** Those that may have lost it. */
  readonly keys: readonly JobKey[]
  readonly #replies: readonly PendingReply[]
  #gone: readonly JobKey[] = []

  constructor(keys: readonly JobKey[], replies: readonly PendingReply[]) {
    this.keys = keys
    this.#replies = replies
  }

  /** Whether the answer has come: it is lost where the connection broke on the COMMIT. */
  get isAnswered(): boolean {
    return this.#replies.every(({ hasCome }) => hasCome)
  }

  /** Where the answer was lost: those that are gone since. */
  noteGone(keys: readonly JobKey[]): void {
    this.#gone = keys
  }

  /** After the commit: the jobs that were deleted. */
  get deleted(): readonly JobKey[] {
    if (!this.isAnswered) return this.#gone
    return this.#replies.flatMap(({ reply }) => reply.rows.map(jobKeyOf))
  }
}
