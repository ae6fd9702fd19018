import type { Index, Table } from './schema-tables.ts'
import * as column from './schema-tables.ts'

const schedulerName = { sched_name: column.keyText(120) }
const triggerKey = { trigger_name: column.keyText(200), trigger_group: column.keyText(200) }
const jobKey = { job_name: column.keyText(200), job_group: column.keyText(200) }
const triggerKeyColumns = ['sched_name', 'trigger_group', 'trigger_name']
const jobKeyColumns = ['sched_name', 'job_group', 'job_name']
const subTable = { primaryKey: triggerKeyColumns, isKeyed: true } as const

/**
 * The tables of Quartz 2.x with the additions of this library, and its own tables. Groups come before names in keys, so
 * that one index serves look-ups, groups and listings.
 *
 * Quartz's own script has foreign keys, from sub-rows to triggers and from triggers to jobs; this schema has none. A
 * trigger and its sub-row are stored and deleted in one transaction, and a trigger is stored, and a job deleted, under
 * a lock on the job's row. So the checks would find nothing, and those for a trigger that ends would cost more than its
 * deletion.
 */
export const tablesOf1: readonly Table[] = [
  {
    name: 'jobs',
    columns: {
      ...schedulerName,
      ...jobKey,
      description: column.textOrNull(250),
      job_class_name: column.text(250),
      is_durable: column.boolean,
      is_nonconcurrent: column.boolean,
      is_update_data: column.boolean,
      requests_recovery: column.boolean,
      job_data: column.bytesOrNull,
    },
    additions: {
      timeout_ms: column.bigintOrNull,
      retry_policy: column.longTextOrNull,
      node_affinity: column.longTextOrNull,
    },
    primaryKey: jobKeyColumns,
  },
  {
    name: 'triggers',
    columns: {
      ...schedulerName,
      ...triggerKey,
      ...jobKey,
      description: column.textOrNull(250),
      next_fire_time: column.bigintOrNull,
      prev_fire_time: column.bigintOrNull,
      priority: column.integerOrNull,
      trigger_state: column.text(16),
      trigger_type: column.text(8),
      start_time: column.bigint,
      end_time: column.bigintOrNull,
      calendar_name: column.keyTextOrNull(200),
      misfire_instr: column.smallintOrNull,
      job_data: column.bytesOrNull,
    },
    additions: { misfire_orig_fire_time: column.bigintOrNull },
    primaryKey: triggerKeyColumns,
  },
  {
    name: 'simpleTriggers',
    columns: {
      ...schedulerName,
      ...triggerKey,
      repeat_count: column.bigint,
      repeat_interval: column.bigint,
      times_triggered: column.bigint,
    },
    ...subTable,
  },
  {
    name: 'cronTriggers',
    columns: {
      ...schedulerName,
      ...triggerKey,
      cron_expression: column.text(120),
      time_zone_id: column.textOrNull(80),
    },
    additions: {
      times_triggered: column.bigintOrNull,
      dst_policy: column.textOrNull(16),
      cron_dialect: column.textOrNull(16),
    },
    ...subTable,
  },
  {
    name: 'simpropTriggers',
    columns: {
      ...schedulerName,
      ...triggerKey,
      str_prop_1: column.textOrNull(512),
      str_prop_2: column.textOrNull(512),
      str_prop_3: column.textOrNull(512),
      int_prop_1: column.integerOrNull,
      int_prop_2: column.integerOrNull,
      long_prop_1: column.bigintOrNull,
      long_prop_2: column.bigintOrNull,
      dec_prop_1: column.decimalOrNull,
      dec_prop_2: column.decimalOrNull,
      bool_prop_1: column.booleanOrNull,
      bool_prop_2: column.booleanOrNull,
    },
    additions: { time_zone_id: column.textOrNull(80) },
    ...subTable,
  },
  {
    name: 'blobTriggers',
    columns: { ...schedulerName, ...triggerKey, blob_data: column.bytesOrNull },
    primaryKey: triggerKeyColumns,
  },
  {
    name: 'calendars',
    columns: { ...schedulerName, calendar_name: column.keyText(200), calendar: column.bytes },
    primaryKey: ['sched_name', 'calendar_name'],
  },
  {
    name: 'pausedGroups',
    columns: { ...schedulerName, trigger_group: column.keyText(200) },
    primaryKey: ['sched_name', 'trigger_group'],
  },
  {
    name: 'firedTriggers',
    columns: {
      ...schedulerName,
      entry_id: column.keyText(95),
      ...triggerKey,
      instance_name: column.keyText(200),
      fired_time: column.bigint,
      sched_time: column.bigint,
      priority: column.integer,
      state: column.text(16),
      job_name: column.keyTextOrNull(200),
      job_group: column.keyTextOrNull(200),
      is_nonconcurrent: column.booleanOrNull,
      requests_recovery: column.booleanOrNull,
    },
    primaryKey: ['sched_name', 'entry_id'],
  },
  {
    name: 'schedulerState',
    columns: {
      ...schedulerName,
      instance_name: column.keyText(200),
      last_checkin_time: column.bigint,
      checkin_interval: column.bigint,
    },
    additions: { boot_id: column.textOrNull(80), node_info: column.longTextOrNull },
    primaryKey: ['sched_name', 'instance_name'],
  },
  {
    name: 'locks',
    columns: { ...schedulerName, lock_name: column.keyText(40) },
    primaryKey: ['sched_name', 'lock_name'],
  },
  {
    name: 'pausedJobGroups',
    columns: { ...schedulerName, job_group: column.keyText(200) },
    primaryKey: ['sched_name', 'job_group'],
  },
  {
    name: 'history',
    columns: {
      ...schedulerName,
      fire_instance_id: column.keyText(95),
      ...triggerKey,
      ...jobKey,
      job_type: column.text(250),
      instance_name: column.keyText(200),
      planned_time: column.bigint,
      fired_time: column.bigint,
      finished_time: column.bigintOrNull,
      attempt: column.integer,
      outcome: column.text(16),
      error_text: column.longTextOrNull,
      recovering: column.boolean,
    },
    primaryKey: ['sched_name', 'fire_instance_id'],
  },
]

