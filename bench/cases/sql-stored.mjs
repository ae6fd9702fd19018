import {
  CronScheduleBuilder,
  createScheduler,
  defineJob,
  JobBuilder,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sleep, watchStalls } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const variants = { PostgreSQL: 'postgres', SQLite: 'sqlite' }
const sizes = [1000, 100_000, 1_000_000]

export const benchmark = {
  name: 'sql-stored',
  title: 'Many stored triggers: a firing every 50 ms among them, and the longest stall of the event loop',
  needs: 'postgres',
  variants: Object.keys(variants).flatMap((store) => sizes.map((size) => `${store}, ${size}`)),
  rounds: 1,
  goals: (median) =>
    Object.keys(variants).flatMap((store) => [
      ...sizes.slice(1).map((size) => ({
        what: `${store}: stall with ${size}, ms`,
        value: median(`${store}, ${size}: stall ms`),
        relation: '<=',
        limit: 20,
      })),
      ...sizes.slice(1).map((size) => ({
        what: `${store}: acquiring among ${size}, times that among 1,000`,
        value: median(`${store}, ${size}: acquire ms`) / median(`${store}, 1000: acquire ms`),
        relation: '<',
        limit: 2,
      })),
    ]),
  async run(variant, { once }) {
    const [store, size] = variant.split(', ')
    const place = await places[variants[store]]()
    const measured = await measure(
      place,
      once ? Math.min(Number(size), 2000) : Number(size),
      once ? 1000 : 15_000,
    )
    await place.close()
    return measured
  },
}

async function measure(place, size, durationMs) {
  const noop = defineJob('noop', () => {})
  const acquireMs = []
  const jobStore = place.open()
  const acquire = jobStore.acquireAndFire.bind(jobStore)
  jobStore.acquireAndFire = async (request) => {
    const startedMs = performance.now()
    const acquired = await acquire(request)
    acquireMs.push(performance.now() - startedMs)
    return acquired
  }
  const scheduler = await createScheduler({ jobs: [noop], jobStore })
  const job = JobBuilder.newJob(noop).withIdentity('stored').storeDurably().build()
  await scheduler.addJob(job)
  // Every stored trigger is a zoned cron trigger of some day of next year; those that fire are a few of their own.
  const far = CronScheduleBuilder.cronSchedule(`0 0 12 1 1 ? ${new Date().getUTCFullYear() + 1}`).inTimeZone(
    'America/New_York',
  )
  for (let from = 0; from < size; from += 10_000) {
    const triggers = Array.from({ length: Math.min(10_000, size - from) }, (_, index) =>
      TriggerBuilder.newTrigger()
        .withIdentity(`far-${from + index}`)
        .forJob(job)
        .withSchedule(far)
        .build(),
    )
    await scheduler.scheduleJobs([{ job, triggers }], { replace: true })
  }
  await place.settle()
  const firstMs = Date.now() + 2000
  const near = Array.from({ length: Math.floor(durationMs / 50) }, (_, index) =>
    TriggerBuilder.newTrigger()
      .withIdentity(`near-${index}`)
      .forJob(job)
      .startAt(new Date(firstMs + index * 50))
      .build(),
  )
  await scheduler.scheduleJobs([{ job, triggers: near }], { replace: true })
  await scheduler.start()
  await sleep(Math.max(0, firstMs + 500 - Date.now()))
  acquireMs.length = 0
  const stalls = watchStalls()
  await sleep(durationMs - 1000)
  const { heartbeatMs } = stalls.stop()
  await scheduler.shutdown({ waitForJobsToComplete: true })
  return { 'acquire ms': quantile(sortedCopy(acquireMs), 0.5), 'stall ms': heartbeatMs }
}
