import { drain, oneShots, repeating } from '../lib/drain.mjs'
import { hasJavaQuartz, javaQuartzRate } from '../lib/java-quartz.mjs'
import { floorRate } from '../lib/pg-floor.mjs'
import { graphileWorkerRate, pgBossRate } from '../lib/pg-peers.mjs'
import { connectionString, countStatements } from '../lib/postgres.mjs'
import { createScheduler, defineJob } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'

const batch = { maxBatchSize: 500 }
const ours = {
  'quartz-ts, 100 slots': { slots: 100 },
  'quartz-ts, 1,000 slots, batch 500': { slots: 1000, options: batch },
}
const peers = {
  'the same rows and nothing else, 100': (count) =>
    floorOf({ entriesOf: (job) => oneShots(job, count), batch: 100, count }),
  'the same rows and nothing else, 500': (count) =>
    floorOf({ entriesOf: (job) => oneShots(job, count), batch: 500, count }),
  'graphile-worker, one by one': (count) => graphileWorkerRate(count, { batched: false }),
  'graphile-worker, batched': (count) => graphileWorkerRate(count, { batched: true }),
  'pg-boss, batches of 1,000': (count) => pgBossRate(count),
  ...(hasJavaQuartz()
    ? {
        'Java Quartz, batch 1': (count) => javaQuartzRate(count, { batch: 1 }),
        'Java Quartz, batch 100': (count) => javaQuartzRate(count, { batch: 100 }),
      }
    : {}),
}
/** So many that the fast ones run for some seconds; slow ones are given fewer, so that a round ends. */
function countOf(variant, once) {
  const jobs = once ? 300 : 60_000
  return /Java|one by one/.test(variant) ? jobs / 30 : jobs
}

export const benchmark = {
  name: 'pg-fires',
  title: 'PostgreSQL: one-shot triggers due now, a job each, no-op inline job, one node',
  needs: 'postgres',
  variants: [...Object.keys(ours), ...Object.keys(peers)],
  rounds: 3,
  goals: (median) => {
    const own = median('quartz-ts, 100 slots: jobs/s')
    return [
      ...javaGoal(median, own),
      atLeast('times graphile-worker one by one', own / median('graphile-worker, one by one: jobs/s'), 1),
      atLeast(
        'with batches, times graphile-worker batched',
        median('quartz-ts, 1,000 slots, batch 500: jobs/s') / median('graphile-worker, batched: jobs/s'),
        1,
      ),
      atMost(
        'with batches, times slower than the same rows and nothing else',
        median('the same rows and nothing else, 500: jobs/s') /
          median('quartz-ts, 1,000 slots, batch 500: jobs/s'),
        1.5,
      ),
      atMost('statements a fire', median('quartz-ts, 100 slots: statements a fire'), 3),
      atMost('commits a fire', median('quartz-ts, 100 slots: commits a fire'), 0.2),
    ]
  },
  async run(variant, { once }) {
    const count = countOf(variant, once)
    const peer = peers[variant]
    if (peer !== undefined) return { 'jobs/s': await peer(count) }
    await drainHere(ours[variant], Math.min(count, 2000), null)
    const counts = countStatements()
    const { perSecond } = await drainHere(ours[variant], count, counts)
    return {
      'jobs/s': perSecond,
      'statements a fire': counts.statements / count,
      'commits a fire': counts.commits / count,
    }
  },
}

const repeatingShapes = {
  'quartz-ts, 100 slots': { slots: 100, triggers: 200 },
  'quartz-ts, 1,000 slots, batch 500': { slots: 1000, triggers: 2000, options: batch },
  'the same rows and nothing else, 100': { triggers: 200, floor: 100 },
  'the same rows and nothing else, 500': { triggers: 2000, floor: 500 },
  ...(hasJavaQuartz()
    ? {
        'Java Quartz, 100 threads, batch 100': { threads: 100, triggers: 200, batch: 100 },
        'Java Quartz, 1,000 threads, batch 500': { threads: 1000, triggers: 2000, batch: 500 },
      }
    : {}),
}

export const repeatingBenchmark = {
  name: 'pg-repeating',
  title:
    'PostgreSQL: triggers that are always due, twice as many as slots, a job each, no-op inline job, one node',
  needs: 'postgres',
  variants: Object.keys(repeatingShapes),
  rounds: 3,
  goals: (median) => {
    const rates = Object.keys(repeatingShapes).map((shape) => median(`${shape}: fires/s`))
    const [own, ownLarge, , , ...java] = rates
    if (java.length === 0) return []
    return [
      atLeast('times Java Quartz, 100 slots', own / java[0], 30),
      atLeast('times the better of Java Quartz, batches of 500', ownLarge / Math.max(...java), 30),
    ]
  },
  async run(variant, { once }) {
    const { slots, threads, triggers, floor, batch: javaBatch, options } = repeatingShapes[variant]
    const count = countOf(variant, once)
    if (floor !== undefined) {
      return {
        'fires/s': await floorOf({
          entriesOf: (job) => repeating(job, triggers),
          batch: floor,
          count,
          repeating: true,
        }),
      }
    }
    if (slots === undefined) {
      return { 'fires/s': await javaQuartzRate(count, { batch: javaBatch, threads, repeating: triggers }) }
    }
    const place = await places.postgres()
    const entriesOf = (job) => repeating(job, triggers)
    const { perSecond } = await drain({ place, slots, count, entriesOf, options })
    await place.close()
    return { 'fires/s': perSecond }
  },
}

async function drainHere({ slots, options }, count, counts) {
  const place = await places.postgres()
  const entriesOf = (job) => oneShots(job, count)
  const outcome = await drain({ place, slots, count, entriesOf, options, counts })
  await place.close()
  return outcome
}

async function floorOf({ entriesOf, ...wanted }) {
  const place = await places.postgres()
  const noop = defineJob('noop', () => {})
  const schedulerName = 'floor'
  const scheduler = await createScheduler({ schedulerName, jobs: [noop], jobStore: place.open() })
  await scheduler.scheduleJobs(entriesOf(noop))
  await scheduler.shutdown()
  await place.settle()
  const { schema } = place
  const rate = await floorRate({
    connectionString: connectionString(),
    schema,
    schedulerName,
    ...wanted,
  })
  await place.close()
  return rate
}

function javaGoal(median, own) {
  if (!hasJavaQuartz()) return []
  return [atLeast('times Java Quartz at batch 100', own / median('Java Quartz, batch 100: jobs/s'), 30)]
}

function atLeast(what, value, limit) {
  return { what, value, relation: '>=', limit }
}

function atMost(what, value, limit) {
  return { what, value, relation: '<=', limit }
}
