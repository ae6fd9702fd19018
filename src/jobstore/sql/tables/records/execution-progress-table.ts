import type { ExecutionProgress } from '../../../execution-log.ts'
import { exists, isAmongFree, type RowsQuery, storeRows, upsertQuery } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, later, run, type SqlProgram, type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import { anyText, readable, textOrNull } from '../encoding/columns.ts'
import { storable } from '../encoding/storable-text.ts'

const key = { fire_instance_id: 'text' } as const
const columns = { ...key, progress: 'text' } as const

/** The rows of `execution_progress`: what running executions last said. */
export class ExecutionProgressTable {
  readonly #scheduler: string
  readonly #statements: ExecutionProgressStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#scheduler = vocabulary.schedulerName
    this.#statements = executionProgressStatements(vocabulary)
  }

  /** Writes what executions said, and deletes the rows of those that have ended. */
  *write(progress: readonly ExecutionProgress[]): SqlProgram<void> {
    const rows = progress.flatMap(({ fireInstanceId, progressText }) =>
      progressText === null ? [] : [{ fire_instance_id: fireInstanceId, progress: storable(progressText) }],
    )
    yield* storeRows(this.#scheduler, rows, this.#statements.put)
    const ended = progress.flatMap(({ fireInstanceId, progressText }) =>
      progressText === null ? [fireInstanceId] : [],
    )
    if (ended.length === 0) return
    yield* later(this.#statements.delete({ scheduler: this.#scheduler, ids: JSON.stringify(ended) }))
  }

  /** By fire instance id. */
  *load(): SqlProgram<ReadonlyMap<string, string | null>> {
    const rows = yield* all(this.#statements.load({ scheduler: this.#scheduler }))
    return new Map(
      rows.map((row) => [anyText(row, 'fire_instance_id'), readable(textOrNull, row, 'progress', null)]),
    )
  }

  /** Deletes what executions left that ended without saying so, with their node. */
  *prune(limit: number): SqlProgram<number> {
    return yield* run(this.#statements.deleteLeft({ scheduler: this.#scheduler, limit }))
  }
}

interface ExecutionProgressStatements {
  readonly put: RowsQuery
  readonly delete: SqlQuery<{ scheduler: string; ids: string }>
  readonly load: SqlQuery<{ scheduler: string }>
  readonly deleteLeft: SqlQuery<{ scheduler: string; limit: number }>
}

export function executionProgressStatements(vocabulary: SqlVocabulary): ExecutionProgressStatements {
  const { dialect, names } = vocabulary
  const inFlight = exists(
    dialect,
    `FROM ${names.firedTriggers} AS f WHERE f.sched_name = p.sched_name AND f.entry_id = p.fire_instance_id`,
  )
  return {
    put: upsertQuery(vocabulary, names.executionProgress, key, columns),
    delete: sqlQuery(
      dialect,
      `DELETE FROM ${names.executionProgress} WHERE sched_name = :scheduler
         AND ${dialect.isAmongTexts('fire_instance_id', 'ids')}`,
    ),
    load: sqlQuery(
      dialect,
      `SELECT p.fire_instance_id, p.progress FROM ${names.executionProgress} AS p WHERE p.sched_name = :scheduler`,
    ),
    deleteLeft: sqlQuery(
      dialect,
      `DELETE FROM ${names.executionProgress} AS t WHERE ${isAmongFree(dialect, 't', 'p', {
        key: ['sched_name', 'fire_instance_id'],
        query: `FROM ${names.executionProgress} AS p WHERE p.sched_name = :scheduler AND NOT ${inFlight}
          LIMIT :limit`,
      })}`,
    ),
  }
}
