import { civilFromLocalMs, minuteMs } from '../../src/time/civil.ts'
import { TimeZone } from '../../src/time/zone.ts'
import type { CronExpression } from '../../src/triggers/cron/cron-expression.ts'

/** An instant as the wall of a zone shows it: `2026-03-08 03:00 -04:00`, seconds only when there are some. */
export function wallText(epochMs: number, zoneName: string): string {
  const offsetMs = TimeZone.of(zoneName).offsetMsAt(epochMs)
  const { year, month, day, hour, minute, second } = civilFromLocalMs(epochMs + offsetMs)
  const two = (value: number): string => String(value).padStart(2, '0')
  const seconds = second === 0 ? '' : `:${two(second)}`
  const offsetMinutes = Math.abs(offsetMs) / minuteMs
  const offset = `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(offsetMinutes / 60))}:${two(offsetMinutes % 60)}`
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}${seconds} ${offset}`
}

/** The instant of `2026-03-08 03:00[:00]` on the wall of a zone (first pass), or of an ISO text that ends in Z. */
export function instantOf(text: string, zoneName: string): number {
  const utcMs = Date.parse(text.endsWith('Z') ? text.replace(' ', 'T') : `${text.replace(' ', 'T')}Z`)
  return text.endsWith('Z') ? utcMs : TimeZone.of(zoneName).firstInstantAtOrAfter(utcMs)
}

/** The next `count` fires after an instant, as wall texts; shorter when the fires end. */
export function nextTexts(cron: CronExpression, afterMs: number, count: number): string[] {
  const texts: string[] = []
  let nextMs = cron.nextTimeMs(afterMs)
  while (nextMs !== null && texts.length < count) {
    texts.push(wallText(nextMs, cron.timeZone))
    nextMs = cron.nextTimeMs(nextMs)
  }
  return texts
}

/** The last `count` fires before an instant, going back, as wall texts. */
export function previousTexts(cron: CronExpression, beforeMs: number, count: number): string[] {
  const texts: string[] = []
  let previousMs = cron.previousTimeMs(beforeMs)
  while (previousMs !== null && texts.length < count) {
    texts.push(wallText(previousMs, cron.timeZone))
    previousMs = cron.previousTimeMs(previousMs)
  }
  return texts
}
