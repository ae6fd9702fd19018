import type { SqlNames } from '../kernel/sql-names.ts'
import type { ColumnType, Index, Table } from './schema-tables.ts'
import * as column from './schema-tables.ts'

const schedulerName = { sched_name: column.keyText(120) }
const jobKey = { job_name: column.keyText(200), job_group: column.keyText(200) }
const jobKeyColumns = ['sched_name', 'job_group', 'job_name']

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
    // How each job is doing, also when its executions are not in the history any more.
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
  {
    // What executions logged: a row holds the lines of one execution within about a second.
    name: 'executionLog',
    columns: {
      ...schedulerName,
      fire_instance_id: column.keyText(95),
      first_line: column.integer,
      last_line: column.integer,
      logged_time: column.bigint,
      log_lines: column.longTextOrNull,
    },
    primaryKey: ['sched_name', 'fire_instance_id', 'first_line'],
  },
  {
    // What running executions last said of their progress.
    name: 'executionProgress',
    columns: {
      ...schedulerName,
      fire_instance_id: column.keyText(95),
      progress: column.longTextOrNull,
    },
    primaryKey: ['sched_name', 'fire_instance_id'],
  },
  {
    // Planned instants that did not become runs: a row holds those that a trigger missed for one reason.
    name: 'misfires',
    columns: {
      ...schedulerName,
      noticed_time: column.bigint,
      misfire_id: column.keyText(80),
      trigger_name: column.keyText(200),
      trigger_group: column.keyText(200),
      job_name: column.keyTextOrNull(200),
      job_group: column.keyTextOrNull(200),
      cause: column.text(16),
      policy: column.textOrNull(16),
      from_time: column.bigint,
      to_time: column.bigint,
      fire_count: column.bigintOrNull,
      instance_name: column.keyText(200),
    },
    primaryKey: ['sched_name', 'noticed_time', 'misfire_id'],
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
  {
    // Firings of sharded jobs that have not ended, each with its items as JSON. They do not refer to their jobs, whose
    // table may be Java's: its script must be able to drop it.
    name: 'splitFirings',
    columns: {
      ...schedulerName,
      fire_id: column.keyText(95),
      ...jobKey,
      trigger_name: column.keyText(200),
      trigger_group: column.keyText(200),
      instance_name: column.keyText(200),
      planned_time: column.bigint,
      fired_time: column.bigint,
      parts: column.longTextOrNull,
    },
    primaryKey: ['sched_name', 'fire_id'],
  },
  {
    // Executions in flight that go on elsewhere, until their result is reported.
    name: 'awaitedResults',
    columns: {
      ...schedulerName,
      reference: column.keyText(200),
      fire_id: column.keyText(95),
      ...jobKey,
      deadline: column.bigint,
      details: column.longTextOrNull,
    },
    primaryKey: ['sched_name', 'reference'],
  },
  {
    // Who did what, in the order in which it is listed and deleted.
    name: 'audit',
    columns: {
      ...schedulerName,
      audit_time: column.bigint,
      audit_id: column.keyText(95),
      asked_by: column.longTextOrNull,
      address: column.longTextOrNull,
      node_name: column.longTextOrNull,
      operation: column.longTextOrNull,
      target_group: column.longTextOrNull,
      target_name: column.longTextOrNull,
      outcome: column.textOrNull(16),
      times: column.bigint,
      error_text: column.longTextOrNull,
      request: column.longTextOrNull,
      state_before: column.longTextOrNull,
      state_after: column.longTextOrNull,
    },
    primaryKey: ['sched_name', 'audit_time', 'audit_id'],
  },
]

/** Columns that this step adds to tables of the first one. */
export const columnsOf2: Readonly<Partial<Record<keyof SqlNames, Readonly<Record<string, ColumnType>>>>> = {
  jobs: {
    sharding: column.longTextOrNull,
    shards_off: column.longTextOrNull,
    job_plan: column.longTextOrNull,
  },
  simpleTriggers: { moved_from: column.textOrNull(80) },
  triggers: { node_affinity: column.longTextOrNull },
  history: {
    firing_id: column.keyTextOrNull(95),
    shard_item: column.integerOrNull,
    acquired_time: column.bigintOrNull,
    began_time: column.bigintOrNull,
    is_manual: column.booleanOrNull,
    triggered_by: column.longTextOrNull,
    previous_id: column.keyTextOrNull(95),
    progress: column.longTextOrNull,
    result: column.longTextOrNull,
    job_data: column.longTextOrNull,
    log_lines: column.longTextOrNull,
  },
}

