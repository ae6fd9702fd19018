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

const counts = countStatements()
const scheduler = await createScheduler({
  jobs: [noop, latency, hang, part, hangingPart],
  instanceId,
  jobStore: postgresJobStore({ connectionString, schema, ...cluster }),
  threadPool: { size: slots },
})
process.on('message', async ({ op, forMs }) => {
  if (op === 'start') await scheduler.start()
  if (op === 'count') say({ kind: 'count', fired, statements: counts.statements })
  if (op === 'countFrom') {
    counts.statements = 0
    counts.isCounting = true
  }
  if (op === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs)
  if (op === 'stop') {
    await scheduler.shutdown({ waitForJobsToComplete: false })
    process.exit(0)
  }
})
if (!startWhenTold) await scheduler.start()
say({ kind: 'ready' })
