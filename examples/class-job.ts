// Quartz's class form: one instance per execution, flags as decorators, data that the job keeps. TypeScript turns the
// decorators into plain JavaScript; without them a class says `static disallowConcurrentExecution = true`.
import {
  createScheduler,
  DisallowConcurrentExecution,
  type Job,
  JobBuilder,
  type JobExecutionContext,
  PersistJobDataAfterExecution,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from 'quartz-ts'

@DisallowConcurrentExecution
@PersistJobDataAfterExecution
class CountJob implements Job<{ count: number }> {
  /** What a store keeps; without it the name of the class, which a minifier may change. */
  static readonly jobType = 'count'

  execute(context: JobExecutionContext<{ count: number }>): number {
    const count = context.mergedJobDataMap.count + 1
    context.jobDataMap['count'] = count
    return count
  }
}

await using scheduler = await createScheduler({ jobs: [CountJob] })
scheduler.events.on('jobWasExecuted', ({ context }) => {
  console.log(`${context.jobKey.toString()} counted to ${String(context.result)}`)
})

await scheduler.scheduleJob(
  JobBuilder.newJob(CountJob).withIdentity('counter').usingJobData({ count: 0 }).build(),
  TriggerBuilder.newTrigger()
    .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(100).withRepeatCount(4))
    .build(),
)
await scheduler.start()
await scheduler.events.next('triggerFinalized')
