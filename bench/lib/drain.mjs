import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from './quartz-ts.mjs'

/** A job that counts itself in its own body; `all` resolves with the time when it ran so often. */
export function countedJob(count, jobOf = (note) => defineJob('noop', note)) {
  let fired = 0
  let lastFired
  const all = new Promise((resolve) => {
    lastFired = resolve
  })
  const job = jobOf(() => {
    if (++fired === count) lastFired(performance.now())
  })
  return { job, all, fired: () => fired }
}

/** One-shot triggers due now, with a job each. */
export function oneShots(job, count) {
  const due = new Date(Date.now() - 1000)
  return Array.from({ length: count }, (_, index) => ({
    job: JobBuilder.newJob(job).withIdentity(`job-${index}`, 'bench').build(),
    triggers: [TriggerBuilder.newTrigger().withIdentity(`trigger-${index}`, 'bench').startAt(due).build()],
  }))
}

/** Triggers that are always due: each fires again at once, every millisecond since a minute ago. */
export function repeating(job, count) {
  const start = new Date(Date.now() - 50_000)
  const schedule = SimpleScheduleBuilder.simpleSchedule()
    .withIntervalInMilliseconds(1)
    .repeatForever()
    .withMisfireInstruction('ignore')
  return Array.from({ length: count }, (_, index) => ({
    job: JobBuilder.newJob(job).withIdentity(`job-${index}`, 'bench').build(),
    triggers: [
      TriggerBuilder.newTrigger()
        .withIdentity(`trigger-${index}`, 'bench')
        .startAt(start)
        .withSchedule(schedule)
        .build(),
    ],
  }))
}

/**
 * Stores everything, starts and waits until the job ran `count` times. Scheduling is not part of what is measured.
 */
export async function drain({
  place,
  storeOptions,
  slots,
  count,
  entriesOf,
  options = {},
  counts = null,
  jobOf,
}) {
  const { job, all, fired } = countedJob(count, jobOf)
  const scheduler = await createScheduler({
    jobs: [job],
    jobStore: place.open(storeOptions),
    threadPool: { size: slots },
    ...options,
  })
  await scheduler.scheduleJobs(entriesOf(job))
  await place.settle()
  if (counts !== null) counts.isCounting = true
  const startedMs = performance.now()
  const before = process.cpuUsage()
  await scheduler.start()
  const endedMs = await all
  const { user, system } = process.cpuUsage(before)
  if (counts !== null) counts.isCounting = false
  await scheduler.shutdown({ waitForJobsToComplete: true })
  return {
    perSecond: count / ((endedMs - startedMs) / 1000),
    fired: fired(),
    /** Of the processor, by all threads of this process. */
    microsecondsEach: (user + system) / count,
  }
}
