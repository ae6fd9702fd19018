// A job on the event loop, three times, half a second apart. Run it: node examples/hello.js
import { createScheduler, defineJob, JobBuilder, SimpleScheduleBuilder, TriggerBuilder } from 'quartz-ts'

const greet = defineJob('greet', (context) => {
  const lateMs = context.fireTime.getTime() - context.scheduledFireTime.getTime()
  console.log(`Hello ${context.mergedJobDataMap.name}, ${lateMs} ms late`)
})

const scheduler = await createScheduler({ jobs: [greet] })

const job = JobBuilder.newJob(greet).withIdentity('hello').usingJobData({ name: 'world' }).build()
const trigger = TriggerBuilder.newTrigger()
  .withIdentity('three-times')
  .startNow()
  .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(500).withRepeatCount(2))
  .build()

await scheduler.scheduleJob(job, trigger)
await scheduler.start()

await scheduler.events.next('triggerFinalized')
await scheduler.shutdown({ waitForJobsToComplete: true })
console.log('done')
