// A node of a cluster under test: a process with a scheduler of the built package, which obeys what the test sends.
// What happens it appends to a file that no store knows of. Its one argument is a ChaosNodeOptions as JSON.

import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CronCalendar,
  createScheduler,
  defineJob,
  defineWorkerJob,
  GroupMatcher,
  inProcessThreadPool,
  JobBuilder,
  systemClock,
  TriggerBuilder,
  triggerFromJSON,
} from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'
import { DelegatingJobStore } from '../../dist/spi.js'
import { sqliteJobStore } from '../../dist/sqlite.js'

const options = JSON.parse(process.argv[2])
const { instanceId: node, killAt = null, clockOffsetMs = 0 } = options
const log = openSync(options.log, 'a')

function record(kind, fields) {
  writeSync(log, `${JSON.stringify({ at: Date.now(), kind, node, pid: process.pid, ...fields })}\n`)
}

// Threads are told by their environment where they are.
process.env.CHAOS_NODE = node

let passed = 0
/** Ends this process as a power cut would, or has it stand still, at the n-th time that it passes the point. */
function pass(point) {
  if (killAt?.point !== point || ++passed !== killAt.nth) return
  const signal = killAt.signal ?? 'SIGKILL'
  record(signal === 'SIGKILL' ? 'killed' : 'frozen', { point })
  process.kill(process.pid, signal)
}

