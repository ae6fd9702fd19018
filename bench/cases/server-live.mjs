import { setTimeout as sleep } from 'node:timers/promises'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'
import { clientsOf, viewedServer } from '../lib/server.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

export const benchmark = {
  name: 'server-live',
  title: 'Live events of 50 firings a second for 200 clients, ten more of which never read',
  variants: ['200 clients'],
  rounds: 1,
  goals: (median) => [
    { what: 'delivery p99 ms', value: median('delivery p99 ms'), relation: '<', limit: 250 },
    { what: 'memory in the second half, MB', value: median('memory grown MB'), relation: '<=', limit: 32 },
  ],
  async run(_variant, { once }) {
    return measure(once ? { read: 10, stuck: 1, ms: 1000 } : { read: 200, stuck: 10, ms: 30_000 })
  },
}

async function measure({ read, stuck, ms }) {
  const noop = defineJob('noop', () => {})
  const scheduler = await createScheduler({ jobs: [noop], logger: false })
  const job = JobBuilder.newJob(noop).withIdentity('live').storeDurably().build()
  const triggers = Array.from({ length: 50 }, (_, index) =>
    TriggerBuilder.newTrigger()
      .withIdentity(`live-${index}`)
      .forJob(job)
      .startAt(new Date(Date.now() + index * 20))
      .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
      .build(),
  )
  await scheduler.scheduleJobs([{ job, triggers }])
  const server = await viewedServer(scheduler)
  const clients = await clientsOf(await server.listen({ port: 0 }))
  await clients.ask({ do: 'streams', read, stuck })
  await scheduler.start()
  await sleep(ms / 2)
  const beforeBytes = process.memoryUsage().rss
  const before = process.cpuUsage()
  await clients.ask({ do: 'forget' })
  await sleep(ms / 2)
  const { user, system } = process.cpuUsage(before)
  const grownBytes = process.memoryUsage().rss - beforeBytes
  const { latencies, events, resyncs } = await clients.ask({ do: 'measured' })
  await clients.close()
  await server.close()
  await scheduler.shutdown({ waitForJobsToComplete: true })
  const sorted = sortedCopy(latencies)
  return {
    'delivery p50 ms': quantile(sorted, 0.5),
    'delivery p99 ms': quantile(sorted, 0.99),
    'events a second, all clients': events / (ms / 2000),
    'resyncs of those that read': resyncs,
    'memory grown MB': grownBytes / 1e6,
    'processor of the server, share': (user + system) / 1000 / (ms / 2),
  }
}
