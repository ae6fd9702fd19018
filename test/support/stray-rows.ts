/** Rows of triggers that no node can do anything with; they are in this group. */
export const strayGroup = 'stray'

export interface StrayScope {
  readonly schedulerName: string
  /** Since when they are due, in epoch milliseconds. */
  readonly dueMs: number
}

/** Due triggers of so many job types that no node has, more urgent than all others. */
export function rowsOfUnknownTypes(count: number, { schedulerName, dueMs }: StrayScope): string[] {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${String(count)})`
  const name = `'unknown-' || i, '${strayGroup}'`
  return [
    `${numbers} ${insertJob} SELECT '${schedulerName}', ${name}, 'unknown.Type' || i, true, false, false, false FROM n`,
    `${numbers} ${insertTrigger}
     SELECT '${schedulerName}', ${due(dueMs)}, ${name}, ${name}, 'SIMPLE', NULL, 0, NULL FROM n`,
    `${numbers} INSERT INTO qrtz_simple_triggers
       (sched_name, trigger_name, trigger_group, repeat_count, repeat_interval, times_triggered)
     SELECT '${schedulerName}', ${name}, 0, 0, 0 FROM n`,
  ]
}

/** Due triggers of a job type that nodes have, each of which cannot be read for another reason. */
export function rowsOfJunk(
  jobType: string,
  { schedulerName, dueMs }: StrayScope,
  /** How the engine spells bytes. */
  bytes: (hex: string) => string,
): string[] {
  const job = (name: string): string =>
    `${insertJob} VALUES ('${schedulerName}', '${name}', '${strayGroup}', '${jobType}', true, false, false, false)`
  const trigger = (name: string, fields: string, jobName = 'stray'): string =>
    `${insertTrigger} VALUES ('${schedulerName}', ${due(dueMs)}, '${name}', '${strayGroup}', '${jobName}',
       '${strayGroup}', ${fields})`
  return [
    job('stray'),
    job(' '),
    trigger(' ', `'SIMPLE', NULL, 0, NULL`),
    trigger('blank job', `'SIMPLE', NULL, 0, NULL`, ' '),
    trigger('no sub-row', `'CRON', NULL, 0, NULL`),
    trigger('no such type', `'NONSENSE', NULL, 0, NULL`),
    trigger('no calendar', `'SIMPLE', 'there is none', 0, NULL`),
    trigger('misfire', `'SIMPLE', NULL, 99, NULL`),
    trigger('data', `'SIMPLE', NULL, 0, ${bytes('deadbeef')}`),
    trigger('cron', `'CRON', NULL, 0, NULL`),
    `INSERT INTO qrtz_cron_triggers (sched_name, trigger_name, trigger_group, cron_expression, time_zone_id)
     VALUES ('${schedulerName}', 'cron', '${strayGroup}', 'at noon, mostly', 'Atlantis/Poseidonis')`,
  ]
}

/** Takes all of them away. */
export const noStrayRows: readonly string[] = [
  ...['fired_triggers', 'simple_triggers', 'cron_triggers', 'triggers'].map(
    (table) => `DELETE FROM qrtz_${table} WHERE trigger_group = '${strayGroup}'`,
  ),
  `DELETE FROM qrtz_job_details WHERE job_group = '${strayGroup}'`,
]

const insertJob = `INSERT INTO qrtz_job_details (sched_name, job_name, job_group, job_class_name, is_durable,
  is_nonconcurrent, is_update_data, requests_recovery)`

const insertTrigger = `INSERT INTO qrtz_triggers (sched_name, next_fire_time, start_time, priority, trigger_state,
  trigger_name, trigger_group, job_name, job_group, trigger_type, calendar_name, misfire_instr, job_data)`

function due(dueMs: number): string {
  return `${String(dueMs)}, ${String(dueMs)}, 10, 'WAITING'`
}
