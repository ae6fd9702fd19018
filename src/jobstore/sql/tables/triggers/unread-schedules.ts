import { CronExpressionError, type ErrorCode, SchedulerError } from '../../../../core/errors.ts'
import { textOf } from '../../../../core/thrown-value.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { ScheduleTable } from '../../../../triggers/trigger-family.ts'
import { hasKeyOf } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import type { SqlRow } from '../../kernel/statement.ts'
import { readable, textOrNull } from '../encoding/columns.ts'
import { triggerKeyColumns } from '../encoding/key-rows.ts'
import { sqlNameOf, storedTables } from './schedule-tables.ts'

/** How many values are remembered. */
const rememberedMax = 10_000

/** A zone or an expression that this node cannot read, as it is bound; the other one is null. */
export interface UnreadValue {
  readonly zone: string | null
  readonly expression: string | null
}

const valueColumns = { zone: 'text', expression: 'text' } as const

/**
 * The zones and expressions in rows of Java that this node cannot read. Tens of thousands of triggers may have the same
 * one, so searches leave them out by it, and read none of them twice. It is remembered as long as the process runs: the
 * same text is never read otherwise, and a row that was corrected has another one.
 */
export class UnreadSchedules {
  /** By value, why it cannot be read. */
  readonly #zones = new Map<string, string>()
  readonly #expressions = new Map<string, string>()
  #values: readonly UnreadValue[] | null = null

  /** Made when it is asked for: a search may note hundreds one after the other. */
  get values(): readonly UnreadValue[] {
    this.#values ??= [
      ...Array.from(this.#zones.keys(), (each) => ({ zone: each, expression: null })),
      ...Array.from(this.#expressions.keys(), (each) => ({ zone: null, expression: each })),
    ]
    return this.#values
  }

  /** Remembers what in a row could not be read; false where the error names nothing of it. */
  note(row: SqlRow, error: unknown): boolean {
    const { zone, expression } = valuesIn(row)
    const cause = causeOf(error)
    const isZone = isOfZone(cause)
    const value = isZone ? zone : expression
    if (value === null) return false
    const known = isZone ? this.#zones : this.#expressions
    if (known.has(value)) return true
    // A clause, without the full stop.
    known.set(value, textOf(cause).replace(/\.$/, ''))
    const [oldest] = known.keys()
    if (known.size > rememberedMax && oldest !== undefined) known.delete(oldest)
    this.#values = null
    return true
  }

  /** Why a row cannot be read: a clause. Null where it can, as far as is known. */
  problemIn(row: SqlRow): string | null {
    const { zone, expression } = valuesIn(row)
    return this.#zones.get(zone ?? '') ?? this.#expressions.get(expression ?? '') ?? null
  }
}

function valuesIn(row: SqlRow): UnreadValue {
  return {
    zone: readable(textOrNull, row, 'zone', null),
    expression: readable(textOrNull, row, 'expression', null),
  }
}

/** Of an expression that Java reads otherwise, and of a zone that is not known here. */
const codesOfSchedules: readonly ErrorCode[] = ['ERR_NOT_SUPPORTED', 'ERR_UNKNOWN_TIME_ZONE']

/** Whether a trigger could not be read because of its expression or its zone. */
export function isOfSchedule(error: unknown): boolean {
  const cause = causeOf(error)
  if (cause instanceof CronExpressionError) return true
  return cause instanceof SchedulerError && codesOfSchedules.includes(cause.code)
}

function isOfZone(cause: unknown): boolean {
  return cause instanceof SchedulerError && cause.code === 'ERR_UNKNOWN_TIME_ZONE'
}

/** What reading a row has thrown is the cause of the error about the row. */
function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}

/** The zone and the expression of a trigger `t`, of its rows `c` and `p`, as {@link UnreadSchedules} reads them. */
export const unreadColumns = 'COALESCE(c.time_zone_id, p.str_prop_2) AS zone, c.cron_expression AS expression'

/** The rows `c` and `p` of a trigger `t`, empty where Java did not write them. */
export function joinsOfJava(vocabulary: SqlVocabulary): string {
  return javaTables
    .map((table) => {
      const { alias } = storedTables[table]
      return `LEFT JOIN ${sqlNameOf(vocabulary.names, table)} AS ${alias} ON ${isRowOfJava(vocabulary, table)}`
    })
    .join(' ')
}

const javaTables = ['cron_triggers', 'simprop_triggers'] as const
type JavaTable = (typeof javaTables)[number]

/** The condition that a row of a table is of the trigger `t`, and has nothing in the columns that this package adds. */
function isRowOfJava({ dialect }: SqlVocabulary, table: JavaTable): string {
  const { alias } = storedTables[table]
  const added = table === 'cron_triggers' ? ['dst_policy', 'cron_dialect'] : ['time_zone_id']
  const empty = added.map((column) => `${alias}.${column} IS NULL`)
  return [hasKeyOf(dialect, alias, 't', triggerKeyColumns), ...empty].join(' AND ')
}

/** The condition that rows `c` or `p` have a value that is bound under `unread`. */
export function hasUnreadValue(vocabulary: SqlVocabulary): string {
  return `(${javaTables.map((table) => `(${hasValue(vocabulary, table)}) IS TRUE`).join(' OR ')})`
}

function hasValue({ dialect }: SqlVocabulary, table: JavaTable): string {
  const isAmong = (column: string, value: keyof UnreadValue): string =>
    `${column} IN (SELECT u.${value} FROM ${dialect.rowSet('unread', valueColumns)} AS u WHERE u.${value} IS NOT NULL)`
  if (table === 'simprop_triggers') return isAmong('p.str_prop_2', 'zone')
  return `${isAmong('c.time_zone_id', 'zone')} OR ${isAmong('c.cron_expression', 'expression')}`
}

/** The condition that Java wrote the schedule of the trigger `t`, with a value that is bound under `unread`. */
export function isUnread(vocabulary: SqlVocabulary): string {
  const { dialect, names, triggerFamilies = TriggerFamilies.ofLibrary } = vocabulary
  const typesIn = (table: ScheduleTable): string =>
    triggerFamilies.storedTypes
      .filter((type) => triggerFamilies.ofStoredType(type)?.table === table)
      .map((type) => `'${type}'`)
      .join(', ')
  const conditions = javaTables.map((table) => {
    const { alias } = storedTables[table]
    // The type first: most triggers need no look into the table.
    return `(t.trigger_type IN (${typesIn(table)}) AND EXISTS (
      SELECT 1 FROM ${sqlNameOf(names, table)} AS ${alias}
      WHERE ${isRowOfJava(vocabulary, table)} AND (${hasValue(vocabulary, table)}) ${dialect.apart ?? ''}))`
  })
  return `(${conditions.join(' OR ')})`
}
