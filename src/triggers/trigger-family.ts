import type { TimeZone } from '../time/zone.ts'
import type { Trigger } from './trigger.ts'
import type { TriggerFields } from './trigger-fields.ts'

/**
 * The tables that hold what a family adds to the fields of every trigger, and the columns of each that a family may
 * fill. They are Quartz's, but for `moved_from`, `dst_policy`, `cron_dialect` and the `time_zone_id` of
 * `simprop_triggers`. Each table also has a column that counts the firings (`times_triggered`; `int_prop_2` in
 * `simprop_triggers`), which the store writes.
 */
export const scheduleTables = {
  simple_triggers: { repeat_count: 'bigint', repeat_interval: 'bigint', moved_from: 'text' },
  cron_triggers: {
    cron_expression: 'text',
    time_zone_id: 'text',
    dst_policy: 'text',
    cron_dialect: 'text',
  },
  simprop_triggers: {
    str_prop_1: 'text',
    str_prop_2: 'text',
    str_prop_3: 'text',
    int_prop_1: 'bigint',
    long_prop_1: 'bigint',
    long_prop_2: 'bigint',
    bool_prop_1: 'boolean',
    bool_prop_2: 'boolean',
    time_zone_id: 'text',
  },
} as const

/** The name of a table without its prefix. */
export type ScheduleTable = 'simple_triggers' | 'cron_triggers' | 'simprop_triggers'

export type TextColumn =
  | 'moved_from'
  | 'cron_expression'
  | 'time_zone_id'
  | 'dst_policy'
  | 'cron_dialect'
  | 'str_prop_1'
  | 'str_prop_2'
  | 'str_prop_3'
export type IntegerColumn = 'repeat_count' | 'repeat_interval' | 'int_prop_1' | 'long_prop_1' | 'long_prop_2'
export type BooleanColumn = 'bool_prop_1' | 'bool_prop_2'
export type ScheduleColumn = TextColumn | IntegerColumn | BooleanColumn

/** What a family writes into its table. What it leaves out is NULL, 0 or false, as Java writes it. */
export type ScheduleValues = { readonly [Column in TextColumn]?: string | null } & {
  readonly [Column in IntegerColumn]?: number
} & { readonly [Column in BooleanColumn]?: boolean }

/** What a family reads from its table. Columns that it does not ask for may hold anything. */
export interface ScheduleRow {
  /** @throws JobPersistenceError ERR_BROKEN_ROW when the column holds no text */
  text(column: TextColumn): string
  textOrNull(column: TextColumn): string | null
  /** @throws JobPersistenceError ERR_BROKEN_ROW when the column holds no whole number */
  integer(column: IntegerColumn): number
  /** NULL reads as false. @throws JobPersistenceError ERR_BROKEN_ROW when the column holds no boolean */
  boolean(column: BooleanColumn): boolean
  /** One of a list of words. @throws JobPersistenceError ERR_BROKEN_ROW when the column holds none of them */
  oneOf<Word extends string>(column: TextColumn, known: readonly Word[]): Word
  /**
   * The zone of that IANA name; NULL is the zone of this process, as Java means it.
   *
   * @throws InvalidArgumentError ERR_UNKNOWN_TIME_ZONE
   */
  zone(column: TextColumn): TimeZone
  /**
   * A value that many triggers have in common, such as a parsed expression: made once for each key, as long as it is
   * among the 2,000 latest of its family. The value must be immutable.
   */
  shared<Value>(key: string, make: () => Value): Value
  /** The error for a column that holds what means nothing to the family; `problem` is a clause about the value. */
  broken(column: ScheduleColumn, problem: string): Error
}

/**
 * How the triggers of one family are written down and read back: the one place that knows their form in JSON and in
 * tables. What every trigger has (key, job, times, state, data) is written by those who call this.
 */
export interface TriggerFamily<T extends Trigger = Trigger> {
  /** The `type` of its triggers, which JSON and listings show. */
  readonly type: T['type']
  /**
   * The word in the column `trigger_type`: 1 to 8 capital letters, digits and underscores. Quartz's own are SIMPLE,
   * CRON, CAL_INT and DAILY_I; BLOB is taken.
   */
  readonly storedType: string
  /** What its triggers can do when they could not fire in time. No two may have the same number in Quartz. */
  readonly misfireInstructions: readonly T['misfireInstruction'][]
  /** Where the rest of a trigger is stored. Those of your own belong in `simprop_triggers`. */
  readonly table: ScheduleTable
  /** The columns in use, and which field of the trigger each holds, for messages. */
  readonly columns: { readonly [Column in ScheduleColumn]?: string }
  /**
   * Whether a misfire changes nothing but the state that firing changes and the start time. Otherwise stores write
   * the columns again. Default false.
   */
  readonly keepsScheduleOnMisfire?: boolean

  /** The fields that JSON has besides those of every trigger. */
  toJSON(trigger: T): object
  /**
   * The trigger of such JSON, which has not fired yet. The caller validates it.
   *
   * @throws InvalidArgumentError ERR_INVALID_TRIGGER for what no trigger can be made of
   */
  fromJSON(
    fields: TriggerFields,
    json: Readonly<Record<string, unknown>>,
    misfireInstruction: T['misfireInstruction'],
  ): T
  /** What is stored besides the columns of every trigger. */
  toColumns(trigger: T): ScheduleValues
  /**
   * The trigger of such a row, which has not fired yet. The caller validates it.
   *
   * @throws JobPersistenceError ERR_BROKEN_ROW, made by `row`, for columns that mean nothing
   */
  fromColumns(fields: TriggerFields, row: ScheduleRow, misfireInstruction: T['misfireInstruction']): T
}
