import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createXxlJobAdmin, xxlJob } from '../../dist/xxl-job.js'
import { countStatements } from '../lib/postgres.mjs'
import { createScheduler, JobBuilder, SimpleScheduleBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sleep } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const accessToken = 'bench'
const appName = 'bench-executor'
const run = { appName, jobId: 1, handler: 'noop', route: 'ROUND' }

export const dispatch = {
  name: 'xxl-dispatch',
  title: 'PostgreSQL: runs sent to 10 executors that answer at once, until their results are committed',
  needs: 'postgres',
  variants: ['100 slots'],
  rounds: 3,
  goals: (median) => [{ what: 'dispatches/s', value: median('dispatches/s'), relation: '>=', limit: 1500 }],
  run: (_variant, { once }) => measureDispatches(once ? 200 : 10_000),
}

export const lateness = {
  name: 'xxl-lateness',
  title:
    'PostgreSQL: 300 jobs every second on 3 executors, from due to the executor, for 60 s after 10 others',
  needs: 'postgres',
  variants: ['spread over the second', 'all at the whole second'],
  rounds: 1,
  goals: (median) => [
    { what: 'spread: p99, ms', value: median('spread over the second: p99 ms'), relation: '<', limit: 100 },
    { what: 'at once: p99, ms', value: median('all at the whole second: p99 ms'), relation: '<', limit: 100 },
    { what: 'spread: lost runs', value: median('spread over the second: lost'), relation: '<=', limit: 0 },
    { what: 'at once: lost runs', value: median('all at the whole second: lost'), relation: '<=', limit: 0 },
  ],
  run: (variant, { once }) =>
    measureLateness(once ? { warmUp: 1, measured: 2 } : { warmUp: 10, measured: 60 }, {
      spreadMs: variant === 'spread over the second' ? 1000 : 0,
    }),
}

export const beats = {
  name: 'xxl-beats',
  title: 'An admin with 5,000 executors that beat every 30 s: its share of one core',
  needs: 'postgres',
  variants: ['alone', 'in a cluster'],
  rounds: 1,
  goals: (median) =>
    ['alone', 'in a cluster'].map((variant) => ({
      what: `${variant}: share of one core, %`,
      value: median(`${variant}: core %`),
      relation: '<',
      limit: 5,
    })),
  run: (variant, { once }) =>
    measureBeats(once ? 100 : 5000, { everyMs: once ? 1000 : 30_000, isShared: variant === 'in a cluster' }),
}

async function measureDispatches(count) {
  const rig = await startRig(10, { slots: 100 })
  const warmUp = Math.min(count, 1000)
  await dispatches(rig, warmUp)
  rig.counts.isCounting = true
  const cpu = process.cpuUsage()
  const seconds = await dispatches(rig, count)
  const { user, system } = process.cpuUsage(cpu)
  rig.counts.isCounting = false
  await rig.close()
  return {
    'dispatches/s': count / seconds,
    'statements each': rig.counts.statements / count,
    'commits each': rig.counts.commits / count,
    'cpu us each': (user + system) / count,
  }
}

/** One-shot triggers that are due, from the start of the scheduler until the executors know that all is written. */
async function dispatches({ scheduler, job, place, reports }, count) {
  await scheduler.standby()
  const due = new Date(Date.now() - 1000)
  const triggers = Array.from({ length: count }, () =>
    TriggerBuilder.newTrigger().startAt(due).forJob(job).build(),
  )
  await scheduler.scheduleJobs([{ job, triggers }], { replace: true })
  await place.settle()
  const all = reports(count)
  const startedMs = performance.now()
  await scheduler.start()
  await all
  return (performance.now() - startedMs) / 1000
}

