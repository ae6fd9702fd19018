import type { JobDataMap } from '../../../../core/job-data-map.ts'
import { type JobKey, storedTriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { isObject } from '../../../../core/options.ts'
import type { ShardedItem } from '../../../job-store-shards.ts'
import type { SplitFiring } from '../../../split-firing.ts'
import {
  boundRows,
  changeRows,
  clearQuery,
  deleteNamed,
  deleteQuery,
  hasKeyOf,
  isRow,
  type KeyQuery,
  type RowSetQuery,
  type RowsQuery,
  runOver,
  storeRows,
  updateQuery,
  upsertQuery,
  withScheduler,
  writeOver,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, later, type SqlProgram, type SqlQuery, type SqlRow, sqlQuery } from '../../kernel/statement.ts'
import { brokenRow, brokenValue } from '../encoding/broken-row.ts'
import { anyText, instant, text, textOrNull } from '../encoding/columns.ts'
import { jobKeyColumns, jobKeyOf, jobKeyRows, triggerKeyOf } from '../encoding/key-rows.ts'
import { storableJson } from '../encoding/storable-text.ts'

/** An unreadable row. */
export interface BrokenSplitFiring {
  readonly fireInstanceId: string
  readonly jobKey: JobKey
  readonly error: Error
}

export interface LoadedSplitFirings {
  readonly found: KeyMap<JobKey, readonly SplitFiring[]>
  readonly broken: readonly BrokenSplitFiring[]
}

const key = { fire_id: 'text' } as const
const columns = {
  fire_id: 'text',
  job_name: 'text',
  job_group: 'text',
  trigger_name: 'text',
  trigger_group: 'text',
  instance_name: 'text',
  planned_time: 'bigint',
  fired_time: 'bigint',
  parts: 'text',
} as const

/**
 * The rows of `split_firings`: firings that became several executions and have not ended. A row is read and written
 * under a lock on its job, and deleted with it. Also the column of jobs that says which items are turned off.
 */
export class SplitFiringTable {
  readonly #scheduler: string
  readonly #statements: SplitFiringStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#scheduler = vocabulary.schedulerName
    this.#statements = splitFiringStatements(vocabulary)
  }

  /** The firings of these jobs that nodes of this version settle. */
  *load(jobKeys: readonly JobKey[]): SqlProgram<LoadedSplitFirings> {
    const found = new KeyMap<JobKey, SplitFiring[]>()
    const broken: BrokenSplitFiring[] = []
    const keyRows = jobKeyRows(this.#scheduler, jobKeys)
    for (const row of yield* runOver(keyRows, (rows) => this.#statements.load({ rows }))) {
      const fireInstanceId = anyText(row, 'fire_id')
      try {
        const firing = decoded(fireInstanceId, row)
        if (firing === null) continue
        const before = found.get(firing.jobKey)
        if (before === undefined) found.set(firing.jobKey, [firing])
        else before.push(firing)
      } catch (error) {
        const failure = brokenRow('Firing', fireInstanceId, error)
        broken.push({ fireInstanceId, jobKey: jobKeyOf(row), error: failure })
      }
    }
    return { found, broken }
  }

  /** Stores whole rows over those of the same id. */
  *put(firings: readonly SplitFiring[]): SqlProgram<void> {
    yield* storeRows(this.#scheduler, firings.map(encoded), this.#statements.put)
  }

  *delete(fireInstanceIds: readonly string[]): SqlProgram<void> {
    const idRows = fireInstanceIds.map((id) => ({ sched_name: this.#scheduler, fire_id: id }))
    yield* changeRows(idRows, this.#statements.delete)
  }

  /** Deletes the firings of those jobs among the keys that are there no more. */
  *forgetDeleted(jobKeys: readonly JobKey[]): SqlProgram<void> {
    yield* writeOver(jobKeyRows(this.#scheduler, jobKeys), (rows) => this.#statements.forgetDeleted({ rows }))
  }

  /** Jobs that have such firings, also those that somebody else deleted, in order of keys behind one of them. */
  *jobs(after: JobKey | null, limit: number): SqlProgram<readonly JobKey[]> {
    const place = { afterGroup: after?.group ?? '', afterName: after?.name ?? '' }
    return (yield* all(this.#statements.jobs({ scheduler: this.#scheduler, ...place, limit }))).map(jobKeyOf)
  }

  /** The items of these jobs that are turned off; jobs without such items are left out. */
  *disabledItems(jobKeys: readonly JobKey[]): SqlProgram<KeyMap<JobKey, readonly number[]>> {
    const found = new KeyMap<JobKey, readonly number[]>()
    const keyRows = jobKeyRows(this.#scheduler, jobKeys)
    for (const row of yield* runOver(keyRows, (rows) => this.#statements.disabledItems({ rows }))) {
      found.set(jobKeyOf(row), itemsOf(textOrNull(row, 'shards_off')))
    }
    return found
  }

  *setDisabledItems({ name, group }: JobKey, items: readonly number[]): SqlProgram<void> {
    const row = { sched_name: this.#scheduler, job_name: name, job_group: group }
    const changed = [{ ...row, shards_off: items.length === 0 ? null : JSON.stringify(items) }]
    yield* changeRows(changed, this.#statements.setDisabledItems)
  }

  *clear(): SqlProgram<void> {
    yield* later(this.#statements.clear({ scheduler: this.#scheduler }))
  }
}

interface SplitFiringStatements {
  readonly load: KeyQuery
  readonly put: RowsQuery
  readonly delete: RowSetQuery
  readonly forgetDeleted: KeyQuery
  readonly jobs: SqlQuery<{ scheduler: string; afterGroup: string; afterName: string; limit: number }>
  readonly disabledItems: KeyQuery
  readonly setDisabledItems: RowSetQuery
  readonly clear: SqlQuery<{ readonly scheduler: string }>
}

export function splitFiringStatements(vocabulary: SqlVocabulary): SplitFiringStatements {
  const { dialect, names } = vocabulary
  const keys = boundRows(dialect, withScheduler(jobKeyColumns))
  const shown = Object.keys(columns).map((name) => `s.${name}`)
  const order = `s.job_group${dialect.keyCollation}, s.job_name${dialect.keyCollation}`
  const isGone = `NOT EXISTS (SELECT 1 FROM ${names.jobs} AS j WHERE ${hasKeyOf(dialect, 'j', 's', jobKeyColumns)})`
  return {
    load: sqlQuery(
      dialect,
      `SELECT ${shown.join(', ')} FROM ${keys} AS r CROSS JOIN ${names.splitFirings} AS s
       WHERE ${isRow(dialect, 's', jobKeyColumns, 'job_name')}`,
    ),
    put: upsertQuery(vocabulary, names.splitFirings, key, columns),
    delete: deleteQuery(vocabulary, names.splitFirings, key),
    forgetDeleted: sqlQuery(
      dialect,
      deleteNamed(
        dialect,
        { table: names.splitFirings, alias: 's', key: jobKeyColumns, first: 'job_name' },
        isGone,
      ),
    ),
    jobs: sqlQuery(
      dialect,
      `SELECT s.job_name, s.job_group FROM ${names.splitFirings} AS s
       WHERE s.sched_name = :scheduler AND (${order}) > (:afterGroup, :afterName)
       GROUP BY s.job_name, s.job_group ORDER BY ${order} LIMIT :limit`,
    ),
    disabledItems: sqlQuery(
      dialect,
      `SELECT j.job_name, j.job_group, j.shards_off FROM ${keys} AS r CROSS JOIN ${names.jobs} AS j
       WHERE ${isRow(dialect, 'j', jobKeyColumns)} AND j.shards_off IS NOT NULL`,
    ),
    setDisabledItems: updateQuery(vocabulary, names.jobs, jobKeyColumns, { shards_off: 'text' }),
    clear: clearQuery(vocabulary, names.splitFirings),
  }
}

/** What no statement looks at, as one JSON text. */
interface Parts {
  readonly jobType: string
  readonly isBroadcast: boolean
  /** Absent in rows of version 0.1. */
  readonly isRemote?: boolean
  readonly priority: number
  readonly triggerData: JobDataMap
  readonly items: readonly (Omit<ShardedItem, 'triggerKey'> & {
    readonly triggerKey: { readonly name: string; readonly group: string } | null
  })[]
}

type Fields<Of> = Partial<Record<keyof Of, unknown>>

function encoded(firing: SplitFiring): object {
  // JSON keeps the name and the group of the key of an item's trigger.
  const { jobKey, triggerKey, jobType, isBroadcast, isRemote, priority, triggerData, items } = firing
  const parts: Parts = { jobType, isBroadcast, isRemote, priority, triggerData, items }
  return {
    fire_id: firing.fireInstanceId,
    job_name: jobKey.name,
    job_group: jobKey.group,
    trigger_name: triggerKey.name,
    trigger_group: triggerKey.group,
    instance_name: firing.node,
    planned_time: firing.scheduledFireTimeMs,
    fired_time: firing.fireTimeMs,
    parts: storableJson(parts),
  }
}

/**
 * Null for a firing with an item in a state that a newer version knows: nodes of that version settle it.
 *
 * @throws JobPersistenceError ERR_BROKEN_ROW, SyntaxError
 */
function decoded(fireInstanceId: string, row: SqlRow): SplitFiring | null {
  const parts = partsOf(text(row, 'parts'))
  if (!parts.items.every(({ state }) => itemStates.includes(state))) return null
  const { jobType, isBroadcast, isRemote = false, priority, triggerData, items } = parts
  return {
    fireInstanceId,
    jobKey: jobKeyOf(row),
    jobType,
    triggerKey: triggerKeyOf(row),
    node: anyText(row, 'instance_name'),
    scheduledFireTimeMs: instant(row, 'planned_time'),
    fireTimeMs: instant(row, 'fired_time'),
    isBroadcast,
    isRemote,
    priority,
    triggerData,
    items: items.map(({ triggerKey, ...item }) => ({
      ...item,
      triggerKey: triggerKey === null ? null : storedTriggerKey(triggerKey.name, triggerKey.group),
    })),
  }
}

/** Of nonsense that were taken for a firing, each later firing of its job would wait for ever. */
function partsOf(json: string): Parts {
  const value: unknown = JSON.parse(json)
  if (isParts(value)) return value
  throw brokenValue("'parts' does not list items that are open. Delete the row")
}

function isParts(value: unknown): value is Parts {
  if (!isObject(value)) return false
  const { items, jobType, priority, triggerData }: Fields<Parts> = value
  if (typeof jobType !== 'string' || !Number.isInteger(priority) || !isObject(triggerData)) return false
  return Array.isArray(items) && items.every(isItem) && items.some(({ state }) => state !== 'ended')
}

const itemStates: readonly string[] = ['given', 'held', 'ended']

/** One that runs or waits for its node has a trigger, and no other has; that of an unknown state may have one. */
function isItem(value: unknown): value is Parts['items'][number] {
  if (!isObject(value)) return false
  const { item, owner, state, triggerKey }: Fields<Parts['items'][number]> = value
  if (!Number.isInteger(item) || typeof owner !== 'string') return false
  if (state === 'given') return isObject(triggerKey)
  if (state === 'held' || state === 'ended') return triggerKey === null
  return typeof state === 'string' && (triggerKey === null || isObject(triggerKey))
}

/** What is no list of items turns none off. */
function itemsOf(json: string | null): readonly number[] {
  try {
    const value: unknown = JSON.parse(json ?? '[]')
    return Array.isArray(value) ? value.filter((item) => typeof item === 'number') : []
  } catch {
    return []
  }
}
