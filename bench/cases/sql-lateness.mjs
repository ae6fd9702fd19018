import { everySecond } from '../lib/every-second.mjs'
import { createScheduler, defineJob } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { sleep } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const variants = { PostgreSQL: 'postgres', SQLite: 'sqlite' }
const triggersPerSecond = 200

export const benchmark = {
  name: 'sql-lateness',
  title: 'Lateness of 200 triggers, each every second at a phase of its own, for 60 s',
  needs: 'postgres',
  variants: Object.keys(variants),
  rounds: 2,
  goals: (median) => [
    { what: 'PostgreSQL p50, ms', value: median('PostgreSQL: p50 ms'), relation: '<=', limit: 3 },
    { what: 'PostgreSQL p99, ms', value: median('PostgreSQL: p99 ms'), relation: '<=', limit: 10 },
    { what: 'SQLite p99, ms', value: median('SQLite: p99 ms'), relation: '<=', limit: 5 },
    { what: 'early', value: median('PostgreSQL: early') + median('SQLite: early'), relation: '<=', limit: 0 },
  ],
  async run(variant, { once }) {
    const place = await places[variants[variant]]()
    const late = []
    const tick = defineJob('tick', (context) => {
      late.push(Date.now() - context.scheduledFireTime.getTime())
    })
    const scheduler = await createScheduler({ jobs: [tick], jobStore: place.open() })
    await scheduler.scheduleJobs(everySecond(tick, triggersPerSecond))
    await scheduler.start()
    // The first seconds run unoptimised code.
    await sleep(once ? 2500 : 6000)
    late.length = 0
    await sleep(once ? 1000 : 60_000)
    const sorted = sortedCopy(late)
    await scheduler.shutdown({ waitForJobsToComplete: true })
    await place.close()
    return {
      'p50 ms': quantile(sorted, 0.5),
      'p99 ms': quantile(sorted, 0.99),
      'max ms': sorted.at(-1),
      early: sorted.filter((ms) => ms < 0).length,
      fires: sorted.length,
    }
  },
}
