import { JobBuilder } from '../../jobs/job-builder.ts'
import type { CrontabEntry } from '../../triggers/cron/crontab.ts'
import { CronScheduleBuilder } from '../../triggers/cron-trigger.ts'
import type { ScheduleBuilder } from '../../triggers/fluent-trigger-builder.ts'
import { SimpleScheduleBuilder } from '../../triggers/simple-trigger.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { TriggerBuilder } from '../../triggers/trigger-builder.ts'
import { oneLine } from '../terminal/text.ts'
import type { CommandJob } from './command-job.ts'
import type { PlannedJob } from './planned-job.ts'

const group = 'crontab'

/** One job with one trigger per entry; null as timeout is no limit. Entries for `@reboot` run once, at the start. */
export function planEntries(
  entries: readonly CrontabEntry[],
  definition: CommandJob,
  options: { readonly timeoutMs: number | null; readonly startAt: Date },
): readonly PlannedJob[] {
  return entries.map((entry) => {
    const name = `line-${entry.line}`
    const job = JobBuilder.newJob(definition)
      .withIdentity(name, group)
      .withDescription(entry.text)
      .usingJobData({ command: entry.command, input: entry.input, variables: entry.environment })
    if (options.timeoutMs !== null) job.withTimeout(options.timeoutMs)
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name, group)
      .startAt(options.startAt)
      .withSchedule(scheduleOf(entry))
    return { label: oneLine(entry.command), job: job.build(), trigger: trigger.build() }
  })
}

/** As with cron, times that were missed, such as while the machine slept, are not made up for. */
function scheduleOf({ schedule }: CrontabEntry): ScheduleBuilder<Trigger> {
  return schedule === '@reboot'
    ? SimpleScheduleBuilder.simpleSchedule()
    : CronScheduleBuilder.cronSchedule(schedule).withMisfireInstruction('doNothing')
}
