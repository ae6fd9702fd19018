import { isBrokenRow } from '../../core/errors.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { TriggerSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import { CronTrigger } from '../../triggers/families/cron/cron-trigger.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { TriggerUtils } from '../../triggers/trigger-utils.ts'
import { type KeyJson, keyToJson } from '../wire/fields.ts'
import { type JobJson, jobToJson } from '../wire/jobs.ts'
import { definitionOf, type TriggerDetailJson } from '../wire/triggers.ts'

export async function detailOf(scheduler: Scheduler, trigger: Trigger): Promise<TriggerDetailJson> {
  return detailFrom(trigger, await summaryOf(scheduler, trigger.key))
}

/** A job with its triggers: what the audit has of it when it is deleted. */
export async function jobBefore(
  scheduler: Scheduler,
  job: JobDetail,
): Promise<{ readonly job: JobJson; readonly triggers: readonly object[] }> {
  const triggers = await scheduler.getTriggersOfJob(job.key)
  return {
    job: jobToJson(job),
    triggers: triggers.map((trigger) => ({ key: keyToJson(trigger.key), fields: definitionOf(trigger) })),
  }
}

/** The same for a job of which something cannot be read, as far as it can: null for nothing. */
export async function readableJobBefore(
  scheduler: Scheduler,
  job: JobDetail | null,
): Promise<{ readonly job: JobJson; readonly triggers?: readonly object[] } | null> {
  if (job === null) return null
  return (await unlessUnreadable(() => jobBefore(scheduler, job))) ?? { job: jobToJson(job) }
}

/** What was read, or null where a row of it is there that cannot be read. */
export async function unlessUnreadable<Value>(read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read()
  } catch (error) {
    if (isBrokenRow(error)) return null
    throw error
  }
}

/** What a list says of one trigger, also of one that cannot be read. */
export async function summaryOf(
  scheduler: Scheduler,
  { group, name }: KeyJson,
): Promise<TriggerSummary | undefined> {
  const query = { group: GroupMatcher.groupEquals(group), name, take: 1 }
  return (await scheduler.queryTriggers(query)).items[0]
}

/** A trigger that this node cannot read, as far as a list knows it; null for one that can be read, or is gone. */
export async function unreadableFrom(
  scheduler: Scheduler,
  summary: TriggerSummary,
): Promise<TriggerDetailJson | null> {
  try {
    await scheduler.getTrigger(summary.key)
    return null
  } catch (error) {
    if (!isBrokenRow(error)) throw error
    const { key, state, pause, nextFireTimeMs, previousFireTimeMs } = summary
    return {
      key: keyToJson(key),
      state,
      pause,
      definition: null,
      problem: withoutSecrets(error.message),
      nextFireTimeMs,
      previousFireTimeMs,
      finalFireTimeMs: null,
      timesTriggered: 0,
      words: null,
    }
  }
}

/** A trigger with what a list says of it. */
export function detailFrom(trigger: Trigger, summary: TriggerSummary | undefined): TriggerDetailJson {
  const { key, nextFireTimeMs, previousFireTimeMs, timesTriggered } = trigger
  return {
    key: keyToJson(key),
    state: summary?.state ?? 'NONE',
    pause: summary?.pause ?? null,
    definition: definitionOf(trigger),
    problem: null,
    nextFireTimeMs,
    previousFireTimeMs,
    finalFireTimeMs: trigger.finalFireTimeMs(),
    timesTriggered,
    words: trigger instanceof CronTrigger ? trigger.cronExpression.describe() : null,
  }
}

/** The next fire times of a trigger, without what its calendar excludes; without a calendar that is not there. */
export async function fireTimesOf(scheduler: Scheduler, trigger: Trigger, count: number): Promise<number[]> {
  const calendar = await calendarOf(scheduler, trigger)
  return TriggerUtils.computeFireTimes(trigger, calendar, count).map((time) => time.getTime())
}

/** The same of a trigger as it is stored, which may be over. */
export async function storedFireTimesOf(
  scheduler: Scheduler,
  trigger: Trigger,
  count: number,
): Promise<number[]> {
  const isOver = !trigger.mayFireAgain() || (await scheduler.getTriggerState(trigger.key)) === 'COMPLETE'
  return isOver ? [] : fireTimesOf(scheduler, trigger, count)
}

export async function calendarOf(scheduler: Scheduler, { calendarName }: Trigger): Promise<Calendar | null> {
  return calendarName === null ? null : scheduler.getCalendar(calendarName)
}
