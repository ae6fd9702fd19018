import type { EpochMs } from '../../../../time/clock.ts'
import type { ExecutionLogChunk, ExecutionLogLine } from '../../../execution-log.ts'
import type { Bounds } from '../../kernel/bounds.ts'
import { type RowsQuery, storeRows, upsertQuery } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, run, type SqlProgram, type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import { logLinesOf, logTextOf } from '../encoding/log-lines.ts'
import { RowsAhead, type TimedRows, timeOfNth } from '../encoding/rows-ahead.ts'
import { endOf, type OldestRowsStatements, oldestRowsStatements } from './oldest-rows.ts'

const key = { fire_instance_id: 'text', first_line: 'bigint' } as const
const columns = {
  ...key,
  last_line: 'bigint',
  logged_time: 'bigint',
  log_lines: 'text',
} as const

/** The rows of `execution_log`: each holds lines that one execution logged one after the other. */
export class ExecutionLogTable {
  readonly ahead: RowsAhead
  readonly #scheduler: string
  readonly #statements: ExecutionLogStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#scheduler = vocabulary.schedulerName
    this.ahead = new RowsAhead(vocabulary, executionLogRows(vocabulary))
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
        log_lines: logTextOf(lines),
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
    const lines = [...rows, ...last].flatMap(logLinesOf)
    if (last.length === 0) return lines
    // When an answer was lost, lines came again.
    const byNumber = new Map(lines.map((line) => [line.line, line]))
    return [...byNumber.values()].sort((a, b) => a.line - b.line)
  }

  /** The time of the newest row beyond `maxRows`; null when there are no more. Reads all of those. */
  *surplus(maxRows: number): SqlProgram<EpochMs | null> {
    return yield* timeOfNth(this.#statements.nth({ scheduler: this.#scheduler, skipped: maxRows }))
  }

  /** Deletes rows within bounds; about `limit` at most. */
  *prune(bounds: Bounds<EpochMs>, limit: number): SqlProgram<number> {
    const values = { scheduler: this.#scheduler, before: endOf(bounds), limit }
    return yield* run(this.#statements.deleteBefore(values))
  }
}

interface ExecutionLogStatements extends OldestRowsStatements {
  readonly put: RowsQuery
  readonly find: SqlQuery<{ scheduler: string; id: string; after: number; limit: number }>
  readonly findLast: SqlQuery<{ scheduler: string; id: string }>
}

/** Its rows by their time. */
export function executionLogRows({ names }: SqlVocabulary): TimedRows {
  return { table: names.executionLog, time: 'logged_time', key }
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
    ...oldestRowsStatements(vocabulary, executionLogRows(vocabulary)),
  }
}
