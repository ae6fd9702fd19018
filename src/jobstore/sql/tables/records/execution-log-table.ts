import type { EpochMs } from '../../../../time/clock.ts'
import {
  decodeLines,
  type ExecutionLogChunk,
  type ExecutionLogLine,
  encodeLines,
} from '../../../execution-log.ts'
import { type RowsQuery, storeRows, upsertQuery } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  sqlQuery,
} from '../../kernel/statement.ts'
import { integer, readable, textOrNull } from '../encoding/columns.ts'
import { storable } from '../encoding/storable-text.ts'

const key = { fire_instance_id: 'text', first_line: 'bigint' } as const
const columns = {
  ...key,
  last_line: 'bigint',
  logged_time: 'bigint',
  log_lines: 'text',
} as const

/** The rows of `execution_log`: each holds lines that one execution logged one after the other. */
export class ExecutionLogTable {
  readonly #scheduler: string
  readonly #statements: ExecutionLogStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#scheduler = vocabulary.schedulerName
    this.#statements = executionLogStatements(vocabulary)
  }

  /** Stores chunks; one that was stored before may have grown since, when the answer was lost. */
  *write(chunks: readonly ExecutionLogChunk[]): SqlProgram<void> {
    const rows = chunks.flatMap(({ fireInstanceId, lines }) => {
      const [from, to] = [lines[0], lines.at(-1)]
      if (from === undefined || to === undefined) return []
      return {
        fire_instance_id: fireInstanceId,
        first_line: from.line,
        last_line: to.line,
        logged_time: from.timeMs,
        log_lines: storable(encodeLines(lines)),
      }
    })
    yield* storeRows(this.#scheduler, rows, this.#statements.put)
  }

  /**
   * The lines of an execution in order, from the row that holds the line behind one; `limit` rows at most. Its last
   * lines may be in the history, with it.
   */
  *find(fireInstanceId: string, after: number, limit: number): SqlProgram<readonly ExecutionLogLine[]> {
    const { find, findLast } = this.#statements
    const place = { scheduler: this.#scheduler, id: fireInstanceId }
    const rows = yield* all(find({ ...place, after, limit }))
    const last = yield* all(findLast(place))
    const lines = [...rows, ...last].flatMap(linesOf)
    if (last.length === 0) return lines
    // When an answer was lost, lines came again.
    const byNumber = new Map(lines.map((line) => [line.line, line]))
    return [...byNumber.values()].sort((a, b) => a.line - b.line)
  }

  /** Deletes rows from before an instant, and the oldest of more than `maxRows`; about `limit` at most. */
  *prune(beforeMs: EpochMs, maxRows: number, limit: number): SqlProgram<number> {
    const scheduler = this.#scheduler
    const nth = yield* first(this.#statements.nth({ scheduler, skipped: maxRows }))
    const surplusMs = nth === null ? beforeMs : integer(nth, 'logged_time') + 1
    const before = Math.max(beforeMs, surplusMs)
    return yield* run(this.#statements.deleteBefore({ scheduler, before, limit }))
  }
}

function linesOf(row: SqlRow): readonly ExecutionLogLine[] {
  return decodeLines(readable(textOrNull, row, 'log_lines', null) ?? '[]')
}

interface ExecutionLogStatements {
  readonly put: RowsQuery
  readonly find: SqlQuery<{ scheduler: string; id: string; after: number; limit: number }>
  readonly findLast: SqlQuery<{ scheduler: string; id: string }>
  readonly nth: SqlQuery<{ scheduler: string; skipped: number }>
  readonly deleteBefore: SqlQuery<{ scheduler: string; before: number; limit: number }>
}

export function executionLogStatements(vocabulary: SqlVocabulary): ExecutionLogStatements {
  const { dialect, names } = vocabulary
  return {
    put: upsertQuery(vocabulary, names.executionLog, key, columns),
    find: sqlQuery(
      dialect,
      `SELECT l.log_lines FROM ${names.executionLog} AS l
       WHERE l.sched_name = :scheduler AND l.fire_instance_id = :id AND l.last_line > :after
       ORDER BY l.first_line LIMIT :limit`,
    ),
    findLast: sqlQuery(
      dialect,
      `SELECT h.log_lines FROM ${names.history} AS h
       WHERE h.sched_name = :scheduler AND h.fire_instance_id = :id AND h.log_lines IS NOT NULL`,
    ),
    nth: sqlQuery(
      dialect,
      `SELECT l.logged_time FROM ${names.executionLog} AS l WHERE l.sched_name = :scheduler
       ORDER BY l.logged_time DESC LIMIT 1 OFFSET :skipped`,
    ),
    deleteBefore: sqlQuery(
      dialect,
      `DELETE FROM ${names.executionLog} WHERE (sched_name, fire_instance_id, first_line) IN (
         SELECT l.sched_name, l.fire_instance_id, l.first_line FROM ${names.executionLog} AS l
         WHERE l.sched_name = :scheduler AND l.logged_time < :before ORDER BY l.logged_time LIMIT :limit)`,
    ),
  }
}
