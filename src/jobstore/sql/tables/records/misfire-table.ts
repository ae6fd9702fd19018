import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import {
  isMisfireScan,
  type Misfire,
  type MisfireCause,
  type MisfireCountQuery,
  type MisfireCounts,
  type MisfireCursor,
  type MisfireQuery,
  misfireCauses,
  misfireCounts,
  misfirePolicies,
  misfiresCounted,
  misfiresScanned,
  wantedCauses,
} from '../../../misfires.ts'
import type { Page } from '../../../queries.ts'
import type { Bounds } from '../../kernel/bounds.ts'
import { Conditions } from '../../kernel/conditions.ts'
import {
  type NewestFirstQuery,
  type NewestFirstTable,
  newestFirstPage,
  newestFirstQuery,
} from '../../kernel/newest-first.ts'
import { insertMissingQuery, isAmongFree, type RowsQuery, storeRows } from '../../kernel/row-set.ts'
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
import { anyText, instant, integer, integerOrNull, readable } from '../encoding/columns.ts'
import { jobKeyOf, triggerKeyOf } from '../encoding/key-rows.ts'
import { RowsAhead, type TimedRows } from '../encoding/rows-ahead.ts'

const key = { noticed_time: 'bigint', misfire_id: 'text' } as const
const columns = {
  ...key,
  trigger_name: 'text',
  trigger_group: 'text',
  job_name: 'text',
  job_group: 'text',
  cause: 'text',
  policy: 'text',
  from_time: 'bigint',
  to_time: 'bigint',
  fire_count: 'bigint',
  instance_name: 'text',
} as const

/** Rows with a time that no Date can hold are left out. */
const hasPlace = `m.noticed_time BETWEEN ${String(-instantMaxMs)} AND ${String(instantMaxMs)}`

