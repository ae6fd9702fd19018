// A job that fails twice before it succeeds, tried again after longer and longer waits. node examples/retry.js
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from 'quartz-ts'

const upload = defineJob('upload', (context) => {
  if (context.attempt < 3) throw new Error('the network is down')
  return 'uploaded'
})

const scheduler = await createScheduler({ jobs: [upload] })

scheduler.events.on('jobWasExecuted', ({ context, error }) => {
  console.log(`attempt ${context.attempt}: ${error?.cause?.message ?? error?.message ?? context.result}`)
})
scheduler.events.on('jobRetryScheduled', ({ attempt, retryTime, context }) => {
  console.log(`attempt ${attempt} comes ${retryTime - context.fireTime} ms after attempt ${context.attempt}`)
})

await scheduler.scheduleJob(
  JobBuilder.newJob(upload)
    .withRetry({ attempts: 5, backoff: { type: 'exponential', initialMs: 200, factor: 3, jitter: 0 } })
    .build(),
  TriggerBuilder.newTrigger().startNow().build(),
)
await scheduler.start()
await scheduler.events.next('jobWasExecuted', ({ error }) => error === null)
await scheduler.shutdown({ waitForJobsToComplete: true })
