import { jobKey, jobKeyColumns, schedulerName } from './migration-1.ts'
import type { Additions, Index, Table } from './schema-tables.ts'
import * as column from './schema-tables.ts'

/** What the stores remember besides the history: all tables are of this library alone. */
export const tablesOf2: readonly Table[] = [
  {
    name: 'jobStatus',
    columns: {
      ...schedulerName,
      ...jobKey,
      last_fire_id: column.keyTextOrNull(95),
      last_fired_time: column.bigintOrNull,
      last_finished_time: column.bigintOrNull,
      last_outcome: column.textOrNull(16),
      last_success_time: column.bigintOrNull,
      last_failure_time: column.bigintOrNull,
      last_error: column.longTextOrNull,
      failures: column.bigint,
      changed_time: column.bigint,
    },
    primaryKey: jobKeyColumns,
  },
  {
    name: 'jobDays',
    columns: {
      ...schedulerName,
      ...jobKey,
      day_number: column.integer,
      succeeded: column.bigint,
      failed: column.bigint,
      vetoed: column.bigint,
      interrupted: column.bigint,
      timed_out: column.bigint,
      lost: column.bigint,
      run_time: column.bigint,
    },
    primaryKey: [...jobKeyColumns, 'day_number'],
  },
]

/** Columns of this step in tables of earlier ones. */
export const additionsOf2: Additions = {}

export const indexesOf2: readonly Index[] = [
  {
    name: 'jd_day',
    table: 'jobDays',
    columns: () => ['sched_name', 'day_number'],
    ownTablesOnly: false,
  },
]
