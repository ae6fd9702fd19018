import { JobBuilder, SimpleScheduleBuilder, TriggerBuilder } from './quartz-ts.mjs'

/** Triggers with a job each that fire every second from two seconds on, each at a phase of its own. */
export function everySecond(job, count) {
  const startMs = Date.now() + 2000
  const every = SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(1000).repeatForever()
  return Array.from({ length: count }, (_, index) => ({
    job: JobBuilder.newJob(job).withIdentity(`job-${index}`).build(),
    triggers: [
      TriggerBuilder.newTrigger()
        .withIdentity(`trigger-${index}`)
        .startAt(new Date(startMs + index * (1000 / count)))
        .withSchedule(every)
        .build(),
    ],
  }))
}
