import { GroupMatcher } from '../../core/matcher.ts'
import type { TriggerSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import { CronTrigger } from '../../triggers/families/cron/cron-trigger.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { TriggerUtils } from '../../triggers/trigger-utils.ts'
import { keyToJson } from '../wire/fields.ts'
import { definitionOf, type TriggerDetailJson } from '../wire/triggers.ts'

export async function detailOf(scheduler: Scheduler, trigger: Trigger): Promise<TriggerDetailJson> {
  const { group, name } = trigger.key
  const query = { group: GroupMatcher.groupEquals(group), name, take: 1 }
  return detailFrom(trigger, (await scheduler.queryTriggers(query)).items[0])
}

/** A trigger with what a list says of it. */
export function detailFrom(trigger: Trigger, summary: TriggerSummary | undefined): TriggerDetailJson {
  const { key, nextFireTimeMs, previousFireTimeMs, timesTriggered } = trigger
  return {
    key: keyToJson(key),
    state: summary?.state ?? 'NONE',
    pause: summary?.pause ?? null,
    definition: definitionOf(trigger),
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
