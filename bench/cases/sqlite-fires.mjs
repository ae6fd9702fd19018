import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drain, oneShots } from '../lib/drain.mjs'
import { createScheduler, defineJob } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sqliteFloorRate } from '../lib/sqlite-floor.mjs'

const ofProject = createRequire(new URL('../../package.json', import.meta.url))

/** plainjob writes four lines to the console for each job unless it is given a logger. */
const silent = { error() {}, warn() {}, info() {}, debug() {} }

const ours = {
  'quartz-ts, NORMAL': { synchronous: 'normal' },
  'quartz-ts, FULL': { synchronous: 'full' },
}

const theFloor = 'the same rows and nothing else, 100, NORMAL'

export const benchmark = {
  name: 'sqlite-fires',
  title: 'SQLite file: one-shot triggers due now, a job each, no-op inline job, 100 slots',
  variants: [...Object.keys(ours), theFloor, 'plainjob, NORMAL'],
  rounds: 3,
  goals: (median) => [
    goal('fires a second, NORMAL', median('quartz-ts, NORMAL: jobs/s'), 15_000),
    goal('fires a second, FULL', median('quartz-ts, FULL: jobs/s'), 8000),
    goal('share of plainjob', median('quartz-ts, NORMAL: jobs/s') / median('plainjob, NORMAL: jobs/s'), 1),
  ],
  async run(variant, { once }) {
    const count = once ? 500 : 60_000
    const storeOptions = ours[variant]
    if (variant === theFloor) return { 'jobs/s': await ofFloor(count) }
    if (storeOptions === undefined) return { 'jobs/s': await withPlainjob(count) }
    await withPlace({ storeOptions, count: Math.min(count, 3000) })
    const { perSecond } = await withPlace({ storeOptions, count })
    return { 'jobs/s': perSecond }
  },
}

function goal(what, value, limit) {
  return { what, value, relation: '>=', limit }
}

async function withPlace({ storeOptions, count }) {
  const place = await places.sqlite()
  const entriesOf = (job) => oneShots(job, count)
  const outcome = await drain({ place, storeOptions, slots: 100, count, entriesOf })
  await place.close()
  return outcome
}

async function ofFloor(count) {
  const place = await places.sqlite()
  const noop = defineJob('noop', () => {})
  const schedulerName = 'floor'
  const scheduler = await createScheduler({ schedulerName, jobs: [noop], jobStore: place.open() })
  await scheduler.scheduleJobs(oneShots(noop, count))
  await scheduler.shutdown()
  const rate = sqliteFloorRate({ filename: place.filename, schedulerName, batch: 100, count })
  await place.close()
  return rate
}

async function withPlainjob(count) {
  const { better, defineQueue, defineWorker } = await import('plainjob')
  const Database = ofProject('better-sqlite3')
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-bench-'))
  const queue = defineQueue({ connection: better(new Database(join(folder, 'jobs.db'))), logger: silent })
  let done = 0
  let lastDone
  const all = new Promise((resolve) => {
    lastDone = resolve
  })
  const worker = defineWorker(
    'noop',
    async () => {
      if (++done === count) lastDone(performance.now())
    },
    { queue, logger: silent },
  )
  queue.addMany(
    'noop',
    Array.from({ length: count }, () => ({})),
  )
  const startedMs = performance.now()
  void worker.start()
  const endedMs = await all
  await worker.stop()
  queue.close()
  rmSync(folder, { recursive: true, force: true })
  return count / ((endedMs - startedMs) / 1000)
}
