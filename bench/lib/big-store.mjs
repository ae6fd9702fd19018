import { createRequire } from 'node:module'
import { join } from 'node:path'
import { JobBuilder, jobKey, SimpleScheduleBuilder, TriggerBuilder, triggerKey } from './quartz-ts.mjs'

const Database = createRequire(new URL('../../package.json', import.meta.url))('better-sqlite3')

export const schedulerName = 'bench'

export const groups = 100
export const keyOf = (index) => ({
  group: index % 3 === 0 ? 'DEFAULT' : `group-${index % groups}`,
  name: nameOf(index),
})
export const nameOf = (index) => `invoice-${index}`

/** Triggers of a thousand jobs, none of them due today; each 500th is paused. */
export async function fill(scheduler, noop, count) {
  const jobs = Array.from({ length: 1000 }, (_, index) =>
    JobBuilder.newJob(noop)
      .withIdentity(`job-${index}`, `group-${index % groups}`)
      .storeDurably()
      .build(),
  )
  const startMs = Date.now() + 86_400_000
  for (let from = 0; from < count; from += 10_000) {
    const triggersOf = new Map()
    for (let index = from; index < Math.min(count, from + 10_000); index++) {
      const { name, group } = keyOf(index)
      const trigger = TriggerBuilder.newTrigger()
        .withIdentity(name, group)
        .withDescription(`Sends the invoices of customer ${index}`)
        .forJob(jobs[index % jobs.length])
        .startAt(new Date(startMs + index * 1000))
        .withSchedule(SimpleScheduleBuilder.repeatHourlyForever())
        .build()
      const job = jobs[index % jobs.length]
      triggersOf.set(job, [...(triggersOf.get(job) ?? []), trigger])
    }
    await scheduler.scheduleJobs(
      [...triggersOf].map(([job, triggers]) => ({ job, triggers })),
      { replace: true },
    )
  }
  for (let index = 0; index < count; index += 500) {
    const { name, group } = keyOf(index)
    await scheduler.pauseTrigger(triggerKey(name, group))
  }
}

/** Executions of the last 11 days, one a second, with their data; every 1000th failed. */
export async function remember(place, count) {
  const beginMs = Date.now() - count * 1000
  const columns = `sched_name, fire_instance_id, trigger_name, trigger_group, job_name, job_group, job_type,
    instance_name, planned_time, fired_time, finished_time, attempt, outcome, error_text,
    recovering, job_data`
  const text = (column) => `CAST(${column} AS text)`
  const values = `'${schedulerName}', 'f-' || ${text('i')}, 'invoice-' || ${text('i % 5000')}, 'DEFAULT',
    'job-' || ${text('i % 1000')}, 'group-' || ${text('i % 100')}, 'noop', 'node-' || ${text('i % 3')},
    ${beginMs} + i * 1000, ${beginMs} + i * 1000 + 5, ${beginMs} + i * 1000 + 25, 1,
    CASE WHEN i % 1000 = 0 THEN 'failed' ELSE 'succeeded' END,
    CASE WHEN i % 1000 = 0 THEN 'Error: printer ' || ${text('i / 1000')} || ' has no paper' ELSE NULL END, false,
    '{"customer":' || ${text('i % 5000')} || ',"to":"ops@example.com"}'`
  if (place.client !== undefined) {
    // A bigint from the first term on.
    const series = `generate_series(CAST(1 AS bigint), ${count}) AS i`
    const table = `${place.schema}.qrtz_execution_history`
    await place.client.query(`INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${series}`)
    return
  }
  const database = new Database(join(place.folder, 'jobs.db'))
  database.exec(`INSERT INTO qrtz_execution_history (${columns})
    WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count})
    SELECT ${values} FROM s`)
  database.close()
}

/** So many misfires, entries of the audit, and rows of log lines, one a second; and 90 days of each of the jobs. */
export async function rememberMore({ records }, count) {
  const beginMs = Date.now() - count * 1000
  for (let from = 0; from < count; from += 5000) {
    const indexes = Array.from({ length: Math.min(5000, count - from) }, (_, index) => from + index)
    await records.write({
      misfires: indexes.map((index) => misfireOf(index, beginMs + index * 1000)),
      audits: indexes.map((index) => auditOf(index, beginMs + index * 1000)),
      logs: indexes.map((index) => logOf(index, beginMs + index * 1000)),
    })
  }
  for (let from = 0; from < 1000; from += 100) {
    const indexes = Array.from({ length: 100 }, (_, index) => from + index)
    await records.write({ statuses: indexes.map(statusOf) })
  }
}

const jobOf = (index) => jobKey(`job-${index % 1000}`, `group-${index % groups}`)
const idOf = (index) => String(index).padStart(9, '0')

function misfireOf(index, noticedTimeMs) {
  const { name, group } = keyOf(index)
  return {
    id: idOf(index),
    noticedTimeMs,
    triggerKey: triggerKey(name, group),
    jobKey: jobOf(index),
    cause: ['late', 'outage', 'paused', 'poolFull'][index % 4],
    policy: null,
    fromMs: noticedTimeMs - 60_000,
    toMs: noticedTimeMs - 1000,
    count: 1 + (index % 10),
    node: `node-${index % 3}`,
  }
}

function auditOf(index, timeMs) {
  return {
    timeMs,
    id: idOf(index),
    by: `user-${index % 50}`,
    address: '10.0.0.1',
    node: `node-${index % 3}`,
    operation: index % 10 === 0 ? 'jobs.run' : 'triggers.pause',
    targetGroup: `group-${index % groups}`,
    targetName: nameOf(index),
    outcome: index % 100 === 0 ? 'refused' : 'done',
    times: 1,
    errorText: null,
    requestText: null,
    beforeText: '{"state":"NORMAL"}',
    afterText: '{"state":"PAUSED"}',
  }
}

/** The newest executions have them. */
function logOf(index, timeMs) {
  const lines = [1, 2, 3].map((line) => ({
    line,
    timeMs,
    level: 'info',
    message: `Sent ${line} of 3 invoices`,
    fieldsText: '{"printer":7}',
  }))
  return { fireInstanceId: `f-${index}`, lines }
}

function statusOf(index) {
  const today = Math.floor(Date.now() / 86_400_000)
  const isFailing = index % 100 === 0
  const counts = {
    succeeded: 24,
    failed: isFailing ? 24 : 0,
    vetoed: 0,
    interrupted: 0,
    timedOut: 0,
    lost: 0,
  }
  const nowMs = Date.now()
  return {
    jobKey: jobOf(index),
    last: {
      fireInstanceId: `f-${index}`,
      fireTimeMs: nowMs - 1000,
      finishedTimeMs: nowMs,
      outcome: isFailing ? 'failed' : 'succeeded',
    },
    lastSuccessTimeMs: isFailing ? null : nowMs,
    lastFailureTimeMs: isFailing ? nowMs : null,
    lastErrorText: isFailing ? 'Error: no paper' : null,
    failures: isFailing ? 24 : 0,
    days: new Map(Array.from({ length: 90 }, (_, back) => [today - back, { counts, runTimeMs: 24_000 }])),
  }
}
