import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { connectionString } from '../lib/postgres.mjs'
import { createScheduler, defineJob, JobBuilder } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const entry = fileURLToPath(new URL('../lib/caller-entry.mjs', import.meta.url))
const jobs = {
  'a durable job': (builder) => builder.storeDurably(),
  'a durable job that runs once at a time': (builder) => builder.storeDurably().disallowConcurrentExecution(),
}
const nodeNumbers = { 'no node fires': false, 'each fires': true }

/** Calls of triggerJob for one job from many processes, as web servers make them. */
export const benchmark = {
  name: 'pg-callers',
  title: 'PostgreSQL: calls of triggerJob for one job, five at a time from each of eight processes',
  needs: 'postgres',
  variants: Object.keys(jobs).flatMap((job) => Object.keys(nodeNumbers).map((nodes) => `${job}, ${nodes}`)),
  rounds: 1,
  goals: () => [],
  async run(variant, { once }) {
    const [job, nodes] = variant.split(', ')
    return measureCallers({
      buildJob: jobs[job],
      fires: nodeNumbers[nodes],
      processes: once ? 2 : 8,
      calls: once ? 5 : 50,
    })
  },
}

async function measureCallers({ buildJob, fires, processes, calls }) {
  const place = await places.postgres()
  const noop = defineJob('noop', () => {})
  const scheduler = await createScheduler({ jobs: [noop], jobStore: place.open() })
  await scheduler.addJob(buildJob(JobBuilder.newJob(noop).withIdentity('called')).build())
  await scheduler.shutdown()
  await place.settle()
  const settings = { connectionString: connectionString(), schema: place.schema, fires, calls }
  const children = await Promise.all(
    Array.from({ length: processes }, (_, index) =>
      startCaller({ ...settings, instanceId: `caller-${index}` }),
    ),
  )
  const startedMs = performance.now()
  const reports = await Promise.all(children.map((child) => child.call()))
  const seconds = (performance.now() - startedMs) / 1000
  for (const child of children) child.stop()
  await place.close()
  const sorted = sortedCopy(reports.flatMap(({ tookMs }) => tookMs))
  return {
    'calls/s': sorted.length / seconds,
    'p50 ms': quantile(sorted, 0.5),
    'p99 ms': quantile(sorted, 0.99),
    'failed calls': reports.reduce((sum, { failed }) => sum + failed, 0),
  }
}

async function startCaller(settings) {
  const child = fork(entry, [JSON.stringify(settings)], { env: { ...process.env, NODE_OPTIONS: '' } })
  const heard = () => new Promise((resolve) => child.once('message', resolve))
  await heard()
  return {
    call() {
      child.send('call')
      return heard()
    },
    stop: () => child.send('stop'),
  }
}
