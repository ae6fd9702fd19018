import { startNode } from '../lib/node-process.mjs'
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

const variants = {
  'nothing else': (place, seconds) => beside(place, seconds, async () => async () => {}),
  'ten locks held': (place, seconds) => beside(place, seconds, holdRows),
  '50,000 misfires': (place, seconds, { once }) =>
    beside(place, seconds, (scheduler) => storeMisfires(scheduler, place, once ? 500 : 50_000)),
  'a full peer': (place, seconds) => besidePeer(place, seconds, { slots: 2, isFull: true }),
  'a blocked peer': (place, seconds) => besidePeer(place, seconds, { slots: 10, isFull: false }),
}

export const benchmark = {
  name: 'pg-beside',
  title: 'PostgreSQL: lateness of a trigger every 100 ms beside what goes wrong for others',
  needs: 'postgres',
  variants: Object.keys(variants),
  rounds: 1,
  goals: (median) =>
    Object.keys(variants).map((variant) => ({
      what: `${variant}: max ms`,
      value: median(`${variant}: max ms`),
      relation: '<',
      limit: 100,
    })),
  async run(variant, { once }) {
    const place = await places.postgres()
    const late = await variants[variant](place, once ? 3 : 20, { once })
    await place.close()
    const sorted = sortedCopy(late)
    return {
      'p50 ms': quantile(sorted, 0.5),
      'p99 ms': quantile(sorted, 0.99),
      'max ms': sorted.at(-1),
      fires: sorted.length,
    }
  },
}

function every100Ms(name, job, startAt, count) {
  return TriggerBuilder.newTrigger()
    .withIdentity(name)
    .forJob(job)
    .startAt(startAt)
    .withSchedule(
      SimpleScheduleBuilder.simpleSchedule()
        .withIntervalInMilliseconds(100)
        .withRepeatCount(count - 1)
        .withMisfireInstruction('ignore'),
    )
    .build()
}

/** One node; `disturb` is done when it is about to start, and what it answers ends it. */
async function beside(place, seconds, disturb) {
  const late = []
  const tick = defineJob('tick', ({ scheduledFireTime }) => {
    late.push(Date.now() - scheduledFireTime.getTime())
  })
  const held = defineJob('held', () => {}, { disallowConcurrentExecution: true })
  const backlog = defineJob('backlog', () => {})
  const scheduler = await createScheduler({
    jobs: [tick, held, backlog],
    jobStore: place.open(),
    misfireThresholdMs: 1000,
  })
  await scheduler.start()
  await warmUp(scheduler, tick)
  await scheduler.standby()
  late.length = 0
  const end = await disturb(scheduler, place, held)
  const job = JobBuilder.newJob(tick).withIdentity('tick').storeDurably().build()
  const startMs = Date.now() + 300
  await scheduler.addJob(job, { replace: true })
  await scheduler.scheduleJob(every100Ms('tick', job, new Date(startMs), seconds * 10))
  await scheduler.start()
  await sleep(startMs + seconds * 1000 - Date.now())
  await end()
  await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 10_000 })
  return late

  /** The first seconds run unoptimised code. */
  async function warmUp(node, definition) {
    const first = JobBuilder.newJob(definition).withIdentity('warm-up').build()
    await node.scheduleJob(first, every100Ms('warm-up', first, new Date(), 20))
    await sleep(2500)
  }
}

/** Ten jobs that are due all the time, and a session that holds their rows. */
async function holdRows(scheduler, { client, schema }, held) {
  for (let index = 0; index < 10; index++) {
    const job = JobBuilder.newJob(held).withIdentity(`held-${index}`).build()
    await scheduler.scheduleJob(job, every100Ms(`held-${index}`, job, new Date(), 1_000_000))
  }
  await client.query('BEGIN')
  await client.query(`SELECT 1 FROM ${schema}.qrtz_job_details WHERE job_name LIKE 'held-%' FOR UPDATE`)
  return () => client.query('ROLLBACK')
}

async function storeMisfires(scheduler, place, count) {
  const backlog = JobBuilder.newJob('backlog').withIdentity('backlog').storeDurably().build()
  await scheduler.addJob(backlog)
  const hourAgo = new Date(Date.now() - 3_600_000)
  const everyDay = SimpleScheduleBuilder.simpleSchedule()
    .withIntervalInHours(24)
    .repeatForever()
    .withMisfireInstruction('rescheduleNextWithRemainingCount')
  for (let from = 0; from < count; from += 10_000) {
    const triggers = Array.from({ length: Math.min(10_000, count - from) }, (_, index) =>
      TriggerBuilder.newTrigger()
        .withIdentity(`late-${from + index}`)
        .forJob(backlog)
        .startAt(hourAgo)
        .withSchedule(everyDay)
        .build(),
    )
    await scheduler.scheduleJobs([{ job: backlog, triggers }], { replace: true })
  }
  await place.settle()
  return async () => {}
}

/** Two nodes in processes of their own; one of them cannot take its share of a trigger that both may fire. */
async function besidePeer(place, seconds, { slots, isFull }) {
  const settings = { connectionString: process.env.QUARTZ_TS_BENCH_PG, schema: place.schema }
  const latency = defineJob('latency', () => {})
  const hang = defineJob('hang', () => {})
  const writer = await createScheduler({
    jobs: [latency, hang],
    jobStore: place.open(),
    instanceId: 'writer',
  })
  const peer = await startNode({ ...settings, instanceId: 'peer', slots })
  if (isFull) {
    for (let index = 0; index < slots; index++) {
      await writer.scheduleJob(
        JobBuilder.newJob(hang).withIdentity(`hang-${index}`).build(),
        TriggerBuilder.newTrigger().withIdentity(`hang-${index}`).build(),
      )
      await peer.next('began')
    }
  }
  const idle = await startNode({ ...settings, instanceId: 'idle', slots: 10 })
  const job = JobBuilder.newJob(latency).withIdentity('latency').storeDurably().build()
  await writer.addJob(job)
  const startMs = Date.now() + 500
  // The first two seconds run unoptimised code.
  const count = (seconds + 2) * 10
  await writer.scheduleJob(every100Ms('tick', job, new Date(startMs), count))
  if (!isFull) {
    await sleep(startMs + 2000 - Date.now())
    peer.tell({ op: 'block', forMs: seconds * 1000 })
  }
  const late = []
  const collect = async (node) => {
    for (;;) {
      const { atMs, dueMs } = await node.next('began')
      if (dueMs >= startMs + 2000) late.push(atMs - dueMs)
    }
  }
  void collect(peer)
  void collect(idle)
  await sleep(startMs + count * 100 + 1500 - Date.now())
  peer.kill()
  await idle.stop()
  await writer.shutdown()
  return late
}
