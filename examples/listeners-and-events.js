// Listeners are asked: they are awaited and may veto. Events are told. node examples/listeners-and-events.js
import {
  createScheduler,
  defineJob,
  JobBuilder,
  jobKey,
  keyEquals,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from 'quartz-ts'

const work = defineJob('work', (context) => `run ${context.get('number')}`)
const scheduler = await createScheduler({ jobs: [work] })

let fires = 0
scheduler.listenerManager.addTriggerListener({
  name: 'every other one',
  vetoJobExecution(_trigger, context) {
    fires++
    context.put('number', fires)
    return fires % 2 === 0
  },
})
scheduler.listenerManager.addJobListener(
  {
    name: 'awaited before and after the job',
    async jobToBeExecuted(context) {
      console.log(`listener: ${context.jobKey.toString()} is about to run`)
    },
    async jobWasExecuted(context, error) {
      console.log(`listener: it ended with ${error ?? context.result}`)
    },
  },
  keyEquals(jobKey('observed')),
)

scheduler.events.on('jobExecutionVetoed', ({ context }) => {
  console.log(`event: number ${context.get('number')} was vetoed`)
})
scheduler.events.on('triggerFinalized', ({ trigger }) => {
  console.log(`event: ${trigger.key.toString()} will not fire again`)
})

await scheduler.scheduleJob(
  JobBuilder.newJob(work).withIdentity('observed').build(),
  TriggerBuilder.newTrigger()
    .withIdentity('four times')
    .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(200).withRepeatCount(3))
    .build(),
)
await scheduler.start()
await scheduler.events.next('triggerFinalized')
await scheduler.shutdown({ waitForJobsToComplete: true })
