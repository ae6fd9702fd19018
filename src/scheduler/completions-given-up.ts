import type { JobCompletion } from '../jobstore/job-store.ts'
import type { Notifier } from './notifier.ts'

interface GivenUp {
  readonly completion: JobCompletion
  /** Whether another session's lock was in the way, rather than an error. */
  readonly isLocked: boolean
  readonly error: unknown
  readonly resolve: () => void
}

/**
 * Completions that are given up because the scheduler shuts down. They are reported as one error: a disk that is full
 * fails them all for the same reason, and each error may be an alert.
 */
export class CompletionsGivenUp {
  readonly #notifier: Notifier
  #waiting: GivenUp[] = []

  constructor(notifier: Notifier) {
    this.#notifier = notifier
  }

  add(givenUp: GivenUp): void {
    this.#waiting.push(givenUp)
  }

  /** Reports those that were added since the last time, then resolves their promises. Answers how many. */
  report(): number {
    const reported = this.#waiting
    this.#waiting = []
    const [first, ...others] = reported
    if (first === undefined) return 0
    const what =
      others.length === 0
        ? `${fireOf(first)} ended.`
        : `${reported.length} executions ended, the first of them ${fireOf(first)}.`
    this.#notifier.error(`${notTold} ${what}${whyLocked(first)}`, first.error)
    for (const other of others) {
      this.#notifier.detail(`${notTold} ${fireOf(other)} ended.${whyLocked(other)}`, other.error)
    }
    for (const { resolve } of reported) resolve()
    return reported.length
  }
}

const notTold = 'The job store could not be told that'

function fireOf({ completion }: GivenUp): string {
  return `firing ${completion.fireInstanceId} of trigger ${completion.trigger.key.toString()}`
}

function whyLocked({ isLocked }: GivenUp): string {
  return isLocked ? ' Another session holds a lock on its rows.' : ''
}
