import type { SqlNames } from '../kernel/sql-names.ts'
import type { ColumnType, Index, Table } from './schema-tables.ts'
import * as column from './schema-tables.ts'

const schedulerName = { sched_name: column.keyText(120) }

/** Own tables, which Java nodes do not see. */
export const tablesOf2: readonly Table[] = [
  {
    // Why something is paused. Whether it is paused is said by the tables of Quartz.
    name: 'pauses',
    columns: {
      ...schedulerName,
      pause_scope: column.keyText(16),
      pause_group: column.keyText(200),
      pause_name: column.keyText(200),
      reason: column.longTextOrNull,
      paused_by: column.longTextOrNull,
      since_time: column.bigint,
      until_time: column.bigintOrNull,
    },
    primaryKey: ['sched_name', 'pause_scope', 'pause_group', 'pause_name'],
  },
  {
    // What nodes must agree on. The version shows whether somebody has changed a note since it was read.
    name: 'notes',
    columns: {
      ...schedulerName,
      note_kind: column.keyText(40),
      note_name: column.keyText(200),
      note_version: column.bigint,
      note_text: column.longTextOrNull,
    },
    primaryKey: ['sched_name', 'note_kind', 'note_name'],
  },
]

/** Columns that this step adds to tables of the first one. */
export const columnsOf2: Readonly<Partial<Record<keyof SqlNames, Readonly<Record<string, ColumnType>>>>> = {}

export const indexesOf2: readonly Index[] = [
  {
    // In the order of keys, for lists and counts of triggers in error, paused or complete. Those that wait, fire or are
    // blocked are not in it, so that a firing does not write to it.
    name: 't_still',
    table: 'triggers',
    columns: ({ keyCollation }) => [
      'sched_name',
      `trigger_group${keyCollation}`,
      `trigger_name${keyCollation}`,
      'trigger_state',
    ],
    where: `trigger_state NOT IN ('WAITING', 'ACQUIRED', 'BLOCKED')`,
    ownTablesOnly: false,
  },
  {
    name: 'pa_until',
    table: 'pauses',
    columns: () => ['sched_name', 'until_time'],
    where: 'until_time IS NOT NULL',
    ownTablesOnly: false,
  },
]
