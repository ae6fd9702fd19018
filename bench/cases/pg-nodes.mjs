import { startNode } from '../lib/node-process.mjs'
import { connectionString } from '../lib/postgres.mjs'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sleep } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const nodeCounts = { 'one node': 1, 'three nodes': 3, 'ten nodes': 10 }
const rates = [100, 1000]

/** As many nodes on one database, each a process, with 10 slots each. */
export const nodes = {
  name: 'pg-nodes',
  title: 'PostgreSQL: 100 and 1,000 firings a second in all, by one node, three and ten',
  needs: 'postgres',
  variants: Object.keys(nodeCounts).flatMap((name) => rates.map((rate) => `${name}, ${rate}/s`)),
  rounds: 1,
  goals: (median) => [
    {
      what: 'ten nodes, 1,000/s: p99 ms',
      value: median('ten nodes, 1000/s: p99 ms'),
      relation: '<=',
      limit: 50,
    },
  ],
  async run(variant, { once }) {
    const [name, rate] = variant.split(', ')
    return measureNodes({
      count: nodeCounts[name],
      perSecond: once ? 20 : Number.parseInt(rate, 10),
      seconds: once ? 1 : 15,
    })
  },
}

async function measureNodes({ count, perSecond, seconds }) {
  const place = await places.postgres()
  const startMs = Date.now() + 2000
  await withWriter(place, (scheduler, tick) =>
    scheduler.scheduleJobs(
      Array.from({ length: perSecond }, (_, index) => ({
        job: JobBuilder.newJob(tick).withIdentity(`job-${index}`).build(),
        triggers: [everySecond(`trigger-${index}`, startMs + (index * 1000) / perSecond)],
      })),
    ),
  )
  await place.settle()
  const settings = { connectionString: connectionString(), schema: place.schema }
  const started = await Promise.all(
    Array.from({ length: count }, (_, index) => startNode({ ...settings, instanceId: `node-${index}` })),
  )
  // The first seconds run unoptimised code.
  await sleep(Math.max(0, startMs - Date.now()) + (seconds > 1 ? 5000 : 0))
  for (const node of started) node.tell({ op: 'countFrom' })
  await sleep(seconds * 1000)
  for (const node of started) node.tell({ op: 'report' })
  const reports = await Promise.all(started.map((node) => node.next('report')))
  await Promise.all(started.map((node) => node.stop()))
  await place.close()
  const late = sortedCopy(reports.flatMap((report) => report.late))
  const perSecondOf = (countOf) => reports.reduce((sum, report) => sum + countOf(report), 0) / seconds
  return {
    'p50 ms': quantile(late, 0.5),
    'p99 ms': quantile(late, 0.99),
    'fires/s': late.length / seconds,
    'commits/s': perSecondOf(({ commits }) => commits),
    'searches/s': perSecondOf(({ searches }) => searches.all),
    'empty searches/s': perSecondOf(({ searches }) => searches.empty),
  }
}

/** What a node costs that has nothing to do for a while. */
export const idle = {
  name: 'pg-idle',
  title:
    'PostgreSQL: start on a full store; memory and processor of a node whose next trigger is minutes away',
  needs: 'postgres',
  variants: ['10,000 triggers', '1,000,000 triggers'],
  rounds: 1,
  goals: (median) => [
    { what: 'start, ms', value: median('1,000,000 triggers: start ms'), relation: '<', limit: 1000 },
    { what: 'memory, MB', value: median('10,000 triggers: MB'), relation: '<', limit: 60 },
    { what: 'processor, %', value: median('10,000 triggers: % of a core'), relation: '<', limit: 0.5 },
  ],
  async run(variant, { once }) {
    const count = once ? 1000 : Number(variant.split(' ')[0].replaceAll(',', ''))
    const place = await places.postgres()
    await withWriter(place, async (scheduler, tick) => {
      const job = JobBuilder.newJob(tick).withIdentity('job').storeDurably().build()
      await scheduler.scheduleJob(job, everySecond('far', Date.now() + 1_800_000))
    })
    await multiply(place, count)
    await place.settle()
    const settings = { connectionString: connectionString(), schema: place.schema }
    const node = await startNode({ ...settings, instanceId: 'idle', startWhenTold: true })
    node.tell({ op: 'start' })
    const { tookMs } = await node.next('started')
    await sleep(once ? 100 : 10_000)
    const before = await usageOf(node)
    const seconds = once ? 0.1 : 60
    await sleep(seconds * 1000)
    const after = await usageOf(node)
    await node.stop()
    await place.close()
    const microseconds = after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system
    return {
      'start ms': tookMs,
      MB: after.rssBytes / 1_000_000,
      '% of a core': microseconds / 10_000 / seconds,
    }
  },
}

function usageOf(node) {
  node.tell({ op: 'usage' })
  return node.next('usage')
}

/** Copies the one trigger that is stored, through the next half an hour. */
async function multiply({ client, schema }, count) {
  await client.query(`SET search_path = ${schema}`)
  for (const table of ['qrtz_triggers', 'qrtz_simple_triggers']) {
    const { rows } = await client.query(
      'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2',
      [schema, table],
    )
    const made = { trigger_name: `'far-' || i`, next_fire_time: `next_fire_time + i * 1800000 / ${count}` }
    const names = rows.map(({ name }) => name)
    await client.query(
      `INSERT INTO ${table} (${names.join(', ')})
       SELECT ${names.map((name) => made[name] ?? name).join(', ')}
       FROM ${table}, generate_series(CAST(1 AS bigint), ${count}) AS i`,
    )
  }
}

function everySecond(name, startMs) {
  return TriggerBuilder.newTrigger()
    .withIdentity(name)
    .startAt(new Date(startMs))
    .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(1000).repeatForever())
    .build()
}

/** A scheduler that stores and never fires. */
async function withWriter(place, store) {
  const tick = defineJob('tick', () => {})
  const scheduler = await createScheduler({ jobs: [tick], instanceId: 'writer', jobStore: place.open() })
  await store(scheduler, tick)
  await scheduler.shutdown()
}
