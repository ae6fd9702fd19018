import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'
import { nextTurn } from '../lib/stalls.mjs'

const shapes = ['one durable job', 'a job each']

export const benchmark = {
  name: 'memory',
  title: 'RAM store: heap bytes per stored simple trigger, keys and their names included, at 1,000,000',
  variants: shapes,
  rounds: 3,
  execArgv: ['--expose-gc', '--max-old-space-size=6144'],
  goals: (median) => [
    {
      what: 'bytes per trigger, one durable job',
      value: median('one durable job: bytes'),
      relation: '<=',
      limit: 386,
    },
  ],
  async run(shape, { once }) {
    const count = once ? 20_000 : 1_000_000
    const noop = defineJob('noop', () => {})
    const scheduler = await createScheduler({ jobs: [noop] })
    const durable = JobBuilder.newJob(noop).withIdentity('job', 'bench').storeDurably().build()
    await scheduler.addJob(durable)
    // Compiled code and the first pages of every table are there before anything is counted.
    await store(scheduler, noop, shape, durable, 'warm', 2000)
    const before = await heapUsed()
    await store(scheduler, noop, shape, durable, 'kept', count)
    const bytes = ((await heapUsed()) - before) / count
    await scheduler.shutdown()
    return { bytes }
  },
}

async function heapUsed() {
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn()
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}

async function store(scheduler, noop, shape, durable, group, count) {
  for (let index = 0; index < count; index++) {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(`trigger-${index}`, group)
      .startAt(new Date(Date.now() + 86_400_000 + ((index * 7919) % 86_400_000)))
    if (shape === 'one durable job') await scheduler.scheduleJob(trigger.forJob(durable).build())
    else {
      const job = JobBuilder.newJob(noop).withIdentity(`job-${index}`, group).build()
      await scheduler.scheduleJob(job, trigger.build())
    }
  }
}
