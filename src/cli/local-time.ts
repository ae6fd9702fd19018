import { civilFromLocalMs, epochDayOf, weekdayOf } from '../time/civil.ts'
import type { EpochMs } from '../time/clock.ts'
import type { TimeZone } from '../time/zone.ts'

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const two = (number: number): string => String(number).padStart(2, '0')

/** `Mon 2026-01-05 09:00:00 +01:00` */
export function formatLocal(zone: TimeZone, instantMs: EpochMs): string {
  const localMs = zone.toLocalMs(instantMs)
  const { year, month, day } = civilFromLocalMs(localMs)
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  return `${weekdayName(localMs)} ${date} ${formatClock(zone, instantMs)} ${formatOffset(zone.offsetMsAt(instantMs))}`
}

/** `09:00:00` */
export function formatClock(zone: TimeZone, instantMs: EpochMs): string {
  const { hour, minute, second } = civilFromLocalMs(zone.toLocalMs(instantMs))
  return `${two(hour)}:${two(minute)}:${two(second)}`
}

/** As much of an instant as tells it from today: `09:00:00`, `Mon 09:00` within a week, `5 Jan 27` beyond. */
export function formatShort(zone: TimeZone, instantMs: EpochMs, nowMs: EpochMs): string {
  const localMs = zone.toLocalMs(instantMs)
  const days = epochDayOf(localMs) - epochDayOf(zone.toLocalMs(nowMs))
  if (days === 0) return formatClock(zone, instantMs)
  const { year, month, day } = civilFromLocalMs(localMs)
  if (days > 0 && days < 7) return `${weekdayName(localMs)} ${formatClock(zone, instantMs).slice(0, 5)}`
  return `${day} ${months[month - 1] ?? ''} ${two(year % 100)}`
}

/** `+01:00`; with seconds where a zone once had them. */
export function formatOffset(offsetMs: number): string {
  const sign = offsetMs < 0 ? '-' : '+'
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  const minutes = Math.floor(seconds / 60)
  const text = `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  return seconds % 60 === 0 ? text : `${text}:${two(seconds % 60)}`
}

function weekdayName(localMs: number): string {
  return weekdays[weekdayOf(epochDayOf(localMs)) - 1] ?? ''
}

/** `2026-01-05 09:00:00` */
export function formatMoment(zone: TimeZone, instantMs: EpochMs): string {
  const { year, month, day } = civilFromLocalMs(zone.toLocalMs(instantMs))
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${formatClock(zone, instantMs)}`
}
