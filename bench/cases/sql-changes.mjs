import { everySecond } from '../lib/every-second.mjs'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sleep } from '../lib/stalls.mjs'

const variants = { PostgreSQL: 'postgres', SQLite: 'sqlite' }
const triggersPerSecond = 100

/** What an import of a file of definitions does to what fires meanwhile, and to a call of another caller. */
export const benchmark = {
  name: 'sql-changes',
  title:
    'One changeDefinitions of 10,000 jobs with a trigger each: its time, how late 100 other triggers a second fire, ' +
    'and the longest of other calls meanwhile',
  needs: 'postgres',
  variants: Object.keys(variants),
  rounds: 2,
  goals: (median) =>
    Object.keys(variants).map((variant) => ({
      what: `${variant}: latest firing while definitions are added, ms`,
      value: median(`${variant}: added: latest firing, ms`),
      relation: '<=',
      limit: 1000,
    })),
  async run(variant, { once }) {
    const count = once ? 200 : 10_000
    const place = await places[variants[variant]]()
    const late = []
    const tick = defineJob('tick', (context) => {
      late.push(Date.now() - context.scheduledFireTime.getTime())
    })
    const scheduler = await createScheduler({ jobs: [tick], jobStore: place.open() })
    await scheduler.scheduleJobs(everySecond(tick, triggersPerSecond))
    await scheduler.start()
    // The first seconds run unoptimised code.
    await sleep(once ? 1500 : 5000)
    const figures = {}
    const measure = async (what, changes) => {
      late.length = 0
      const calls = watchCalls(scheduler, tick)
      const startedMs = performance.now()
      await changes()
      figures[`${what}, ms`] = performance.now() - startedMs
      // What came due meanwhile fires now.
      await sleep(once ? 200 : 1500)
      figures[`${what}: latest firing, ms`] = Math.max(0, ...late)
      figures[`${what}: longest other call, ms`] = await calls.end()
    }
    await measure('nothing', () => sleep(once ? 200 : 3000))
    await measure('added', () => scheduler.changeDefinitions({ entries: entriesOf(tick, count, 'added') }))
    await measure('changed', () =>
      scheduler.changeDefinitions({ entries: entriesOf(tick, count, 'changed') }),
    )
    const removedJobs = entriesOf(tick, count, '').map(({ job }) => job.key)
    await measure('removed', () => scheduler.changeDefinitions({ removedJobs }))
    await scheduler.shutdown({ waitForJobsToComplete: true })
    await place.close()
    return figures
  },
}

function entriesOf(job, count, description) {
  const tomorrow = new Date(Date.now() + 86_400_000)
  return Array.from({ length: count }, (_, index) => ({
    job: JobBuilder.newJob(job)
      .withIdentity(`job-${index}`, 'imported')
      .withDescription(description)
      .storeDurably()
      .build(),
    triggers: [
      TriggerBuilder.newTrigger()
        .withIdentity(`trigger-${index}`, 'imported')
        .withDescription(description)
        .startAt(tomorrow)
        .build(),
    ],
  }))
}

/** Another caller, who stores a job and reads it, one call after the other. */
function watchCalls(scheduler, job) {
  let longestMs = 0
  let isOver = false
  const calling = (async () => {
    const other = JobBuilder.newJob(job).withIdentity('other', 'other').storeDurably().build()
    while (!isOver) {
      const startedMs = performance.now()
      await scheduler.addJob(other, { replace: true })
      await scheduler.getJobDetail(other.key)
      longestMs = Math.max(longestMs, performance.now() - startedMs)
      await sleep(10)
    }
  })()
  return {
    async end() {
      isOver = true
      await calling
      return longestMs
    },
  }
}
