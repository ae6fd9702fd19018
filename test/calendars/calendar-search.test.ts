import { expect, test } from 'vitest'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { DailyCalendar } from '../../src/triggers/calendars/daily-calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

const timeZone = 'UTC'
const start = new Date('2026-01-01T00:00:00.000Z')

/** Leaves out the seconds with an even number, and counts how often it is asked. */
class OddSeconds implements Calendar {
  readonly type = 'odd'
  readonly description = null
  readonly baseCalendar = null
  asked = 0

  isTimeIncluded(timeMs: number): boolean {
    this.asked++
    return Math.floor(timeMs / 1000) % 2 === 1
  }

  nextIncludedTime(timeMs: number): number {
    this.asked++
    const nextMs = timeMs + 1
    return Math.floor(nextMs / 1000) % 2 === 1 ? nextMs : (Math.floor(nextMs / 1000) + 1) * 1000
  }

  toJSON(): { type: string } {
    return { type: this.type }
  }
}

const evenSeconds = (baseCalendar: Calendar): CronCalendar =>
  new CronCalendar({ expression: '1/2 * * * * ?', timeZone, baseCalendar })
/** Even seconds, but odd ones too in one minute of each hour. */
const mostlyEven = (baseCalendar: Calendar): CronCalendar =>
  new CronCalendar({ expression: '1/2 0-29,31-59 * * * ?', timeZone, baseCalendar })
const morning = (baseCalendar: Calendar): DailyCalendar =>
  new DailyCalendar({ rangeStart: '12:00', rangeEnd: '23:59:59:999', timeZone, baseCalendar })

const chains: Readonly<Record<string, (base: Calendar) => Calendar>> = {
  'on a contradiction': evenSeconds,
  'on a contradiction with a gap that it misses': mostlyEven,
  'on contradictions one above the other': (base) => evenSeconds(mostlyEven(evenSeconds(mostlyEven(base)))),
  'on a contradiction below another calendar': (base) => morning(mostlyEven(morning(base))),
}

const schedules: Readonly<Record<string, () => ScheduleBuilder<Trigger>>> = {
  'every minute': () => CronScheduleBuilder.cronSchedule('0 * * * * ?', { timeZone }),
  'every noon': () => CronScheduleBuilder.cronSchedule('0 0 12 * * ?', { timeZone }),
  'every ten seconds': () => SimpleScheduleBuilder.repeatSecondlyForever(10),
}

test.each(
  Object.keys(chains).flatMap((chain) =>
    Object.keys(schedules).map((schedule) => [schedule, chain] as const),
  ),
)('a trigger of %s %s never fires, which few questions tell', (schedule, chain) => {
  const odd = new OddSeconds()
  const calendar = chains[chain]?.(odd) ?? null
  const trigger = TriggerBuilder.newTrigger()
    .startAt(start)
    .withSchedule(schedules[schedule]?.() ?? SimpleScheduleBuilder.simpleSchedule())
    .build()
  expect(trigger.computeFirstFireTime(calendar).nextFireTimeMs).toBeNull()
  expect(trigger.updateWithNewCalendar(calendar, start.getTime(), 60_000).nextFireTimeMs).toBeNull()
  expect(odd.asked).toBeGreaterThan(0)
  expect(odd.asked).toBeLessThan(200_000)
})

test('what a chain leaves open is found', () => {
  const calendar = morning(mostlyEven(new OddSeconds()))
  const found = (from: string): string => {
    const nextMs = calendar.nextIncludedTime(Date.parse(from))
    return nextMs === null ? 'none' : new Date(nextMs).toISOString()
  }
  expect(found('2026-01-01T00:00:00.000Z')).toBe('2026-01-01T00:30:01.000Z')
  expect(found('2026-01-01T00:30:01.000Z')).toBe('2026-01-01T00:30:01.001Z')
  expect(found('2026-01-01T00:30:59.999Z')).toBe('2026-01-01T01:30:01.000Z')
})
