import type { EpochMs } from '../../../../time/clock.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import {
  isMisfireScan,
  type Misfire,
  type MisfireCursor,
  type MisfireQuery,
  misfireCauses,
  misfirePolicies,
  misfiresScanned,
  wantedCauses,
} from '../../../misfires.ts'
import type { Page } from '../../../queries.ts'
import { Conditions } from '../../kernel/conditions.ts'
import { insertMissingQuery, type RowsQuery, storeRows } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  type SqlValue,
  sqlQuery,
} from '../../kernel/statement.ts'
import { anyText, instant, integerOrNull, readable } from '../encoding/columns.ts'
import { jobKeyOf, triggerKeyOf } from '../encoding/key-rows.ts'

const columns = {
  noticed_time: 'bigint',
  misfire_id: 'text',
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
  readonly #vocabulary: SqlVocabulary
  readonly #statements: MisfireStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
    this.#statements = misfireStatements(vocabulary)
  }

  /** Stores misfires; those that are stored already stay as they are. */
  *write(misfires: readonly Misfire[]): SqlProgram<void> {
    yield* storeRows(this.#vocabulary.schedulerName, misfires.map(rowOf), this.#statements.insert)
  }

  /** Those that were noticed last first. */
  *find(query: MisfireQuery, size: number): SqlProgram<Page<Misfire, MisfireCursor>> {
    const { query: select, place, values } = misfiresQuery(this.#vocabulary, query)
    const scheduler = this.#vocabulary.schedulerName
    const given = { scheduler, ...values, limit: size + 1, scanned: misfiresScanned }
    const found = (yield* all(select(given))).map(misfireOf)
    const items = found.slice(0, size)
    const last = items.at(-1)
    if (found.length > size && last !== undefined) {
      return { items, next: { noticedTimeMs: last.noticedTimeMs, id: last.id } }
    }
    // The next page goes on behind the rows that were looked at.
    const next = isMisfireScan(query)
      ? cursorOf(yield* first(place({ ...given, skipped: misfiresScanned - 1 })))
      : null
    return { items, next }
  }

  /** Deletes rows from before an instant, and the oldest of more than `maxRows`; `limit` at most. */
  *prune(beforeMs: EpochMs, maxRows: number, limit: number): SqlProgram<number> {
    const scheduler = this.#vocabulary.schedulerName
    const surplus = cursorOf(yield* first(this.#statements.nth({ scheduler, skipped: maxRows })))
    // Before every id of that instant.
    const oldest: MisfireCursor = { noticedTimeMs: beforeMs, id: '' }
    const { noticedTimeMs, id } = surplus !== null && surplus.noticedTimeMs >= beforeMs ? surplus : oldest
    return yield* run(this.#statements.deleteUpTo({ scheduler, time: noticedTimeMs, id, limit }))
  }
}

interface MisfireStatements {
  readonly insert: RowsQuery
  readonly nth: SqlQuery<{ scheduler: string; skipped: number }>
  readonly deleteUpTo: SqlQuery<{ scheduler: string; time: number; id: string; limit: number }>
}

export function misfireStatements(vocabulary: SqlVocabulary): MisfireStatements {
  const { dialect, names } = vocabulary
  return {
    insert: insertMissingQuery(vocabulary, names.misfires, columns),
    nth: sqlQuery(
      dialect,
      `SELECT m.noticed_time, m.misfire_id FROM ${names.misfires} AS m
       WHERE m.sched_name = :scheduler AND ${hasPlace}
       ORDER BY m.noticed_time DESC, m.misfire_id DESC LIMIT 1 OFFSET :skipped`,
    ),
    deleteUpTo: sqlQuery(
      dialect,
      `DELETE FROM ${names.misfires} WHERE (sched_name, noticed_time, misfire_id) IN (
         SELECT m.sched_name, m.noticed_time, m.misfire_id FROM ${names.misfires} AS m
         WHERE m.sched_name = :scheduler AND (m.noticed_time, m.misfire_id) <= (:time, :id)
         ORDER BY m.noticed_time, m.misfire_id LIMIT :limit)`,
    ),
  }
}

type Values = Readonly<Record<string, SqlValue>>

/**
 * The misfires of a query, those that were noticed last first; the values are those of its conditions. Conditions that
 * the primary key does not serve are tried on a bounded number of rows; `place` is the last of them.
 */
export function misfiresQuery(
  { dialect, names }: SqlVocabulary,
  query: MisfireQuery,
): { readonly query: SqlQuery<Values>; readonly place: SqlQuery<Values>; readonly values: Values } {
  const { after, from, jobGroup, jobKey, to, triggerKey } = query
  const indexed = new Conditions('m.sched_name = :scheduler', hasPlace)
  indexed.add('m.noticed_time >= :fromMs', { fromMs: from?.getTime() })
  indexed.add('m.noticed_time < :toMs', { toMs: to?.getTime() })
  indexed.add('(m.noticed_time, m.misfire_id) < (:afterMs, :afterId)', {
    afterMs: after?.noticedTimeMs,
    afterId: after?.id,
  })
  const scanned = new Conditions('m.sched_name = :scheduler')
  scanned.add('m.trigger_name = :trigger AND m.trigger_group = :triggerGroup', {
    trigger: triggerKey?.name,
    triggerGroup: triggerKey?.group,
  })
  scanned.add('m.job_name = :job AND m.job_group = :jobGroup', { job: jobKey?.name, jobGroup: jobKey?.group })
  scanned.add('m.job_group = :group', { group: jobGroup })
  scanned.addOneOf('m.cause', 'cause', wantedCauses(query))
  const inOrder = 'ORDER BY m.noticed_time DESC, m.misfire_id DESC'
  const rows = isMisfireScan(query)
    ? `(SELECT * FROM ${names.misfires} AS m WHERE ${indexed.text} ${inOrder} LIMIT :scanned) AS m
       WHERE ${scanned.text} ${inOrder}`
    : `${names.misfires} AS m WHERE ${indexed.text} ${inOrder}`
  const list = Object.keys(columns).map((name) => `m.${name}`)
  return {
    query: sqlQuery(dialect, `SELECT ${list.join(', ')} FROM ${rows} LIMIT :limit`),
    place: sqlQuery(
      dialect,
      `SELECT m.noticed_time, m.misfire_id FROM ${names.misfires} AS m WHERE ${indexed.text}
         ${inOrder} LIMIT 1 OFFSET :skipped`,
    ),
    values: { ...indexed.values, ...scanned.values },
  }
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
    noticedTimeMs: instant(row, 'noticed_time'),
    id: anyText(row, 'misfire_id'),
    triggerKey: triggerKeyOf(row),
    jobKey: typeof row['job_name'] === 'string' ? jobKeyOf(row) : null,
    cause: misfireCauses.find((cause) => cause === row['cause']) ?? 'late',
    policy: misfirePolicies.find((policy) => policy === row['policy']) ?? null,
    fromMs: readable(instant, row, 'from_time', 0),
    toMs: readable(instant, row, 'to_time', 0),
    count: readable(integerOrNull, row, 'fire_count', null),
    node: anyText(row, 'instance_name'),
  }
}

function cursorOf(row: SqlRow | null): MisfireCursor | null {
  if (row === null) return null
  return { noticedTimeMs: instant(row, 'noticed_time'), id: anyText(row, 'misfire_id') }
}