/** The ends of items that are not in the store yet. */
class ItemEnds {
  #open = new Set()
  #wake = () => {}
  ended({ fireInstanceId }) {
    this.#open.add(fireInstanceId)
  }
  told({ fireInstanceId }) {
    this.#open.delete(fireInstanceId)
    this.#wake()
  }
  async allTold() {
    while (this.#open.size > 0) await new Promise((resolve) => (this.#wake = resolve))
  }
}
const itemEnds = new ItemEnds()

class KillableStore extends DelegatingJobStore {
  constructor(inner) {
    super(inner)
    // What these points lie between is one step otherwise.
    if (['afterAcquire', 'afterFired'].includes(killAt.point)) this.acquireAndFire = undefined
  }
  async acquireAndFire(request) {
    const batch = await this.inner.acquireAndFire(request)
    if (batch.fired.length > 0) pass('afterFiredAtOnce')
    return batch
  }
  async acquireNextTriggers(request) {
    const acquired = await super.acquireNextTriggers(request)
    if (acquired.length > 0) pass('afterAcquire')
    return acquired
  }
  async triggersFired(acquired) {
    const results = await super.triggersFired(acquired)
    pass('afterFired')
    return results
  }
  /** Each end by itself, so that a kill point counts ends, however many of them the writer hands over at once. */
  async triggeredJobsComplete(completions) {
    const locked = []
    const passedOver = []
    for (const completion of completions) {
      pass('beforeCompletion')
      const answer = await super.triggeredJobsComplete([completion])
      locked.push(...answer.locked)
      passedOver.push(...answer.passedOver)
      pass('afterCompletion')
      itemEnds.told(completion)
    }
    return { locked, passedOver }
  }
}

/** A recovery trigger gets its name in the middle of the transaction that recovers. */
const ids = {
  uniqueName: () => {
    if (new Error().stack.includes('recoveryTrigger')) pass('duringRecovery')
    return crypto.randomUUID()
  },
  random: Math.random,
}

function recordRun(kind, context) {
  record(kind, {
    trigger: context.originalTriggerKey.toString(),
    planned: context.scheduledFireTime.getTime(),
    firedAt: context.fireTime.getTime(),
    job: context.jobKey.toString(),
    id: context.fireInstanceId,
    attempt: context.attempt,
    recovering: context.recovering,
    ...(context.shard === null ? {} : { item: context.shard.item }),
  })
}

async function execute(context) {
  recordRun('started', context)
  // An item whose end is not written yet would run again as well.
  if (killAt?.point === 'midRun') await itemEnds.allTold()
  pass('midRun')
  if (context.jobDetail.requestsRecovery) pass('midRecoverableRun')
  const { bodyMs = 0, failures = 0 } = context.mergedJobDataMap
  if (bodyMs > 0) await sleep(bodyMs)
  if (context.attempt <= failures) {
    recordRun('failed', context)
    throw new Error('planned')
  }
  recordRun('ended', context)
  if (killAt !== null && context.shard !== null) itemEnds.ended(context)
}

const retry = { attempts: 3, backoff: { type: 'fixed', initialMs: 200 } }
const definitions = {
  work: defineJob('work', execute),
  exclusive: defineJob('exclusive', execute, { disallowConcurrentExecution: true }),
  retrying: defineJob('retrying', execute, { retry }),
}
if (options.withThreads) {
  // Its thread cannot be ended before its native call has returned, which is after its time limit.
  const module = new URL('native-job.mjs', import.meta.url)
  definitions.native = defineWorkerJob('native', module, {
    disallowConcurrentExecution: true,
    timeoutMs: 1000,
  })
}

const store =
  options.store === 'sqlite'
    ? sqliteJobStore({ filename: options.location, ...options.storeOptions })
    : postgresJobStore({ connectionString: options.location, ...options.storeOptions })

const poolSize = options.poolSize ?? 10
const scheduler = await createScheduler({
  schedulerName: 'chaos',
  instanceId: node,
  jobs: Object.values(definitions),
  jobStore: killAt === null ? store : new KillableStore(store),
  threadPool: options.withThreads
    ? { size: poolSize, maxThreads: 3 }
    : inProcessThreadPool({ size: poolSize }),
  clock: { ...systemClock, now: () => Date.now() + clockOffsetMs },
  ids,
  ...options.schedulerOptions,
})

scheduler.listenerManager.addJobListener({
  name: 'kill point',
  jobToBeExecuted: () => {
    pass('beforeRun')
  },
})

/** Each event, and what of it the checker reads. */
const events = {
  schedulerError: ({ message, error }) => ({ message, error: String(error.cause ?? error) }),
  nodeFailed: ({ node }) => ({ instanceId: node }),
  nodeRecovered: ({ node, ...recovery }) => ({ ...recovery, instanceId: node }),
  recoveredByPeer: () => ({}),
  clockSkewed: ({ offsetMs }) => ({ offsetMs }),
  executionLost: ({ triggerKey, scheduledFireTime, fireInstanceId, node }) => ({
    trigger: triggerKey.toString(),
    planned: scheduledFireTime.getTime(),
    id: fireInstanceId,
    instanceId: node,
  }),
  triggerMisfired: ({ trigger }) => ({ trigger: trigger.key.toString(), planned: trigger.nextFireTimeMs }),
  triggerInError: ({ triggerKey, reason }) => ({ trigger: triggerKey.toString(), reason }),
  allShardsDone: ({ firing }) => ({ id: firing.fireInstanceId, outcome: firing.outcome }),
}
for (const [name, fieldsOf] of Object.entries(events)) {
  scheduler.events.on(name, (payload) => record(name, fieldsOf(payload)))
}
process.on('uncaughtExceptionMonitor', (error) =>
  record('uncaught', { error: String(error?.stack ?? error) }),
)

function jobOf({ name, group = 'jobs', type, recovery = false, durable = false, nodes = [], data = {} }) {
  const builder = JobBuilder.newJob(definitions[type]).withIdentity(name, group)
  builder.usingJobData(data)
  if (nodes.length > 0) builder.onNodes(nodes, { required: false })
  if (recovery) builder.requestRecovery()
  if (durable) builder.storeDurably()
  return builder.build()
}

function oneShot(index) {
  const job = jobOf({ name: `once-${index}`, type: 'work' })
  const startMs = Date.now() + clockOffsetMs
  return {
    job,
    triggers: [TriggerBuilder.newTrigger().withIdentity(`once-${index}`).startAt(new Date(startMs)).build()],
  }
}

const commands = {
  start: () => scheduler.start(),
  schedule: ({ entries }) =>
    scheduler.scheduleJobs(
      entries.map(({ job, triggers }) => ({ job: jobOf(job), triggers: triggers.map(triggerFromJSON) })),
    ),
  /** A job that is split into items, to fire once, now. */
  scheduleSharded: ({ items }) =>
    scheduler.scheduleJob(
      JobBuilder.newJob(definitions.work)
        .withIdentity('sharded')
        .storeDurably()
        .withSharding({ items })
        .build(),
      TriggerBuilder.newTrigger().withIdentity('sharded').build(),
    ),
  scheduleOneShots: ({ count }) =>
    scheduler.scheduleJobs(Array.from({ length: count }, (_, index) => oneShot(index))),
  /** Keeps the event loop from turning. */
  block: ({ forMs }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs)
  },
  addCalendar: ({ name, excluded }) =>
    scheduler.addCalendar(name, new CronCalendar({ expression: excluded, timeZone: 'UTC' }), {
      replace: true,
    }),
  pause: ({ group }) => scheduler.pauseTriggers(GroupMatcher.groupEquals(group)),
  resume: ({ group }) => scheduler.resumeTriggers(GroupMatcher.groupEquals(group)),
  memory: () => {
    globalThis.gc()
    record('memory', { heapBytes: process.memoryUsage().heapUsed, rssBytes: process.memoryUsage().rss })
  },
  stop: () => scheduler.shutdown({ waitForJobsToComplete: true }),
}

/** A deploy gives a node a while to end what runs. */
process.once('SIGTERM', async () => {
  await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 8000 })
  // Nothing of the scheduler may keep the process.
  isEnding = true
  if (process.connected) process.disconnect()
})

// Nobody is left to stop this process when the test is gone.
let isEnding = false
process.once('disconnect', () => {
  if (!isEnding) process.exit(0)
})
/** One that was told to end may have no channel any more. */
function answer(message) {
  if (process.connected) process.send(message)
}

process.on('message', async ({ op, question, ...fields }) => {
  try {
    await commands[op](fields)
    answer({ question, error: null })
  } catch (error) {
    answer({ question, error: { code: error.code ?? null, message: String(error) } })
  }
  if (op === 'stop' && process.connected) process.disconnect()
})
process.send({ ready: true })
