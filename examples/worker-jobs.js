// Jobs in worker threads, with progress, log lines, results and data that they keep. node examples/worker-jobs.js
import { fileURLToPath } from 'node:url'
import {
  createScheduler,
  defineWorkerJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from 'quartz-ts'

const hashFolder = defineWorkerJob('hash-folder', new URL('./workers/hash-folder.js', import.meta.url))
const findPrimes = defineWorkerJob('find-primes', new URL('./workers/find-primes.js', import.meta.url), {
  disallowConcurrentExecution: true,
  persistJobDataAfterExecution: true,
  timeoutMs: 10_000,
})

const scheduler = await createScheduler({
  jobs: [hashFolder, findPrimes],
  threadPool: { size: 2 },
  logger: { debug() {}, info: console.log, warn: console.warn, error: console.error },
})

scheduler.events.on('jobProgress', ({ context, value }) => {
  if (value.done === value.of) console.log(`${context.jobKey.name}: read ${value.of} files`)
})
scheduler.events.on('jobWasExecuted', ({ context, error }) => {
  console.log(`${context.jobKey.name}:`, error?.message ?? context.result)
})

await scheduler.start()

const hashed = scheduler.events.next('jobWasExecuted')
await scheduler.scheduleJob(
  JobBuilder.newJob(hashFolder)
    .withIdentity('hash')
    .usingJobData({ folder: fileURLToPath(new URL('.', import.meta.url)) })
    .build(),
  TriggerBuilder.newTrigger().startNow().build(),
)
await hashed

const counted = scheduler.events.next('triggerFinalized', ({ trigger }) => trigger.key.name === 'primes')
await scheduler.scheduleJob(
  JobBuilder.newJob(findPrimes).withIdentity('primes').usingJobData({ span: 100_000 }).build(),
  TriggerBuilder.newTrigger()
    .withIdentity('primes')
    .withSchedule(SimpleScheduleBuilder.repeatSecondlyForTotalCount(3, 1))
    .build(),
)
await counted

await scheduler.shutdown({ waitForJobsToComplete: true })