/** `warmUp` and `measured`: seconds; `spreadMs`: over how long the jobs are spread that are due in each second. */
async function measureLateness({ warmUp, measured }, { spreadMs }) {
  const jobs = 300
  const seconds = warmUp + measured
  const rig = await startRig(3, { slots: 20 })
  const { scheduler, job, child } = rig
  const startMs = Math.ceil(Date.now() / 1000) * 1000 + 5000
  const all = rig.reports(jobs * seconds)
  const dueMs = (index) => startMs + Math.floor((index * spreadMs) / jobs)
  const schedule = SimpleScheduleBuilder.repeatSecondlyForTotalCount(seconds)
  const triggers = Array.from({ length: jobs }, (_, index) =>
    TriggerBuilder.newTrigger()
      .startAt(new Date(dueMs(index)))
      .withSchedule(schedule)
      .usingJobData({ param: String(index) })
      .forJob(job)
      .build(),
  )
  await scheduler.scheduleJobs([{ job, triggers }], { replace: true })
  await scheduler.start()
  await Promise.race([all, sleep(startMs - Date.now() + seconds * 1000 + 10_000)])
  const heardRan = heard(child, 'ran')
  child.send('ran')
  const { ran } = await heardRan
  await rig.close()
  const late = { first: [], then: [] }
  const counts = new Map()
  for (const { atMs, param } of ran) {
    const second = counts.get(param) ?? 0
    counts.set(param, second + 1)
    late[second < warmUp ? 'first' : 'then'].push(atMs - dueMs(Number(param)) - second * 1000)
  }
  const then = sortedCopy(late.then)
  return {
    'p50 ms': quantile(then, 0.5),
    'p99 ms': quantile(then, 0.99),
    'max ms': then.at(-1),
    'p99 ms of the warm-up': quantile(sortedCopy(late.first), 0.99),
    lost: jobs * seconds - ran.length,
  }
}

/** `isShared`: a scheduler on a clustered store has the admin tell other nodes of its executors. */
async function measureBeats(count, { everyMs, isShared }) {
  const { admin, server, address } = await startAdmin(count)
  const endSharing = isShared ? await shareRegistry(admin) : async () => {}
  const entry = fileURLToPath(new URL('../lib/xxl-beats-entry.mjs', import.meta.url))
  const child = fork(entry, [count, everyMs, address, accessToken])
  await heard(child, 'ready')
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  await sleep(everyMs)
  const { user, system } = process.cpuUsage(cpu)
  const core = (user + system) / 10 / (performance.now() - startedMs)
  const [group] = admin.executors()
  if (group.executors.length !== count) throw new Error(`${group.executors.length} executors are there`)
  child.disconnect()
  await endSharing()
  await closeAdmin({ admin, server })
  return { 'core %': core }
}

async function shareRegistry(admin) {
  const place = await places.postgres()
  const jobs = [xxlJob('noop', { ...run, admin })]
  const scheduler = await createScheduler({ jobs, jobStore: place.open() })
  await scheduler.start()
  return async () => {
    await scheduler.shutdown()
    await place.close()
  }
}

async function startRig(executors, { slots }) {
  const place = await places.postgres()
  const { admin, server, address } = await startAdmin(executors)
  const entry = fileURLToPath(new URL('../lib/xxl-executors-entry.mjs', import.meta.url))
  const child = fork(entry, [executors, address, accessToken, appName])
  await heard(child, 'ready')
  const noop = xxlJob('noop', { ...run, admin })
  const counts = countStatements()
  const scheduler = await createScheduler({
    jobs: [noop],
    jobStore: place.open(),
    threadPool: { size: slots },
  })
  const job = JobBuilder.newJob(noop).withIdentity('noop').storeDurably().build()
  /** Resolves when the executors were told of so many more results that they are taken. */
  const reports = (count) =>
    new Promise((resolve) => {
      let left = count
      const hear = (message) => {
        if (message.kind !== 'reported') return
        left -= message.count
        if (left > 0) return
        child.off('message', hear)
        resolve()
      }
      child.on('message', hear)
    })
  const close = async () => {
    await scheduler.shutdown({ waitForJobsToComplete: true })
    child.disconnect()
    await closeAdmin({ admin, server })
    await place.close()
  }
  return { scheduler, job, place, child, counts, reports, close }
}

async function startAdmin(maxExecutors) {
  const admin = createXxlJobAdmin({ accessToken, maxExecutors, requestsPerMinute: 10_000_000 })
  const server = createServer((request, response) => admin.listener(request, response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { admin, server, address: `http://127.0.0.1:${server.address().port}` }
}

async function closeAdmin({ admin, server }) {
  await admin.close()
  server.closeAllConnections()
  server.close()
}

function heard(child, wanted) {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message.kind === wanted) resolve(message)
    })
  })
}
