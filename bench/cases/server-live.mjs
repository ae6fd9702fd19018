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
  execArgv: ['--expose-gc'],
  rounds: 1,
  goals: (median) => [
    { what: 'delivery p99 ms', value: median('delivery p99 ms'), relation: '<', limit: 250 },
    // A leak of a kilobyte for each event that one client gets would be 10 MB a second.
    {
      what: 'memory in the last half, MB a minute',
      value: median('memory MB a minute'),
      relation: '<=',
      limit: 16,
    },
  ],
  async run(_variant, { once }) {
    return measure(once ? { read: 10, stuck: 1, ms: 1000 } : { read: 200, stuck: 10, ms: 120_000 })
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
  const before = process.cpuUsage()
  await clients.ask({ do: 'forget' })
  const memory = await sampledMemory(ms / 2)
  const { user, system } = process.cpuUsage(before)
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
    'memory MB a minute': slopeOf(memory) * 60,
    'memory at most, MB': Math.max(...memory.map(({ megabytes }) => megabytes)),
    'processor of the server, share': (user + system) / 1000 / (ms / 2),
  }
}

/** How much memory the process has, twenty times in so long; without garbage, which the engine lets grow. */
async function sampledMemory(ms) {
  const samples = []
  const startedMs = performance.now()
  for (let index = 0; index < 20; index++) {
    await sleep(ms / 20)
    globalThis.gc()
    const seconds = (performance.now() - startedMs) / 1000
    samples.push({ seconds, megabytes: process.memoryUsage().rss / 1e6 })
  }
  return samples
}

/** By least squares, so that a collection of garbage right before an end says little. MB a second. */
function slopeOf(samples) {
  const mean = (field) => samples.reduce((sum, sample) => sum + sample[field], 0) / samples.length
  const [middle, level] = [mean('seconds'), mean('megabytes')]
  let above = 0
  let below = 0
  for (const { seconds, megabytes } of samples) {
    above += (seconds - middle) * (megabytes - level)
    below += (seconds - middle) ** 2
  }
  return above / below
}
