import { createHash } from 'node:crypto'
import { JobBuilder } from '../../jobs/job-builder.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { CrontabEntry } from '../../triggers/cron/crontab.ts'
import { CronScheduleBuilder } from '../../triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { oneLine } from '../terminal/text.ts'
import type { CommandJob } from './command-job.ts'

/**
 * A job with its trigger and its label. The name is made of all that the line says, so a stored trigger of the same key
 * is the same line.
 */
export interface PlannedJob {
  readonly label: string
  readonly job: JobDetail
  readonly trigger: Trigger
  /** When it runs: by its schedule, or once at each start. */
  readonly runs: 'scheduled' | 'atStart'
}

/** The group of the jobs of a crontab's lines. */
export const entryGroup = 'crontab'

/** One job with one trigger per entry; null as timeout is no limit. Entries for `@reboot` run once, at the start. */
export function planEntries(
  entries: readonly CrontabEntry[],
  definition: CommandJob,
  options: { readonly timeoutMs: number | null; readonly startAt: Date },
): readonly PlannedJob[] {
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    const digest = digestOf(entry, options.timeoutMs)
    const twin = (seen.get(digest) ?? 0) + 1
    seen.set(digest, twin)
    const name = twin === 1 ? digest : `${digest}-${twin}`
    const job = JobBuilder.newJob(definition)
      .withIdentity(name, entryGroup)
      .withDescription(entry.text)
      .usingJobData({ command: entry.command, input: entry.input, variables: entry.environment })
    if (options.timeoutMs !== null) job.withTimeout(options.timeoutMs)
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name, entryGroup)
      .startAt(options.startAt)
      .withSchedule(scheduleOf(entry))
    const runs = entry.schedule === '@reboot' ? 'atStart' : 'scheduled'
    return { label: oneLine(entry.command), job: job.build(), trigger: trigger.build(), runs }
  })
}

/**
 * The name depends on what the line says and not on its place in the file. An edited line is another job; the other
 * lines keep their state in the store.
 */
function digestOf({ schedule, command, input, environment }: CrontabEntry, timeoutMs: number | null): string {
  const when =
    schedule === '@reboot'
      ? schedule
      : [schedule.expression, schedule.timeZone, schedule.dst, schedule.dialect]
  const content = JSON.stringify([when, command, input, environment, timeoutMs])
  return createHash('sha256').update(content).digest('hex').slice(0, 16)
}

/** As with cron, missed times, such as while the machine slept, are not made up. */
function scheduleOf({ schedule }: CrontabEntry): ScheduleBuilder<Trigger> {
  return schedule === '@reboot'
    ? SimpleScheduleBuilder.simpleSchedule()
    : CronScheduleBuilder.cronSchedule(schedule).withMisfireInstruction('doNothing')
}
