import type { Clock } from '../../../time/clock.ts'
import type { StoreProbe } from '../../store-probe.ts'
import type { SqlProgram } from '../kernel/statement.ts'

const keywordPattern = /^\s*(\w+)/

/** A program that tells the probe how long each statement took that it waits for. */
export function* timed<Answer>(
  program: SqlProgram<Answer>,
  clock: Clock,
  probe: StoreProbe,
): SqlProgram<Answer> {
  let step = program.next()
  while (step.done !== true) {
    const statement = step.value
    const sentMs = clock.elapsedMs()
    const reply = yield statement
    if (statement.pending === undefined) {
      const [, keyword = 'other'] = keywordPattern.exec(statement.text) ?? []
      probe.statementAnswered(keyword.toLowerCase(), clock.elapsedMs() - sentMs)
    }
    step = program.next(reply)
  }
  return step.value
}
