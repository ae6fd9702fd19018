import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sleep } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const stores = { PostgreSQL: 'postgres', SQLite: 'sqlite' }
const kinds = { 'unknown type': measureUnknown, 'full group': measureFull }
const sizes = [1000, 100_000]

const nameOf = (store, kind, size) => `${store}, ${kind}, ${size}`

export const benchmark = {
  name: 'sql-skipped',
  title: 'Due triggers that must be left: of a job type without code here, and of a job group that is full',
  needs: 'postgres',
  variants: Object.keys(stores).flatMap((store) =>
    Object.keys(kinds).flatMap((kind) => sizes.map((size) => nameOf(store, kind, size))),
  ),
  rounds: 1,
  goals: (median) =>
    Object.keys(stores).flatMap((store) => [
      {
        what: `${store}: ms late behind 100,000 of an unknown type, times that behind 1,000`,
        value:
          median(`${nameOf(store, 'unknown type', 100_000)}: ms late`) /
          median(`${nameOf(store, 'unknown type', 1000)}: ms late`),
        relation: '<',
        limit: 2,
      },
      {
        what: `${store}: fires of a limited group with 1,000 waiting, times those with 100,000`,
        value:
          median(`${nameOf(store, 'full group', 1000)}: fires/s`) /
          median(`${nameOf(store, 'full group', 100_000)}: fires/s`),
        relation: '<',
        limit: 2,
      },
    ]),
  async run(variant, { once }) {
    const [store, kind, size] = variant.split(', ')
    const place = await places[stores[store]]()
    const count = once ? Math.min(Number(size), 2000) : Number(size)
    const measured = await kinds[kind](place, count, once ? 1000 : 8000)
    await place.close()
    return measured
  },
}

async function storeMany(scheduler, job, count, startAt) {
  for (let from = 0; from < count; from += 10_000) {
    const triggers = Array.from({ length: Math.min(10_000, count - from) }, (_, index) =>
      TriggerBuilder.newTrigger()
        .withIdentity(`waiting-${from + index}`)
        .forJob(job)
        .withPriority(9)
        .startAt(startAt)
        .build(),
    )
    await scheduler.scheduleJobs([{ job, triggers }], { replace: true })
  }
}

/** A trigger of its own every 50 ms, behind due ones that only another node can run. */
async function measureUnknown(place, size, durationMs) {
  const elsewhere = defineJob('elsewhere', () => {})
  const lateMs = []
  const own = defineJob('own', ({ scheduledFireTime }) => {
    lateMs.push(Date.now() - scheduledFireTime.getTime())
  })
  const other = await createScheduler({ jobs: [elsewhere, own], jobStore: place.open(), instanceId: 'other' })
  const job = JobBuilder.newJob(elsewhere).withIdentity('elsewhere').storeDurably().build()
  await storeMany(other, job, size, new Date())
  await place.settle()
  await other.shutdown()
  const scheduler = await createScheduler({
    jobs: [own],
    jobStore: place.open(),
    instanceId: 'here',
    misfireThresholdMs: 3_600_000,
  })
  const firstMs = Date.now() + 1000
  const ownJob = JobBuilder.newJob(own).withIdentity('own').storeDurably().build()
  const triggers = Array.from({ length: Math.floor(durationMs / 50) }, (_, index) =>
    TriggerBuilder.newTrigger()
      .withIdentity(`own-${index}`)
      .forJob(ownJob)
      .startAt(new Date(firstMs + index * 50))
      .build(),
  )
  await scheduler.scheduleJobs([{ job: ownJob, triggers }], { replace: true })
  await scheduler.start()
  await sleep(firstMs + durationMs - Date.now())
  await scheduler.shutdown({ waitForJobsToComplete: true })
  return { 'ms late': Math.max(1, quantile(sortedCopy(lateMs), 0.5)), fired: lateMs.length }
}

/** Two at once of very many that wait. */
async function measureFull(place, size, durationMs) {
  let fires = 0
  const work = defineJob('work', () => {
    fires++
  })
  const jobStore = place.open({ jobGroupLimits: { limited: 2 } })
  const scheduler = await createScheduler({ jobs: [work], jobStore, misfireThresholdMs: 3_600_000 })
  const job = JobBuilder.newJob(work).withIdentity('work', 'limited').storeDurably().build()
  await storeMany(scheduler, job, size, new Date())
  await place.settle()
  await scheduler.start()
  await sleep(200)
  const startedMs = performance.now()
  const before = fires
  // Few enough are left out of the smaller number that some wait until the end.
  const most = Math.floor(size / 2)
  while (performance.now() - startedMs < durationMs && fires - before < most) await sleep(20)
  const perSecond = (fires - before) / ((performance.now() - startedMs) / 1000)
  await scheduler.shutdown({ waitForJobsToComplete: true })
  return { 'fires/s': perSecond }
}