/**
 * The scheduler is not the first column, as it is in the primary key: for a planner that takes the table for small, all
 * indexes that begin with the scheduler are equal, and it may look a row up by the scheduler alone.
 */
const jobIndexColumns = ['job_name', 'job_group', 'sched_name']

export const indexesOf1: readonly Index[] = [
  {
    // In the order in which triggers fire, so that the search for due ones reads only the rows that it takes.
    name: 't_acquire',
    table: 'triggers',
    columns: ({ keyCollation }) => [
      'sched_name',
      'next_fire_time',
      'priority DESC',
      `(trigger_group <> 'DEFAULT')`,
      `trigger_group${keyCollation}`,
      `trigger_name${keyCollation}`,
    ],
    where: `trigger_state = 'WAITING'`,
    ownTablesOnly: false,
  },
  {
    name: 't_job',
    table: 'triggers',
    columns: () => jobIndexColumns,
    carried: 'sched_name',
    ownTablesOnly: true,
  },
  {
    name: 't_calendar',
    table: 'triggers',
    columns: () => ['calendar_name', 'sched_name'],
    where: 'calendar_name IS NOT NULL',
    ownTablesOnly: true,
  },
  {
    name: 'ft_job',
    table: 'firedTriggers',
    columns: () => jobIndexColumns,
    carried: 'sched_name',
    ownTablesOnly: true,
  },
  {
    name: 'eh_fired',
    table: 'history',
    columns: () => ['sched_name', 'fired_time', 'fire_instance_id'],
    ownTablesOnly: false,
  },
]
