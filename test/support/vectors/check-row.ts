import { CronExpressionError } from '../../../src/core/errors.ts'
import { epochDayOf } from '../../../src/time/civil.ts'
import { CronExpression } from '../../../src/triggers/cron/cron-expression.ts'
import { DailyTimeIntervalTrigger } from '../../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { SimpleTrigger } from '../../../src/triggers/families/simple/simple-trigger.ts'
import type { Trigger } from '../../../src/triggers/trigger.ts'
import { makeCalendar, makeCron, makeTrigger, present } from './make.ts'
import type {
  CalendarTestRow,
  CronRejectRow,
  CronRow,
  MisfireRow,
  TriggerRow,
  TriggerStateRow,
} from './rows.ts'

/** Where a row and the library disagree. */
export interface Difference {
  readonly what: string
  readonly expected: unknown
  readonly got: unknown
}

/** Quartz, where it gives up, does so a hundred years after it was started; the rows were written in 2025. */
const giveUpMs = Date.UTC(2126, 0, 1)

/** What a row says and what the library says, side by side; equal when all is well. */
interface Comparison {
  readonly expected: Readonly<Record<string, unknown>>
  readonly got: Readonly<Record<string, unknown>>
}

/** The differences of one row; throws when the row has a shape that is not known. */
export function checkRow(row: unknown): readonly Difference[] {
  const { expected, got } = compare(row)
  return Object.keys(expected)
    .filter((what) => JSON.stringify(expected[what]) !== JSON.stringify(got[what]))
    .map((what) => ({ what, expected: expected[what], got: got[what] }))
}

function compare(row: unknown): Comparison {
  if (typeof row !== 'object' || row === null) throw new Error('a row must be an object')
  const has = (...fields: readonly string[]): boolean => fields.every((field) => field in row)
  if (has('type', 'op', 'before', 'after', 'now')) return compareMisfire(row as MisfireRow)
  if (has('type', 'start', 'first', 'fires', 'after')) return compareTrigger(row as TriggerRow)
  if (has('calendar', 'tests')) return compareCalendar(row as CalendarTestRow)
  if (has('expr', 'zone', 'after', 'next')) return compareCron(row as CronRow)
  if (Object.keys(row).join() === 'expr') return compareCronReject(row as CronRejectRow)
  throw new Error(`unknown kind of row with the fields ${Object.keys(row).join(', ')}`)
}

function compareTrigger(row: TriggerRow): Comparison {
  const calendar = makeCalendar(row.calendar)
  const fresh = makeTrigger(row)
  const fires: number[] = []
  let trigger = fresh?.computeFirstFireTime(calendar) ?? null
  let nextMs = inReach(row, trigger?.nextFireTimeMs ?? null)
  const first = nextMs
  while (trigger !== null && nextMs !== null && fires.length < row.fires.length) {
    fires.push(nextMs)
    trigger = trigger.triggered(calendar)
    nextMs = inReach(row, trigger.nextFireTimeMs)
  }
  const final = finalOf(row, fresh)
  const { builtStartTimeOfDay, builtEndTimeOfDay } = row
  const window = fresh instanceof DailyTimeIntervalTrigger ? fresh : null
  return {
    expected: {
      first: row.first,
      fires: row.fires,
      more: row.more,
      ...(final === null ? {} : { final: final.expected }),
      after: row.after,
      ...(builtStartTimeOfDay && builtEndTimeOfDay ? { builtStartTimeOfDay, builtEndTimeOfDay } : {}),
    },
    got: {
      first,
      fires,
      more: nextMs !== null || overshoots(row, trigger),
      ...(final === null ? {} : { final: final.got }),
      after: row.after.map(([afterMs]) => [
        afterMs,
        fresh?.getFireTimeAfter(new Date(afterMs))?.getTime() ?? null,
      ]),
      builtStartTimeOfDay: window && partsOf(window.startTimeOfDay),
      builtEndTimeOfDay: window && partsOf(window.endTimeOfDay),
    },
  }
}

/** A cron expression ends there; the other schedules go on for ever, but a search past excluded times ends there. */
function inReach({ calendar, type }: TriggerRow, timeMs: number | null): number | null {
  const givesUp = calendar !== null || type === 'cron'
  return timeMs !== null && givesUp && timeMs >= giveUpMs ? null : timeMs
}

function partsOf(time: { hour: number; minute: number; second: number }): readonly number[] {
  return [time.hour, time.minute, time.second]
}

/**
 * Whether Java's daily-time-interval trigger has a fire where this one has none: it asks whether the day may still
 * fire before it asks when, and so fires once after its end.
 */
