import { expect, test, vi } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { DailyCalendar } from '../../src/triggers/calendars/daily-calendar.ts'
import { CronTimes } from '../../src/triggers/cron/cron-times.ts'
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

/** How often the calendars are asked for their next time while that is done. */
async function questionsOf(action: () => unknown): Promise<number> {
  const asked = vi.spyOn(
    CronCalendar.prototype as unknown as { nextOwnIncluded(): unknown },
    'nextOwnIncluded',
  )
  try {
    await action()
    return asked.mock.calls.length
  } finally {
    asked.mockRestore()
  }
}

test('calendars that contradict each other are asked once for all triggers that name them', async () => {
  const clock = new ManualClock(start)
  await using scheduler = await createScheduler({ logger: false, clock, jobs: [defineJob('work', () => {})] })
  const minutes = new CronCalendar({ expression: '* 0 * * * ?', timeZone })
  await scheduler.addCalendar('changing', minutes)
  await scheduler.addJob(JobBuilder.newJob('work').withIdentity('job').storeDurably().build())
  for (let number = 0; number < 100; number++) {
    const trigger = TriggerBuilder.newTrigger({ clock })
      .withIdentity(`t${number}`)
      .forJob('job')
      .startAt(new Date(start.getTime() + number * 777))
      .modifiedByCalendar('changing')
      .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever(1))
      .build()
    await scheduler.scheduleJob(trigger)
  }
  const never = evenSeconds(new CronCalendar({ expression: '0/2 * * * * ?', timeZone }))
  const options = { replace: true, updateTriggers: true }
  expect(await questionsOf(() => scheduler.addCalendar('changing', never, options))).toBeLessThan(100_000)
  expect((await scheduler.getTrigger(triggerKey('t99')))?.nextFireTimeMs ?? null).toBeNull()
})

test('a cron calendar that leaves out everything is gone through once, and not past the end of the search', () => {
  const freeze = new CronCalendar({ expression: '* * * * * ?', timeZone: 'Europe/Paris' })
  const searched = vi.spyOn(CronTimes.prototype, 'invalidMsAfter')
  for (let number = 0; number < 50; number++) {
    expect(freeze.nextIncludedTime(start.getTime() + number * 60_000)).toBeNull()
  }
  const stretches = searched.mock.calls.map(([afterMs, untilMs]) => untilMs - afterMs)
  searched.mockRestore()
  const hundredYears = 36_525 * 86_400_000
  const minutes = 50 * 60_000
  expect(stretches.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(hundredYears + minutes)
})

test('what lies behind a stretch that an earlier search gave up in is found from where it is near enough', () => {
  // Nothing but in the first minute of the year: too far for one search, and not for one from December on.
  const odd = new CronCalendar({ expression: '0/2 * * * * ?', timeZone })
  const but = new CronCalendar({ expression: '1/2 * * 2-31 * ?', timeZone, baseCalendar: odd })
  const nextOf = (calendar: CronCalendar, from: string): number | null =>
    calendar.nextIncludedTime(Date.parse(from))
  const fresh = (): CronCalendar =>
    new CronCalendar({ expression: '1/2 * * 2-31 * ?', timeZone, baseCalendar: odd })
  expect(nextOf(but, '2026-01-30T12:00:00Z')).toBeNull()
  for (const from of ['2026-01-30T13:00:00Z', '2026-01-31T12:00:00Z', '2026-01-31T20:00:00Z']) {
    expect(nextOf(but, from)).toBe(nextOf(fresh(), from))
  }
  expect(nextOf(but, '2026-01-31T20:00:00Z')).toBe(Date.parse('2026-02-01T00:00:01Z'))
})
