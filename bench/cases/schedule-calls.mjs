import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'

const shapes = ['a job each', 'one durable job']

export const benchmark = {
  name: 'schedule-calls',
  title: 'RAM store: scheduleJob calls on a started scheduler, each awaited',
  variants: shapes,
  rounds: 7,
  goals: (median) =>
    shapes.map((shape) => ({
      what: `calls a second, ${shape}`,
      value: median(`${shape}: calls/s`),
      relation: '>=',
      limit: 150_000,
    })),
  async run(shape, { once }) {
    const count = once ? 2000 : 100_000
    await schedule(shape, Math.min(count, 20_000))
    const { buildMs, callMs } = await schedule(shape, count)
    return {
      'calls/s': count / (callMs / 1000),
      'calls/s, builders included': count / ((buildMs + callMs) / 1000),
    }
  },
}

async function schedule(shape, count) {
  const noop = defineJob('noop', () => {})
  const scheduler = await createScheduler({ jobs: [noop] })
  await scheduler.start()
  const durable = JobBuilder.newJob(noop).withIdentity('job', 'bench').storeDurably().build()
  await scheduler.addJob(durable)
  const startedMs = performance.now()
  const calls = Array.from({ length: count }, (_, index) => build(noop, shape, index, durable))
  const builtMs = performance.now()
  for (const { job, trigger } of calls) {
    if (job === null) await scheduler.scheduleJob(trigger)
    else await scheduler.scheduleJob(job, trigger)
  }
  const endedMs = performance.now()
  await scheduler.shutdown()
  return { buildMs: builtMs - startedMs, callMs: endedMs - builtMs }
}

/** Due tomorrow and later, in an order that has nothing to do with the order of the calls. */
function build(noop, shape, index, durable) {
  const due = new Date(Date.now() + 86_400_000 + ((index * 7919) % 86_400_000))
  const builder = TriggerBuilder.newTrigger().withIdentity(`trigger-${index}`, 'bench').startAt(due)
  if (shape === 'one durable job') return { job: null, trigger: builder.forJob(durable).build() }
  return {
    job: JobBuilder.newJob(noop).withIdentity(`job-${index}`, 'bench').build(),
    trigger: builder.build(),
  }
}