function overshoots(row: TriggerRow, trigger: Trigger | null): boolean {
  const lastMs = row.fires.at(-1) ?? null
  if (!(trigger instanceof DailyTimeIntervalTrigger) || row.end === null || lastMs === null) return false
  const nextMs = trigger.getTriggerBuilder().endAt(null).build().fireTimeAfterMs(lastMs, row.fires.length)
  if (nextMs === null || nextMs <= row.end || lastMs + 1000 > row.end) return false
  const { zone } = trigger
  return epochDayOf(zone.toLocalMs(nextMs)) === epochDayOf(zone.toLocalMs(lastMs))
}

/**
 * The final fire time, where the row has one. Quartz 2.3.2, which wrote the rows, cannot search a cron schedule
 * backwards and says "none" for each; where such a trigger has an end, its final time is held against its own search
 * forwards instead.
 */
function finalOf(row: TriggerRow, fresh: Trigger | null): { expected: unknown; got: unknown } | null {
  if (row.final === undefined) return null
  const got = fresh?.finalFireTimeMs() ?? null
  if (row.type !== 'cron' || row.end === null || row.final !== null) return { expected: row.final, got }
  if (fresh === null || got === null) return { expected: null, got: fresh?.firstFireTimeMs() ?? null }
  const after = fresh.fireTimeAfterMs(got)
  return { expected: [got, null], got: [fresh.fireTimeAfterMs(got - 1), after] }
}

function compareMisfire(row: MisfireRow): Comparison {
  const { before, now } = row
  const calendar = makeCalendar(row.calendar)
  const built = makeTrigger({
    ...row,
    start: before.startTime,
    end: before.endTime,
    ...(before.repeatCount === undefined ? {} : { repeatCount: before.repeatCount }),
  })
  const trigger = present('trigger', built).withFireState({
    nextFireTimeMs: before.nextFireTime,
    previousFireTimeMs: before.prevFireTime,
    timesTriggered: before.timesTriggered ?? 0,
    misfiredFireTimeMs: null,
  })
  const moved =
    row.op === 'updateAfterMisfire'
      ? trigger.updateAfterMisfire(calendar, now)
      : row.op === 'updateWithNewCalendar'
        ? trigger.updateWithNewCalendar(calendar, now, present('misfireThreshold', row.misfireThreshold))
        : null
  if (moved === null) throw new Error(`unknown op '${row.op}'`)
  const ends = firesLateAfterEnd(row, trigger)
  return {
    expected: {
      ...row.after,
      ...(ends ? { nextFireTime: null } : {}),
      mayFireAgain: row.mayFireAgain && !ends,
    },
    got: { ...stateOf(moved), mayFireAgain: moved.mayFireAgain() },
  }
}

/**
 * Whether Java fires now what was missed although the end of the trigger has come: it does so for daily-time-interval
 * triggers and for simple ones that fire once. Here such a trigger is finished.
 */
function firesLateAfterEnd({ op, now, after }: MisfireRow, { type, endTimeMs }: Trigger): boolean {
  if (op !== 'updateAfterMisfire' || endTimeMs === null || after.nextFireTime !== now) return false
  if (type === 'dailyTimeInterval') return endTimeMs < now
  return type === 'simple' && after.repeatCount === 0 && endTimeMs <= now
}

function stateOf(trigger: Trigger): TriggerStateRow {
  const counts = trigger instanceof SimpleTrigger || trigger instanceof DailyTimeIntervalTrigger
  return {
    nextFireTime: trigger.nextFireTimeMs,
    prevFireTime: trigger.previousFireTimeMs,
    startTime: trigger.startTimeMs,
    endTime: trigger.endTimeMs,
    ...(counts ? { repeatCount: trigger.repeatCount } : {}),
    timesTriggered: trigger.timesTriggered,
  }
}

function compareCalendar(row: CalendarTestRow): Comparison {
  const calendar = present('calendar', makeCalendar(row.calendar))
  return {
    expected: { included: row.tests },
    got: { included: row.tests.map(([timeMs]) => [timeMs, calendar.isTimeIncluded(timeMs)]) },
  }
}

function compareCron(row: CronRow): Comparison {
  const cron = makeCron(row.expr, row.zone)
  const next: number[] = []
  let nextMs = cron?.nextTimeMs(Date.parse(row.after)) ?? null
  while (nextMs !== null && next.length < row.next.length) {
    next.push(nextMs)
    nextMs = cron?.nextTimeMs(nextMs) ?? null
  }
  const ends = row.end === true
  return {
    expected: { next: row.next, ...(ends ? { end: null } : {}) },
    got: { next, end: nextMs },
  }
}

function compareCronReject(row: CronRejectRow): Comparison {
  const expected = { error: 'CronExpressionError with field and position' }
  try {
    CronExpression.parse(row.expr)
    return { expected, got: { error: 'none' } }
  } catch (error) {
    const isClear =
      error instanceof CronExpressionError &&
      (error.field === null || error.field.length > 0) &&
      error.position >= 0 &&
      error.position <= row.expr.length
    return { expected, got: isClear ? expected : { error: String(error) } }
  }
}
