import { JobKey } from '../../src/core/key.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { addPlainJob, filledScheduler } from './server-fixture.ts'

/** Text that would run if a page took it for HTML. */
export const script = `<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>`

/** A scheduler that has something for every page: it runs, has failed, is paused, and names scripts. */
export async function busyScheduler(jobStore: JobStore): Promise<Scheduler> {
  const scheduler = await filledScheduler({ jobStore, instanceId: 'n1', schedulerName: 'billing' })
  const failing = await addPlainJob(scheduler, 'failing', 'bad', 'mail')
  const waiting = await addPlainJob(scheduler, 'waiting', 'slow', 'mail')
  const echo = await addPlainJob(scheduler, 'echo', 'good', 'reports')
  const scripted = JobBuilder.newJob('echo')
    .withIdentity(script, script)
    .withDescription(script)
    .usingJobData({ [script]: script })
    .storeDurably()
    .build()
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity(script, script)
    .withDescription(script)
    .withSchedule(SimpleScheduleBuilder.repeatHourlyForever())
    .build()
  await scheduler.scheduleJob(scripted, trigger)
  await scheduler.start()
  for (let count = 0; count < 3; count++) {
    await scheduler.triggerJob(failing)
    await scheduler.triggerJob(echo)
  }
  await scheduler.triggerJob(scripted.key)
  await scheduler.idle()
  const began = scheduler.events.next('jobToBeExecuted')
  await scheduler.triggerJob(waiting)
  await began
  await scheduler.pauseJob(new JobKey('hourly', 'mail'))
  return scheduler
}
