import { createRequire } from 'node:module'
import { join } from 'node:path'
import { JobBuilder, SimpleScheduleBuilder, TriggerBuilder, triggerKey } from './quartz-ts.mjs'

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

/** Executions of the last 11 days, one a second; every 1000th failed. */
export async function remember(place, count) {
  const beginMs = Date.now() - count * 1000
  const columns = `sched_name, fire_instance_id, trigger_name, trigger_group, job_name, job_group, job_type,
    instance_name, planned_time, fired_time, finished_time, attempt, outcome, error_text, recovering`
  const text = (column) => `CAST(${column} AS text)`
  const values = `'${schedulerName}', 'f-' || ${text('i')}, 'invoice-' || ${text('i % 5000')}, 'DEFAULT',
    'job-' || ${text('i % 1000')}, 'group-' || ${text('i % 100')}, 'noop', 'node-' || ${text('i % 3')},
    ${beginMs} + i * 1000, ${beginMs} + i * 1000 + 5, ${beginMs} + i * 1000 + 25, 1,
    CASE WHEN i % 1000 = 0 THEN 'failed' ELSE 'succeeded' END, NULL, false`
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
