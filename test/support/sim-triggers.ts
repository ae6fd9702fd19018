import type { JobKey } from '../../src/core/key.ts'
import { TriggerKey } from '../../src/core/key.ts'
import type { Calendar, CalendarDefinition } from '../../src/triggers/calendars/calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import {
  calendarMisfireInstructions,
  simpleMisfireInstructions,
} from '../../src/triggers/misfire-instruction.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import type { SimRandom } from './sim-random.ts'

export const calendarNames = ['c1', 'c2'] as const
const zones = ['UTC', 'Europe/Paris', 'America/New_York']
export const triggerGroups = ['g1', 'g2', 'h1'] as const

/** Leaves out the first part of every period, so that runs of a few minutes meet it. */
export class PeriodicCalendar implements Calendar {
  readonly type = 'periodic'
  readonly description = null
  readonly baseCalendar = null
  readonly #periodMs: number
  readonly #excludedMs: number

  constructor(periodMs: number, excludedMs: number) {
    this.#periodMs = periodMs
    this.#excludedMs = excludedMs
  }

  isTimeIncluded(timeMs: number): boolean {
    return timeMs % this.#periodMs >= this.#excludedMs
  }
  nextIncludedTime(timeMs: number): number {
    const nextMs = timeMs + 1
    const intoPeriodMs = nextMs % this.#periodMs
    return intoPeriodMs >= this.#excludedMs ? nextMs : nextMs - intoPeriodMs + this.#excludedMs
  }
  toJSON(): CalendarDefinition {
    return { type: this.type, periodMs: this.#periodMs, excludedMs: this.#excludedMs }
  }
}

/** Primes, so that no schedule falls into the excluded part for ever. */
const calendarPeriodsMs = [2503, 7919, 15_013, 30_011, 60_013]

export function randomCalendar(random: SimRandom): Calendar {
  const periodMs = random.pick(calendarPeriodsMs)
  return new PeriodicCalendar(periodMs, Math.floor(periodMs * random.next() * 0.9))
}

export interface TriggerWish {
  readonly name: string
  readonly jobKey: JobKey
  readonly nowMs: number
}

/** A trigger of any family that fires every few seconds, in the near past or future, or once. */
export function randomTrigger(random: SimRandom, wish: TriggerWish): Trigger {
  const startMs = wish.nowMs + (random.chance(0.2) ? -random.integer(0, 90_000) : random.integer(0, 40_000))
  const builder = TriggerBuilder.newTrigger()
    .withIdentity(new TriggerKey(wish.name, random.pick(triggerGroups)))
    .forJob(wish.jobKey)
    .withPriority(random.integer(1, 9))
    .startAt(new Date(startMs))
  if (random.chance(0.2)) builder.endAt(new Date(startMs + random.integer(1, 120_000)))
  if (random.chance(0.25)) builder.modifiedByCalendar(random.pick(calendarNames))
  return builder.withSchedule(randomSchedule(random)).build()
}

function randomSchedule(random: SimRandom): ScheduleBuilder<Trigger> {
  switch (random.weighted({ simple: 5, cron: 2, calendarInterval: 2, dailyTimeInterval: 2 })) {
    case 'simple':
      return simpleSchedule(random)
    case 'cron':
      return cronSchedule(random)
    case 'calendarInterval':
      return CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
        .withInterval(random.integer(1, 30), 'SECOND')
        .inTimeZone(random.pick(zones))
        .withMisfireInstruction(random.pick(calendarMisfireInstructions))
    case 'dailyTimeInterval':
      return dailySchedule(random)
  }
}

function simpleSchedule(random: SimRandom): ScheduleBuilder<Trigger> {
  const repeats = random.pick([0, 0, -1, -1, -1, random.integer(1, 10)])
  const intervalMs = random.pick([500, 1000, 2500, 5000, 10_000, random.integer(100, 20_000)])
  return SimpleScheduleBuilder.simpleSchedule()
    .withIntervalInMilliseconds(intervalMs)
    .withRepeatCount(repeats)
    .withMisfireInstruction(random.pick(simpleMisfireInstructions))
}

function cronSchedule(random: SimRandom): ScheduleBuilder<Trigger> {
  const seconds = random.pick(['*', '0/5', '7,23,41', '10-20', '30'])
  const minutes = random.pick(['*', '0/2', '1-59/3'])
  return CronScheduleBuilder.cronSchedule(`${seconds} ${minutes} * * * ?`)
    .inTimeZone(random.pick(zones))
    .withMisfireInstruction(random.pick(calendarMisfireInstructions))
}

function dailySchedule(random: SimRandom): ScheduleBuilder<Trigger> {
  const schedule = DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
    .withInterval(random.integer(1, 40), 'SECOND')
    .onEveryDay()
    .inTimeZone(random.pick(zones))
    .withMisfireInstruction(random.pick(calendarMisfireInstructions))
  return random.chance(0.3) ? schedule.withRepeatCount(random.integer(1, 10)) : schedule
}
