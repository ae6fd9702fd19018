import { fileURLToPath } from 'node:url'
import {
  createScheduler,
  defineWorkerJob,
  JobBuilder,
  piscinaThreadPool,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'

const noopModule = new URL('./worker-jobs-noop.mjs', import.meta.url)

/** Threads, and tasks that share one; both sides keep threads x tasks in flight. */
const settings = [
  { threads: 1, tasks: 1 },
  { threads: 2, tasks: 1 },
  { threads: 2, tasks: 8 },
  // What a scheduler has when nobody says anything: ten slots, a thread for each.
  { threads: 10, tasks: 1 },
]
const nameOf = ({ threads, tasks }) => `${threads} x ${tasks}`
const sides = { 'quartz-ts': withScheduler, 'piscina alone': withPiscina }

export const benchmark = {
  name: 'worker-jobs',
  title:
    'No-op worker jobs a second, threads x tasks that share one: through the scheduler, and piscina alone',
  variants: settings.flatMap((setting) => Object.keys(sides).map((side) => `${nameOf(setting)}, ${side}`)),
  rounds: 7,
  goals: (median) =>
    settings.map((setting) => {
      const [ours, piscina] = Object.keys(sides).map((side) => median(`${nameOf(setting)}, ${side}: jobs/s`))
      return {
        what: `${nameOf(setting)}: share of piscina alone`,
        value: ours / piscina,
        relation: '>=',
        limit: 0.7,
      }
    }),
  async run(variant, { once }) {
    const setting = settings.find((candidate) => variant.startsWith(nameOf(candidate)))
    const run = sides[variant.split(', ')[1]]
    return { 'jobs/s': await run(setting, once ? 500 : 50_000) }
  },
}

async function withPiscina({ threads, tasks }, count) {
  const { Piscina } = await import('piscina')
  const pool = new Piscina({
    filename: fileURLToPath(noopModule),
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: tasks,
    // What our pool sets: the faster choices where they differ from piscina's defaults.
    atomics: 'disabled',
    recordTiming: false,
  })
  const runAll = async (total) => {
    let submitted = 0
    const keepOneInFlight = async () => {
      while (submitted < total) await pool.run({ index: submitted++ })
    }
    await Promise.all(Array.from({ length: threads * tasks }, keepOneInFlight))
  }
  await runAll(count / 10)
  const startedMs = performance.now()
  await runAll(count)
  const rate = count / ((performance.now() - startedMs) / 1000)
  await pool.destroy()
  return rate
}

async function withScheduler({ threads, tasks }, count) {
  const noop = defineWorkerJob('noop', noopModule)
  const scheduler = await createScheduler({
    jobs: [noop],
    threadPool: piscinaThreadPool({
      size: threads * tasks,
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: tasks,
    }),
  })
  const job = JobBuilder.newJob(noop).withIdentity('noop').storeDurably().build()
  await scheduler.addJob(job)
  const runAll = async (total, group) => {
    let left = total
    let lastEnded
    const allEnded = new Promise((resolve) => {
      lastEnded = resolve
    })
    const count = ({ error }) => {
      if (error !== null) throw error
      if (--left === 0) lastEnded()
    }
    const stopCounting = scheduler.events.on('jobWasExecuted', count)
    await scheduler.standby()
    const due = new Date()
    for (let index = 0; index < total; index++) {
      await scheduler.scheduleJob(
        TriggerBuilder.newTrigger().withIdentity(`noop-${index}`, group).forJob(job).startAt(due).build(),
      )
    }
    const startedMs = performance.now()
    await scheduler.start()
    await allEnded
    stopCounting()
    return total / ((performance.now() - startedMs) / 1000)
  }
  await runAll(count / 10, 'warm')
  const rate = await runAll(count, 'measured')
  await scheduler.shutdown({ waitForJobsToComplete: true })
  return rate
}
