// One job after another: extract, transform, load. The later jobs have no trigger of their own, so they are durable.
// node examples/job-chaining.js
import { createScheduler, defineJob, JobBuilder, JobChainingJobListener, TriggerBuilder } from 'quartz-ts'

const step = defineJob('step', (context) => {
  console.log(`${context.jobKey.name} is done`)
})
const scheduler = await createScheduler({ jobs: [step] })

const extract = JobBuilder.newJob(step).withIdentity('extract').build()
const transform = JobBuilder.newJob(step).withIdentity('transform').storeDurably().build()
const load = JobBuilder.newJob(step).withIdentity('load').storeDurably().build()

const chain = new JobChainingJobListener('nightly import')
chain.addJobChainLink(extract.key, transform.key)
chain.addJobChainLink(transform.key, load.key)
scheduler.listenerManager.addJobListener(chain)

await scheduler.addJob(transform)
await scheduler.addJob(load)
await scheduler.scheduleJob(extract, TriggerBuilder.newTrigger().startNow().build())

const loaded = scheduler.events.next('jobWasExecuted', ({ context }) => context.jobKey.equals(load.key))
await scheduler.start()
await loaded
await scheduler.shutdown({ waitForJobsToComplete: true })
