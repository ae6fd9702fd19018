// A scheduler in a process of its own: says when it is ready, what it ran, and stops when told.
import { postgresJobStore } from '../../dist/postgres.js'
import { countStatements } from './postgres.mjs'
import { createScheduler, defineJob } from './quartz-ts.mjs'

const {
  connectionString,
  schema,
  instanceId,
  slots = 10,
  cluster,
  startWhenTold = false,
} = JSON.parse(process.argv[2] ?? '{}')
const say = (message) => process.send(message)
let fired = 0

// Whoever forked it was killed: nobody would end it.
process.on('disconnect', () => process.exit(1))

const noop = defineJob('noop', () => {
  fired++
})
const latency = defineJob('latency', (context) => {
  say({ kind: 'began', atMs: Date.now(), dueMs: context.scheduledFireTime.getTime(), instanceId })
})
const hang = defineJob('hang', async (context) => {
  say({ kind: 'began', atMs: Date.now(), instanceId, recovering: context.recovering })
  if (context.recovering) return
  await new Promise((resolve) => setTimeout(resolve, 600_000, resolve))
})
const part = defineJob('part', ({ shard, scheduledFireTime }) => {
  say({ kind: 'part', atMs: Date.now(), dueMs: scheduledFireTime.getTime(), item: shard.item })
})
const hangingPart = defineJob('hanging-part', async ({ recovering, shard }) => {
  say({ kind: 'part', atMs: Date.now(), item: shard.item, recovering })
  await new Promise((resolve) => setTimeout(resolve, 600_000, resolve))
})

const late = []
const tick = defineJob('tick', ({ scheduledFireTime }) => {
  late.push(Date.now() - scheduledFireTime.getTime())
})

const counts = countStatements()
const searches = { all: 0, empty: 0 }
const openedMs = performance.now()
const scheduler = await createScheduler({
  jobs: [noop, latency, hang, part, hangingPart, tick],
  instanceId,
  jobStore: countingSearches(postgresJobStore({ connectionString, schema, ...cluster })),
  threadPool: { size: slots },
})
process.on('message', async ({ op, forMs }) => {
  if (op === 'start') {
    await scheduler.start()
    say({ kind: 'started', tookMs: performance.now() - openedMs })
  }
  if (op === 'count') say({ kind: 'count', fired, statements: counts.statements })
  if (op === 'countFrom') {
    counts.statements = counts.commits = searches.all = searches.empty = late.length = 0
    counts.isCounting = true
  }
  if (op === 'report') say({ kind: 'report', late, commits: counts.commits, searches })
  if (op === 'usage') say({ kind: 'usage', cpu: process.cpuUsage(), rssBytes: process.memoryUsage().rss })
  if (op === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs)
  if (op === 'stop') {
    await scheduler.shutdown({ waitForJobsToComplete: false })
    process.exit(0)
  }
})
if (!startWhenTold) await scheduler.start()
say({ kind: 'ready' })

function countingSearches(store) {
  const search = store.acquireAndFire.bind(store)
  store.acquireAndFire = async (request) => {
    const found = await search(request)
    searches.all++
    if (found.fired.length + found.acquired.length === 0) searches.empty++
    return found
  }
  return store
}
