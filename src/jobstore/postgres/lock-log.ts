import type { Logger } from '../../core/logger.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import type { LockHolder, LockWait } from '../lock-wait.ts'
import { ToldLately } from './told-lately.ts'

/** Longest statement in a line, in characters. */
const statementMax = 200
/** How many of those who hold a lock a line names. */
const holdersMax = 3
/** A little less than a minute, because what is reported each minute comes a little earlier or later. */
const tellAgainMs = 55_000

/**
 * Says in the log who holds a lock for which statements wait. While one session locks a table, all that the node does
 * waits for it, and for each other: it is told once a minute, of the session whose transaction is the oldest.
 */
export class LockLog {
  readonly #logger: Logger
  readonly #told: ToldLately

  /** `elapsedMs` is monotonic time. */
  constructor(logger: Logger, elapsedMs: () => number) {
    this.#logger = logger
    this.#told = new ToldLately(tellAgainMs, elapsedMs)
  }

  tell(wait: LockWait): void {
    const { holders, statement } = wait
    if (!this.#told.isNews(String(holders[0]?.processId))) return
    const named = holders.slice(0, holdersMax).map(textOfHolder)
    const further = holders.length > holdersMax ? ` and ${holders.length - holdersMax} more` : ''
    const message = `a statement waits for a lock of ${named.join(' and ')}${further}`
    this.#logger.warn({ ...wait, statement: beginningOf(statement, statementMax) }, message)
  }
}

function textOfHolder({ processId, application, state, statement, transactionAgeMs }: LockHolder): string {
  const age = transactionAgeMs === null ? '' : `for ${Math.round(transactionAgeMs / 1000)} s`
  const facts = [
    [application, state, age].filter((fact) => fact !== '').join(', '),
    beginningOf(statement, statementMax),
  ]
  return `session ${processId} (${facts.filter((fact) => fact !== '').join(': ')})`
}
