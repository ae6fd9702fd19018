import { countedJob, oneShots } from '../lib/drain.mjs'
import { failoverBenchmark } from '../lib/failover.mjs'
import { startNode } from '../lib/node-process.mjs'
import { connectionString } from '../lib/postgres.mjs'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sleep } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

export const twoNodes = {
  name: 'pg-two-nodes',
  title: 'PostgreSQL: one-shot triggers due now, a job each, one process and two, 50 slots each',
  needs: 'postgres',
  variants: ['one node', 'two nodes'],
  rounds: 3,
  goals: (median) => [
    {
      what: 'two nodes, times one',
      value: median('two nodes: jobs/s') / median('one node: jobs/s'),
      relation: '>=',
      limit: 1,
    },
  ],
  async run(variant, { once }) {
    const count = once ? 300 : 20_000
    const place = await places.postgres()
    await storeOneShots(place, count)
    const instances = variant === 'one node' ? ['a'] : ['a', 'b']
    const nodes = await Promise.all(
      instances.map((instanceId) =>
        startNode({ ...settingsOf(place), instanceId, slots: 50, startWhenTold: true }),
      ),
    )
    const startedMs = performance.now()
    for (const node of nodes) node.tell({ op: 'start' })
    await emptied(place)
    const elapsedMs = performance.now() - startedMs
    for (const node of nodes) node.tell({ op: 'count' })
    const counts = await Promise.all(nodes.map((node) => node.next('count')))
    const fired = counts.reduce((total, each) => total + each.fired, 0)
    await Promise.all(nodes.map((node) => node.stop()))
    await place.close()
    if (fired !== count) throw new Error(`${fired} fires instead of ${count}`)
    return { 'jobs/s': count / (elapsedMs / 1000) }
  },
}

export const latency = {
  name: 'pg-latency',
  title:
    'PostgreSQL: from a schedule call for now to the start of the body, one at a time: the first 1,000 of a young ' +
    'process, and "warm" the last 2,000 of 4,000',
  needs: 'postgres',
  variants: ['same node', 'other node', 'graphile-worker'],
  rounds: 3,
  goals: (median) => [
    { what: 'same node p50, ms', value: median('same node: p50 ms'), relation: '<=', limit: 2 },
    { what: 'same node p99, ms', value: median('same node: p99 ms'), relation: '<=', limit: 5 },
    { what: 'other node p99, ms', value: median('other node: p99 ms'), relation: '<=', limit: 50 },
  ],
  async run(variant, { once }) {
    const { young, later } = once ? { young: 10, later: 10 } : { young: 1000, later: 2000 }
    const measure = { 'same node': onSameNode, 'other node': onOtherNode, 'graphile-worker': inGraphile }
    const samples = await measure[variant](once ? 20 : 4000)
    const first = sortedCopy(samples.slice(0, young))
    const last = sortedCopy(samples.slice(-later))
    return {
      'p50 ms': quantile(first, 0.5),
      'p99 ms': quantile(first, 0.99),
      'max ms': first.at(-1),
      'warm p50 ms': quantile(last, 0.5),
      'warm p99 ms': quantile(last, 0.99),
    }
  },
}

export const failover = failoverBenchmark({
  name: 'failover',
  title:
    'PostgreSQL: from SIGKILL of a node in the middle of a recoverable job until it runs on the other node',
  limits: { defaultMs: 1500, tunedMs: 1500 },
  killOne,
})

const settingsOf = ({ schema }) => ({ connectionString: connectionString(), schema })

/** A scheduler that stores and never fires. */
async function withWriter(place, jobs, action) {
  const scheduler = await createScheduler({ jobs, instanceId: 'writer', jobStore: place.open() })
  const answer = await action(scheduler)
  await scheduler.shutdown()
  return answer
}

async function storeOneShots(place, count) {
  const { job } = countedJob(count)
  await withWriter(place, [job], (scheduler) => scheduler.scheduleJobs(oneShots(job, count)))
  await place.settle()
}

async function emptied({ client, schema }) {
  for (;;) {
    const { rows } = await client.query(`SELECT 1 FROM ${schema}.qrtz_triggers LIMIT 1`)
    if (rows.length === 0) return
    await sleep(5)
  }
}

async function onSameNode(count) {
  const place = await places.postgres()
  let began = () => {}
  const job = defineJob('latency', () => began(performance.now()))
  const scheduler = await createScheduler({ jobs: [job], jobStore: place.open() })
  await scheduler.start()
  const samples = []
  for (let index = 0; index < count + 50; index++) {
    const body = new Promise((resolve) => {
      began = resolve
    })
    const askedMs = performance.now()
    await scheduler.scheduleJob(
      JobBuilder.newJob(job).build(),
      TriggerBuilder.newTrigger().startNow().build(),
    )
    samples.push((await body) - askedMs)
  }
  await scheduler.shutdown({ waitForJobsToComplete: true })
  await place.close()
  return samples.slice(50)
}

async function onOtherNode(count) {
  const place = await places.postgres()
  const job = defineJob('latency', () => {})
  const samples = await withWriter(place, [job], async (scheduler) => {
    const node = await startNode({ ...settingsOf(place), instanceId: 'other' })
    const measured = []
    for (let index = 0; index < count + 50; index++) {
      const askedMs = Date.now()
      await scheduler.scheduleJob(
        JobBuilder.newJob(job).build(),
        TriggerBuilder.newTrigger().startNow().build(),
      )
      measured.push((await node.next('began')).atMs - askedMs)
    }
    await node.stop()
    return measured.slice(50)
  })
  await place.close()
  return samples
}

async function inGraphile(count) {
  const { graphileWorkerLatencies } = await import('../lib/pg-peers.mjs')
  return graphileWorkerLatencies(count)
}

async function killOne(cluster) {
  const place = await places.postgres()
  const settings = { ...settingsOf(place), cluster }
  const first = await startNode({ ...settings, instanceId: 'first' })
  const job = defineJob('hang', () => {})
  await withWriter(place, [job], (scheduler) =>
    scheduler.scheduleJob(
      JobBuilder.newJob(job).withIdentity('hang').storeDurably().requestRecovery().build(),
      TriggerBuilder.newTrigger().startNow().build(),
    ),
  )
  await first.next('began')
  const second = await startNode({ ...settings, instanceId: 'second' })
  // Both have seen each other, and each other's witness, by then.
  await sleep(4000)
  const killedMs = Date.now()
  first.kill()
  const { atMs, recovering } = await second.next('began')
  if (recovering !== true) throw new Error('The job ran again without being recovered')
  await second.stop()
  await place.close()
  return atMs - killedMs
}
