import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../lib/quartz-ts.mjs'

const shapes = ['a job each', 'one durable job']
/** The default pool, and one that is as large as a busy event loop can use. */
const poolSizes = [10, 100]

export const benchmark = {
  name: 'ram-fires',
  title: 'RAM store: 100,000 one-shot triggers due now, no-op inline job',
  variants: shapes.flatMap((shape) => poolSizes.map((size) => `${shape}, ${size} slots`)),
  rounds: 7,
  goals: (median) =>
    shapes.map((shape) => ({
      what: `fires a second, ${shape}`,
      value: median(`${shape}, ${poolSizes[0]} slots: fires/s`),
      relation: '>=',
      limit: 150_000,
    })),
  async run(variant, { once }) {
    const shape = shapes.find((name) => variant.startsWith(name))
    const size = poolSizes.find((count) => variant.endsWith(` ${count} slots`))
    const count = once ? 2000 : 100_000
    // The first scheduler of a process runs unoptimised code; what is measured is the second one. After 20,000 firings
    // the code is still being compiled.
    await fireAll(shape, size, count)
    return { 'fires/s': await fireAll(shape, size, count) }
  },
}

/** Stores all triggers, starts, and counts inside the job until the last one ran. */
async function fireAll(shape, size, count) {
  let fired = 0
  let lastFired
  const allFired = new Promise((resolve) => {
    lastFired = resolve
  })
  const noop = defineJob('noop', () => {
    if (++fired === count) lastFired(performance.now())
  })
  const scheduler = await createScheduler({ jobs: [noop], threadPool: { size } })
  await store(scheduler, noop, shape, count)
  const startedMs = performance.now()
  await scheduler.start()
  const endedMs = await allFired
  await scheduler.shutdown({ waitForJobsToComplete: true })
  if (fired !== count) throw new Error(`${fired} fires instead of ${count}`)
  return count / ((endedMs - startedMs) / 1000)
}

async function store(scheduler, noop, shape, count) {
  const due = new Date()
  const trigger = (index) =>
    TriggerBuilder.newTrigger().withIdentity(`trigger-${index}`, 'bench').startAt(due)
  if (shape === 'a job each') {
    for (let index = 0; index < count; index++) {
      const job = JobBuilder.newJob(noop).withIdentity(`job-${index}`, 'bench').build()
      await scheduler.scheduleJob(job, trigger(index).build())
    }
    return
  }
  const job = JobBuilder.newJob(noop).withIdentity('job', 'bench').storeDurably().build()
  await scheduler.addJob(job)
  for (let index = 0; index < count; index++) await scheduler.scheduleJob(trigger(index).forJob(job).build())
}
