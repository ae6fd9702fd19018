import { failoverBenchmark } from '../lib/failover.mjs'
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

const items = 40
const instances = ['a', 'b', 'c']

export const firing = {
  name: 'sharding',
  title: 'PostgreSQL: a firing of 40 items, every second, on 3 nodes of 20 slots, inline',
  needs: 'postgres',
  variants: ['3 nodes'],
  rounds: 3,
  goals: (median) => [
    { what: 'first item after due p50, ms', value: median('first p50 ms'), relation: '<', limit: 10 },
    { what: 'all items after due p50, ms', value: median('all p50 ms'), relation: '<', limit: 50 },
    { what: 'statements an item', value: median('statements an item'), relation: '<=', limit: 4 },
  ],
  run: (_variant, { once }) => measureFirings(once ? 3 : 40),
}

export const takeOver = failoverBenchmark({
  name: 'sharding-failover',
  title: 'PostgreSQL: from SIGKILL of one of 3 nodes until its items of 40 run on the others',
  limits: { defaultMs: 1500, tunedMs: 1500 },
  killOne,
})

async function measureFirings(count) {
  const warmUp = 3
  const { place, nodes } = await cluster({})
  const late = new Map()
  const isOver = counted((count + warmUp) * items, nodes, ({ atMs, dueMs }) => {
    if (!late.has(dueMs)) late.set(dueMs, [])
    late.get(dueMs).push(atMs - dueMs)
  })
  const every = SimpleScheduleBuilder.repeatSecondlyForTotalCount(count + warmUp)
  const startMs = Date.now() + 2000
  await store(place, 'part', every, startMs)
  await sleep(startMs + (warmUp - 0.5) * 1000 - Date.now())
  for (const node of nodes) node.tell({ op: 'countFrom' })
  await isOver
  // The ends of the last items.
  await sleep(300)
  for (const node of nodes) node.tell({ op: 'count' })
  const counts = await Promise.all(nodes.map((node) => node.next('count')))
  const statements = counts.reduce((sum, each) => sum + each.statements, 0)
  await Promise.all(nodes.map((node) => node.stop()))
  await place.close()
  const firings = [...late].sort(([a], [b]) => a - b).slice(warmUp)
  const first = sortedCopy(firings.map(([, lates]) => Math.min(...lates)))
  const all = sortedCopy(firings.map(([, lates]) => Math.max(...lates)))
  return {
    'first p50 ms': quantile(first, 0.5),
    'first max ms': first.at(-1),
    'all p50 ms': quantile(all, 0.5),
    'all max ms': all.at(-1),
    'statements an item': statements / (count * items),
  }
}

async function killOne(settings) {
  const { place, nodes } = await cluster(settings)
  const begun = nodes.map(() => 0)
  const areRunning = counted(items, nodes, (_part, index) => begun[index]++)
  await store(place, 'hanging-part', SimpleScheduleBuilder.simpleSchedule(), Date.now() + 500)
  await areRunning
  // All have seen each other, and each other's witness, by then.
  await sleep(4000)
  const [victim, ...others] = nodes
  let lastMs = 0
  const areTaken = counted(begun[0], others, ({ atMs, recovering }) => {
    if (recovering !== true) throw new Error('An item ran again without being recovered')
    lastMs = Math.max(lastMs, atMs)
  })
  const killedMs = Date.now()
  victim.kill()
  await areTaken
  await Promise.all(others.map((node) => node.stop()))
  await place.close()
  return lastMs - killedMs
}

/** Three nodes that share data and have room for all items if one of them dies. */
async function cluster(settings) {
  const place = await places.postgres()
  const shared = { connectionString: connectionString(), schema: place.schema, slots: 20, cluster: settings }
  const nodes = []
  for (const instanceId of instances) nodes.push(await startNode({ ...shared, instanceId }))
  return { place, nodes }
}

/** Resolves when the nodes have begun so many items in all. */
async function counted(count, nodes, onPart) {
  let left = count
  await new Promise((resolve) => {
    for (const [index, node] of nodes.entries()) {
      node.on('part', (part) => {
        onPart(part, index)
        if (--left === 0) resolve()
      })
    }
  })
  for (const node of nodes) node.on('part', () => {})
}

async function store(place, jobType, schedule, startMs) {
  const jobs = [defineJob(jobType, () => {})]
  const scheduler = await createScheduler({ jobs, instanceId: 'writer', jobStore: place.open() })
  await scheduler.scheduleJob(
    JobBuilder.newJob(jobType).withIdentity('parts').storeDurably().withSharding({ items }).build(),
    TriggerBuilder.newTrigger().startAt(new Date(startMs)).withSchedule(schedule).build(),
  )
  await scheduler.shutdown()
}
