import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
  triggerKey,
} from '../lib/quartz-ts.mjs'
import { seededRandom } from '../lib/random.mjs'
import { headers, viewedServer } from '../lib/server.mjs'
import { places } from '../lib/sql-stores.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const Database = createRequire(new URL('../../package.json', import.meta.url))('better-sqlite3')
const stores = { PostgreSQL: 'postgres', SQLite: 'sqlite' }
const schedulerName = 'bench'

export const benchmark = {
  name: 'server-lists',
  title: 'Lists and searches of the HTTP API: 100,000 triggers and 1,000,000 executions, without the network',
  needs: 'postgres',
  variants: Object.keys(stores),
  rounds: 1,
  goals: (median) =>
    Object.keys(stores).map((store) => ({
      what: `${store}: all calls, p99 ms`,
      value: median(`${store}: all p99 ms`),
      relation: '<=',
      limit: 50,
    })),
  async run(variant, { once, seed }) {
    const place = await places[stores[variant]]()
    const size = once
      ? { triggers: 2000, executions: 2000, calls: 2 }
      : { triggers: 100_000, executions: 1_000_000, calls: 30 }
    const measured = await measure(place, size, seed)
    await place.close()
    return measured
  },
}

async function measure(place, { triggers, executions, calls }, seed) {
  const noop = defineJob('noop', () => {})
  const jobStore = place.open({ history: { record: 'all', maxRows: 10_000_000 } })
  const scheduler = await createScheduler({ schedulerName, jobs: [noop], jobStore, logger: false })
  await fill(scheduler, noop, triggers)
  await remember(place, executions, triggers)
  await place.settle()
  const server = await viewedServer(scheduler)
  const random = seededRandom(seed)
  const pick = (count) => Math.floor(random() * count)
  const kinds = callsOf(triggers, executions, pick)
  const taken = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]))
  for (const call of Object.values(kinds)) await timed(server, call())
  for (let round = 0; round < calls; round++) {
    for (const [kind, call] of Object.entries(kinds)) taken[kind].push(await timed(server, call()))
  }
  const wholeSearch = await searchedWhole(server)
  await server.close()
  await scheduler.shutdown()
  const all = Object.values(taken).flat()
  return {
    'all p50 ms': quantileOf(all, 'takenMs', 0.5),
    'all p99 ms': quantileOf(all, 'takenMs', 0.99),
    'all p99 ms of the processor': quantileOf(all, 'processorMs', 0.99),
    ...Object.fromEntries(
      Object.entries(taken).flatMap(([kind, samples]) => [
        [`${kind}: p50 ms`, quantileOf(samples, 'takenMs', 0.5)],
        [`${kind}: p99 ms`, quantileOf(samples, 'takenMs', 0.99)],
        [`${kind}: p99 ms of the processor`, quantileOf(samples, 'processorMs', 0.99)],
      ]),
    ),
    'a search of everything that finds nothing, ms': wholeSearch.ms,
    'the same, requests': wholeSearch.requests,
  }
}

function quantileOf(samples, field, share) {
  return quantile(sortedCopy(samples.map((sample) => sample[field])), share)
}

const groups = 100
const keyOf = (index) => ({
  group: index % 3 === 0 ? 'DEFAULT' : `group-${index % groups}`,
  name: nameOf(index),
})
const nameOf = (index) => `invoice-${index}`

async function fill(scheduler, noop, count) {
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
async function remember(place, count) {
  const beginMs = Date.now() - count * 1000
  const columns = `sched_name, fire_instance_id, trigger_name, trigger_group, job_name, job_group, job_type,
    instance_name, planned_time, fired_time, finished_time, attempt, outcome, error_text, recovering`
  const text = (column) => (place.client === undefined ? column : `CAST(${column} AS text)`)
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

function callsOf(triggers, executions, pick) {
  const cursor = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const executedMs = () => Date.now() - pick(executions) * 1000
  return {
    'triggers, first page': () => '/triggers?take=50',
    'triggers, a page': () => `/triggers?take=50&after=${cursor(keyOf(pick(triggers)))}`,
    'triggers, of 1,000': () => '/triggers?take=1000',
    'triggers, search': () => `/triggers?take=50&search=INVOICE-${pick(triggers)}`,
    'triggers, search for nothing': () => '/triggers?take=50&search=nothing',
    'triggers, in error': () => '/triggers?take=50&state=ERROR',
    'triggers, paused': () => '/triggers?take=50&state=PAUSED,COMPLETE',
    'triggers, of a job': () => `/triggers?jobGroup=group-${pick(groups)}&jobName=job-${pick(1000)}`,
    'triggers, of a group of jobs': () => `/triggers?take=50&jobGroup=group-${pick(groups)}`,
    'triggers, in fire order': () => '/triggers?take=50&order=nextFireTime',
    'triggers, due': () => `/triggers?take=50&dueBeforeMs=${Date.now() + 90_000_000}`,
    'jobs, search': () => `/jobs?take=50&search=job-${pick(1000)}`,
    groups: () => '/groups',
    overview: () => '/overview',
    planned: () => `/planned?take=50&toMs=${Date.now() + 90_000_000}`,
    'executions, first page': () => '/executions?take=50',
    'executions, a page': () =>
      `/executions?take=50&after=${cursor({ fireTimeMs: executedMs(), fireInstanceId: 'f-1' })}`,
    'executions, of a trigger': () => `/executions?take=50&filter=trigger:DEFAULT/${nameOf(pick(5000))}`,
    'executions, of a job': () => {
      const job = pick(1000)
      return `/executions?take=50&filter=job:group-${job % 100}/job-${job}`
    },
    'executions, failed': () => '/executions?take=50&filter=outcome:failed',
  }
}

/** Milliseconds by the clock, and of the processor that this process used. */
async function timed(server, path) {
  const before = process.cpuUsage()
  const startedMs = performance.now()
  const response = await server.fetch(new Request(`http://localhost/api${path}`, { headers }))
  const text = await response.text()
  const takenMs = performance.now() - startedMs
  const { user, system } = process.cpuUsage(before)
  if (response.status !== 200) throw new Error(`${path} was answered ${text}`)
  return { takenMs, processorMs: (user + system) / 1000 }
}

async function searchedWhole(server) {
  const startedMs = performance.now()
  let requests = 0
  for (let after = ''; after !== null; requests++) {
    const path = `/triggers?take=50&search=nothing${after === '' ? '' : `&after=${after}`}`
    const response = await server.fetch(new Request(`http://localhost/api${path}`, { headers }))
    after = (await response.json()).next
  }
  return { ms: performance.now() - startedMs, requests }
}