/**
 * Each index of the history is written with each execution, so they have no more columns than it takes. The last one
 * completes the order of the list: without it SQLite, which has no statistics, would go through the executions of all
 * jobs.
 */
function executionIndex(kind: 'job' | 'trigger'): Index {
  return {
    name: `eh_${kind}`,
    table: 'history',
    columns: () => [`${kind}_name`, `${kind}_group`, 'sched_name', 'fired_time', 'fire_instance_id'],
    carried: 'sched_name',
    ownTablesOnly: false,
    findsExecutionsBy: 'name',
  }
}

export const indexesOf2: readonly Index[] = [
  {
    // In the order of keys, for lists and counts of triggers in error, paused or complete. Those that wait, fire or are
    // blocked are not in it, so that a firing does not write to it. SQLite makes a table of the values of a NOT IN each
    // time that a row with a state is written, which takes it longer than writing the row.
    // It came under another name with another condition, which SQLite does not know again in the statements.
    name: 't_at_rest',
    replaces: 't_still',
    table: 'triggers',
    columns: ({ keyCollation }) => [
      'sched_name',
      `trigger_group${keyCollation}`,
      `trigger_name${keyCollation}`,
      'trigger_state',
    ],
    where: `trigger_state <> 'WAITING' AND trigger_state <> 'ACQUIRED' AND trigger_state <> 'BLOCKED'`,
    ownTablesOnly: false,
  },
  {
    name: 'pa_until',
    table: 'pauses',
    columns: () => ['sched_name', 'until_time'],
    where: 'until_time IS NOT NULL',
    ownTablesOnly: false,
  },
  executionIndex('job'),
  executionIndex('trigger'),
  {
    // It lacks the id, which would be a third of an entry: only executions of one millisecond are put in order by it.
    name: 'eh_names',
    table: 'history',
    columns: () => ['fired_time', 'job_name', 'trigger_name'],
    ownTablesOnly: false,
    findsExecutionsBy: 'time',
  },
  {
    name: 'eh_firing',
    table: 'history',
    columns: () => ['firing_id'],
    where: 'firing_id IS NOT NULL',
    ownTablesOnly: false,
  },
  {
    name: 'sf_job',
    table: 'splitFirings',
    columns: () => ['job_name', 'job_group', 'sched_name'],
    carried: 'sched_name',
    ownTablesOnly: false,
  },
  {
    name: 'ar_firing',
    table: 'awaitedResults',
    columns: () => ['fire_id', 'sched_name'],
    carried: 'sched_name',
    ownTablesOnly: false,
  },
  {
    name: 'ar_job',
    table: 'awaitedResults',
    columns: () => ['job_name', 'job_group', 'sched_name'],
    carried: 'sched_name',
    ownTablesOnly: false,
  },
  {
    name: 'ar_deadline',
    table: 'awaitedResults',
    columns: () => ['sched_name', 'deadline'],
    carried: 'sched_name',
    ownTablesOnly: false,
  },
  {
    // Failures are few among many that ended well.
    name: 'eh_failed',
    table: 'history',
    columns: () => ['sched_name', 'fired_time', 'fire_instance_id', 'outcome'],
    where: `outcome <> 'succeeded'`,
    ownTablesOnly: false,
  },
  {
    // Executions whose log lines are deleted before them, by when they ended: a long one ends behind later ones.
    name: 'eh_logged',
    table: 'history',
    columns: () => ['sched_name', 'finished_time'],
    where: 'log_lines IS NOT NULL',
    ownTablesOnly: false,
  },
  {
    name: 'el_logged',
    table: 'executionLog',
    columns: () => ['sched_name', 'logged_time'],
    ownTablesOnly: false,
  },
  {
    name: 'jd_day',
    table: 'jobDays',
    columns: () => ['sched_name', 'day_number'],
    carried: 'sched_name',
    ownTablesOnly: false,
  },
]
