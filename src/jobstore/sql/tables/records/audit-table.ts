import type { EpochMs } from '../../../../time/clock.ts'
import {
  type AuditCursor,
  type AuditEntry,
  type AuditQuery,
  auditOutcomes,
  auditScanned,
  isAuditScan,
} from '../../../audit.ts'
import type { Page } from '../../../queries.ts'
import type { Bounds } from '../../kernel/bounds.ts'
import { Conditions } from '../../kernel/conditions.ts'
import {
  type NewestFirstQuery,
  type NewestFirstTable,
  newestFirstPage,
  newestFirstQuery,
} from '../../kernel/newest-first.ts'
import { type RowsQuery, storeRows, upsertQuery } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { run, type SqlProgram, type SqlRow } from '../../kernel/statement.ts'
import { anyText, instant, integer, readable, textOrNull } from '../encoding/columns.ts'
import { RowsAhead, type TimedRows, timeOfNth } from '../encoding/rows-ahead.ts'
import { storable } from '../encoding/storable-text.ts'
import { endOf, type OldestRowsStatements, oldestRowsStatements } from './oldest-rows.ts'

const key = { audit_time: 'bigint', audit_id: 'text' } as const
const columns = {
  ...key,
  asked_by: 'text',
  address: 'text',
  node_name: 'text',
  operation: 'text',
  target_group: 'text',
  target_name: 'text',
  outcome: 'text',
  times: 'bigint',
  error_text: 'text',
  request: 'text',
  state_before: 'text',
  state_after: 'text',
} as const

/** The rows of `audit`: who did what. */
export class AuditTable {
  readonly ahead: RowsAhead
  readonly #vocabulary: SqlVocabulary
  readonly #scheduler: string
  readonly #statements: AuditStatements

  constructor(vocabulary: SqlVocabulary) {
    this.#vocabulary = vocabulary
    this.#scheduler = vocabulary.schedulerName
    this.ahead = new RowsAhead(vocabulary, auditRows(vocabulary))
    this.#statements = auditStatements(vocabulary)
  }

  /** Stores entries; one that is there already is replaced. */
  *write(entries: readonly AuditEntry[]): SqlProgram<void> {
    yield* storeRows(this.#scheduler, entries.map(rowOf), this.#statements.put)
  }

  /** The newest first. */
  *find(query: AuditQuery, size: number): SqlProgram<Page<AuditEntry, AuditCursor>> {
    const given = { scheduler: this.#scheduler, size }
    return yield* newestFirstPage(auditQuery(this.#vocabulary, query), given, { itemOf: entryOf, cursorOf })
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

interface AuditStatements extends OldestRowsStatements {
  readonly put: RowsQuery
}

/** Its rows by their time. */
export function auditRows({ names }: SqlVocabulary): TimedRows {
  return { table: names.audit, time: 'audit_time', key }
}

export function auditStatements(vocabulary: SqlVocabulary): AuditStatements {
  const { audit } = vocabulary.names
  return {
    put: upsertQuery(vocabulary, audit, key, columns),
    ...oldestRowsStatements(vocabulary, auditRows(vocabulary)),
  }
}

/** The entries of a query, the newest first. */
export function auditQuery(vocabulary: SqlVocabulary, query: AuditQuery): NewestFirstQuery {
  const { after, from, to } = query
  const indexed = new Conditions('a.sched_name = :scheduler')
  indexed.add('a.audit_time >= :fromMs', { fromMs: from?.getTime() })
  indexed.add('a.audit_time < :toMs', { toMs: to?.getTime() })
  indexed.add('(a.audit_time, a.audit_id) < (:afterMs, :afterId)', {
    afterMs: after?.timeMs,
    afterId: after?.id,
  })
  const table: NewestFirstTable = {
    table: vocabulary.names.audit,
    alias: 'a',
    time: 'audit_time',
    id: 'audit_id',
    columns,
    scannedMax: auditScanned,
  }
  const tried = isAuditScan(query) ? triedConditions(query) : null
  return newestFirstQuery(vocabulary, table, { indexed, tried })
}

function triedConditions(query: AuditQuery): Conditions {
  const tried = new Conditions('a.sched_name = :scheduler')
  tried.add('a.asked_by = :by', { by: query.by })
  tried.add('a.operation = :operation', { operation: query.operation })
  tried.add('a.target_group = :group', { group: query.targetGroup })
  tried.add('a.target_name = :name', { name: query.targetName })
  tried.add('a.outcome = :outcome', { outcome: query.outcome })
  tried.add('a.node_name = :node', { node: query.node })
  return tried
}

function rowOf(entry: AuditEntry): object {
  return {
    audit_time: entry.timeMs,
    audit_id: entry.id,
    asked_by: storableOrNull(entry.by),
    address: storableOrNull(entry.address),
    node_name: entry.node,
    operation: storable(entry.operation),
    target_group: storableOrNull(entry.targetGroup),
    target_name: storableOrNull(entry.targetName),
    outcome: entry.outcome,
    times: entry.times,
    error_text: storableOrNull(entry.errorText),
    request: storableOrNull(entry.requestText),
    state_before: storableOrNull(entry.beforeText),
    state_after: storableOrNull(entry.afterText),
  }
}

function storableOrNull(text: string | null): string | null {
  return text === null ? null : storable(text)
}

function entryOf(row: SqlRow): AuditEntry {
  const text = (column: string): string | null => readable(textOrNull, row, column, null)
  return {
    ...cursorOf(row),
    by: text('asked_by'),
    address: text('address'),
    node: text('node_name') ?? '',
    operation: text('operation') ?? '',
    targetGroup: text('target_group'),
    targetName: text('target_name'),
    outcome: auditOutcomes.find((outcome) => outcome === row['outcome']) ?? 'failed',
    times: readable(integer, row, 'times', 1),
    errorText: text('error_text'),
    requestText: text('request'),
    beforeText: text('state_before'),
    afterText: text('state_after'),
  }
}

function cursorOf(row: SqlRow): AuditCursor {
  return { timeMs: readable(instant, row, 'audit_time', 0), id: anyText(row, 'audit_id') }
}
