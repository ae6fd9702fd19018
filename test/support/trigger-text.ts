import { civilFromLocalMs } from '../../src/time/civil.ts'
import { TimeZone } from '../../src/time/zone.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

const two = (value: number): string => String(value).padStart(2, '0')

/** An instant as the wall of a zone shows it: `2026-03-08 01:30 -05`, with seconds where there are some. */
export function wallText(epochMs: number, timeZone: string): string {
  const zone = TimeZone.of(timeZone)
  const { year, month, day, hour, minute, second } = civilFromLocalMs(zone.toLocalMs(epochMs))
  const offsetMinutes = zone.offsetMsAt(epochMs) / 60_000
  const sign = offsetMinutes < 0 ? '-' : '+'
  const rest = Math.abs(offsetMinutes) % 60
  const offset = `${sign}${two(Math.floor(Math.abs(offsetMinutes) / 60))}${rest === 0 ? '' : two(rest)}`
  const seconds = second === 0 ? '' : `:${two(second)}`
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}${seconds} ${offset}`
}

/** The next `count` fire times of a trigger in a zone's wall time, the first one first. */
export function fireTexts(
  trigger: Trigger,
  timeZone: string,
  count: number,
  calendar: Calendar | null = null,
): string[] {
  return fireInstants(trigger, count, calendar).map((instantMs) => wallText(instantMs, timeZone))
}

export function fireInstants(trigger: Trigger, count: number, calendar: Calendar | null = null): number[] {
  const instants: number[] = []
  let current = trigger.computeFirstFireTime(calendar)
  while (current.nextFireTimeMs !== null && instants.length < count) {
    instants.push(current.nextFireTimeMs)
    current = current.triggered(calendar)
  }
  return instants
}
