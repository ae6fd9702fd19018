import { bulkFloor } from '../lib/pg-bulk-floor.mjs'
import { connectionString } from '../lib/postgres.mjs'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'

const callers = 10
const variants = { PostgreSQL: 'postgres', SQLite: 'sqlite' }

export const benchmark = {
  name: 'sql-schedule',
  title: 'Schedule calls a second: one job and trigger a call from 10 callers, and many in one call',
  needs: 'postgres',
  variants: Object.keys(variants),
  rounds: 3,
  goals: (median) => [
    { what: 'PostgreSQL, single calls', value: median('PostgreSQL: single/s'), relation: '>=', limit: 3000 },
    { what: 'PostgreSQL, in bulk', value: median('PostgreSQL: bulk/s'), relation: '>=', limit: 40_000 },
  ],
  async run(variant, { once }) {
    const place = await places[variants[variant]]()
    const noop = defineJob('noop', () => {})
    const scheduler = await createScheduler({ jobs: [noop], jobStore: place.open() })
    await single(scheduler, noop, once ? 20 : 1000, 'warm')
    const measured = {
      'single/s': await single(scheduler, noop, once ? 50 : 10_000, 'single'),
      'bulk/s': await bulk(scheduler, noop, once ? 500 : 100_000),
    }
    await scheduler.shutdown()
    if (variant === 'PostgreSQL') {
      const floor = await bulkFloor({ connectionString: connectionString(), schema: place.schema })
      measured['raw COPY/s'] = floor.copied
      measured['raw INSERT/s'] = floor.inserted
    }
    await place.close()
    return measured
  },
}

function entry(noop, name) {
  const startAt = new Date(Date.now() + 3_600_000)
  return {
    job: JobBuilder.newJob(noop).withIdentity(name, 'bench').build(),
    trigger: TriggerBuilder.newTrigger().withIdentity(name, 'bench').startAt(startAt).build(),
  }
}

async function single(scheduler, noop, count, prefix) {
  let called = 0
  const startedMs = performance.now()
  const call = async () => {
    while (called < count) {
      const { job, trigger } = entry(noop, `${prefix}-${called++}`)
      await scheduler.scheduleJob(job, trigger)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return count / ((performance.now() - startedMs) / 1000)
}

async function bulk(scheduler, noop, count) {
  const entries = Array.from({ length: count }, (_, index) => {
    const { job, trigger } = entry(noop, `bulk-${index}`)
    return { job, triggers: [trigger] }
  })
  const startedMs = performance.now()
  await scheduler.scheduleJobs(entries)
  return count / ((performance.now() - startedMs) / 1000)
}