/** The rows of `misfires`: each holds planned instants that a trigger missed for one reason. */
export class MisfireTable {
  readonly ahead: RowsAhead
  readonly #vocabulary: SqlVocabulary
  readonly #statements: MisfireStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
    this.ahead = new RowsAhead(vocabulary, misfireRows(vocabulary))
    this.#statements = misfireStatements(vocabulary)
  }

  /** Stores misfires; those that are stored already stay as they are. */
  *write(misfires: readonly Misfire[]): SqlProgram<void> {
    yield* storeRows(this.#vocabulary.schedulerName, misfires.map(rowOf), this.#statements.insert)
  }

  /** Those that were noticed last first. */
  *find(query: MisfireQuery, size: number): SqlProgram<Page<Misfire, MisfireCursor>> {
    const given = { scheduler: this.#vocabulary.schedulerName, size }
    const read = { itemOf: misfireOf, cursorOf }
    return yield* newestFirstPage(misfiresQuery(this.#vocabulary, query), given, read)
  }

  /** The numbers of those of a time. */
  *count({ from, to }: MisfireCountQuery): SqlProgram<MisfireCounts> {
    const rows = yield* all(
      this.#statements.count({
        scheduler: this.#vocabulary.schedulerName,
        fromMs: from?.getTime() ?? -instantMaxMs,
        toMs: to?.getTime() ?? instantMaxMs + 1,
        limit: misfiresCounted,
      }),
    )
    return misfireCounts(rows.map(countsOf))
  }

  /** The place of the newest row beyond `maxRows`; null when there are no more. Reads all of those. */
  *surplus(maxRows: number): SqlProgram<MisfireCursor | null> {
    const values = { scheduler: this.#vocabulary.schedulerName, skipped: maxRows }
    const nth = yield* first(this.#statements.nth(values))
    return nth && cursorOf(nth)
  }

  /** Deletes rows within bounds; `limit` at most. */
  *prune({ beforeMs, surplus }: Bounds<MisfireCursor>, limit: number): SqlProgram<number> {
    const scheduler = this.#vocabulary.schedulerName
    // Before every id of that instant.
    const oldest: MisfireCursor = { noticedTimeMs: beforeMs, id: '' }
    const { noticedTimeMs, id } = surplus !== null && surplus.noticedTimeMs >= beforeMs ? surplus : oldest
    return yield* run(this.#statements.deleteUpTo({ scheduler, time: noticedTimeMs, id, limit }))
  }
}

interface MisfireStatements {
  readonly insert: RowsQuery
  readonly count: SqlQuery<{ scheduler: string; fromMs: number; toMs: number; limit: number }>
  readonly nth: SqlQuery<{ scheduler: string; skipped: number }>
  readonly deleteUpTo: SqlQuery<{ scheduler: string; time: number; id: string; limit: number }>
}

/** Its rows by their time. */
export function misfireRows({ names }: SqlVocabulary): TimedRows {
  return { table: names.misfires, time: 'noticed_time', key }
}

export function misfireStatements(vocabulary: SqlVocabulary): MisfireStatements {
  const { dialect, names } = vocabulary
  return {
    insert: insertMissingQuery(vocabulary, names.misfires, columns),
    // A sum of doubles cannot overflow, whatever others wrote into the column.
    count: sqlQuery(
      dialect,
      `SELECT m.cause, COUNT(*) AS row_count, SUM(CAST(COALESCE(m.fire_count, 1) AS DOUBLE PRECISION)) AS fires
       FROM (SELECT c.cause, c.fire_count FROM ${names.misfires} AS c
         WHERE c.sched_name = :scheduler AND c.noticed_time >= :fromMs AND c.noticed_time < :toMs
         ORDER BY c.noticed_time DESC, c.misfire_id DESC LIMIT :limit) AS m
       GROUP BY m.cause`,
    ),
    nth: sqlQuery(
      dialect,
      `SELECT m.noticed_time, m.misfire_id FROM ${names.misfires} AS m
       WHERE m.sched_name = :scheduler AND ${hasPlace}
       ORDER BY m.noticed_time DESC, m.misfire_id DESC LIMIT 1 OFFSET :skipped`,
    ),
    deleteUpTo: sqlQuery(
      dialect,
      `DELETE FROM ${names.misfires} AS t WHERE ${isAmongFree(dialect, 't', 'm', {
        key: ['sched_name', 'noticed_time', 'misfire_id'],
        query: `FROM ${names.misfires} AS m
          WHERE m.sched_name = :scheduler AND (m.noticed_time, m.misfire_id) <= (:time, :id)
          ORDER BY m.noticed_time, m.misfire_id LIMIT :limit`,
      })}`,
    ),
  }
}

/** The misfires of a query, those that were noticed last first. */
export function misfiresQuery(vocabulary: SqlVocabulary, query: MisfireQuery): NewestFirstQuery {
  const { after, from, to } = query
  const indexed = new Conditions('m.sched_name = :scheduler', hasPlace)
  indexed.add('m.noticed_time >= :fromMs', { fromMs: from?.getTime() })
  indexed.add('m.noticed_time < :toMs', { toMs: to?.getTime() })
  indexed.add('(m.noticed_time, m.misfire_id) < (:afterMs, :afterId)', {
    afterMs: after?.noticedTimeMs,
    afterId: after?.id,
  })
  const table: NewestFirstTable = {
    table: vocabulary.names.misfires,
    alias: 'm',
    time: 'noticed_time',
    id: 'misfire_id',
    columns,
    scannedMax: misfiresScanned,
  }
  const tried = isMisfireScan(query) ? triedConditions(query) : null
  return newestFirstQuery(vocabulary, table, { indexed, tried })
}

function triedConditions(query: MisfireQuery): Conditions {
  const { jobGroup, jobKey, triggerKey } = query
  const tried = new Conditions('m.sched_name = :scheduler')
  tried.add('m.trigger_name = :trigger AND m.trigger_group = :triggerGroup', {
    trigger: triggerKey?.name,
    triggerGroup: triggerKey?.group,
  })
  tried.add('m.job_name = :job AND m.job_group = :jobGroup', { job: jobKey?.name, jobGroup: jobKey?.group })
  tried.add('m.job_group = :group', { group: jobGroup })
  tried.addOneOf('m.cause', 'cause', wantedCauses(query))
  return tried
}

function rowOf(misfire: Misfire): object {
  return {
    noticed_time: misfire.noticedTimeMs,
    misfire_id: misfire.id,
    trigger_name: misfire.triggerKey.name,
    trigger_group: misfire.triggerKey.group,
    job_name: misfire.jobKey?.name ?? null,
    job_group: misfire.jobKey?.group ?? null,
    cause: misfire.cause,
    policy: misfire.policy,
    from_time: misfire.fromMs,
    to_time: misfire.toMs,
    fire_count: misfire.count,
    instance_name: misfire.node,
  }
}

function misfireOf(row: SqlRow): Misfire {
  return {
    ...cursorOf(row),
    triggerKey: triggerKeyOf(row),
    jobKey: typeof row['job_name'] === 'string' ? jobKeyOf(row) : null,
    cause: causeOf(row),
    policy: misfirePolicies.find((policy) => policy === row['policy']) ?? null,
    fromMs: readable(instant, row, 'from_time', 0),
    toMs: readable(instant, row, 'to_time', 0),
    count: readable(integerOrNull, row, 'fire_count', null),
    node: anyText(row, 'instance_name'),
  }
}

function causeOf(row: SqlRow): MisfireCause {
  return misfireCauses.find((cause) => cause === row['cause']) ?? 'late'
}

function countsOf(row: SqlRow): { cause: MisfireCause; rows: number; fires: number } {
  const rows = integer(row, 'row_count')
  return { cause: causeOf(row), rows, fires: readable(integer, row, 'fires', rows) }
}

function cursorOf(row: SqlRow): MisfireCursor {
  return { noticedTimeMs: instant(row, 'noticed_time'), id: anyText(row, 'misfire_id') }
}
