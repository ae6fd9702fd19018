import { alertsPlugin, failedInARow, firingLaterThan } from '../../dist/alerts.js'
import { countedJob, oneShots } from '../lib/drain.mjs'
import { createScheduler } from '../lib/quartz-ts.mjs'
import { clientsOf, viewedServer } from '../lib/server.mjs'
import { places } from '../lib/sql-stores.mjs'

const stores = { PostgreSQL: 'postgres', SQLite: 'sqlite' }

export const benchmark = {
  name: 'server-open',
  title: 'Fires a second with a page open on the Overview, and without: one-shot triggers due now, 100 slots',
  needs: 'postgres',
  variants: Object.keys(stores),
  rounds: 3,
  goals: (median) =>
    Object.keys(stores).map((store) => ({
      what: `${store}: with the page against without`,
      value: median(`${store}: share`),
      relation: '>=',
      limit: 0.97,
    })),
  /** Both of a pair one after the other, several times, so that a noisy machine touches both alike. */
  async run(variant, { once }) {
    const [count, pairs] = once ? [500, 1] : [20_000, 6]
    // The first ones are slower, whichever they are, until everything is compiled.
    await drained(variant, { count, isOpen: true })
    await drained(variant, { count, isOpen: false })
    const sums = { open: 0, shut: 0 }
    for (let pair = 0; pair < pairs; pair++) {
      for (const isOpen of pair % 2 === 0 ? [true, false] : [false, true]) {
        sums[isOpen ? 'open' : 'shut'] += await drained(variant, { count, isOpen })
      }
    }
    const perSecond = (ms) => (count * pairs) / (ms / 1000)
    return {
      'jobs/s with the page': perSecond(sums.open),
      'jobs/s without': perSecond(sums.shut),
      share: sums.shut / sums.open,
    }
  },
}

/** Alerts are looked for with the page and without; only the page asks for them. */
const silentChannel = { name: 'silent', send: async () => {} }

/** How many milliseconds it takes until all have fired. */
async function drained(variant, { count, isOpen }) {
  const place = await places[stores[variant]]()
  const { job, all } = countedJob(count)
  const alerts = alertsPlugin({
    rules: [failedInARow(3), firingLaterThan(60_000)],
    channels: [silentChannel],
  })
  const scheduler = await createScheduler({
    jobs: [job],
    plugins: [alerts],
    jobStore: place.open(),
    threadPool: { size: 100 },
    logger: false,
  })
  await scheduler.scheduleJobs(oneShots(job, count))
  await place.settle()
  // Both have the server; only one has somebody who looks.
  const server = await viewedServer(scheduler, { alerts })
  const clients = await clientsOf(await server.listen({ port: 0 }))
  if (isOpen) await clients.ask({ do: 'page' })
  const startedMs = performance.now()
  await scheduler.start()
  const endedMs = await all
  await clients.close()
  await server.close()
  await scheduler.shutdown({ waitForJobsToComplete: true })
  await place.close()
  return endedMs - startedMs
}
