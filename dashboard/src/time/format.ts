import { language, viewerZone } from '../state/preferences.ts'

/** What is not known is a dash, never a zero. */
export const unknownText = '–'

const cache = new Map<string, Intl.DateTimeFormat>()

function formatter(zone: string, fields: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const locale = language.value === 'zh' ? 'zh-CN' : 'en-GB'
  const name = JSON.stringify([locale, zone, fields])
  const known = cache.get(name)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h23', ...fields })
  cache.set(name, made)
  return made
}

const timeFields = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const dateFields = { year: 'numeric', month: 'short', day: 'numeric' } as const

/** Date and time, without the date for an instant of today. */
export function instantText(ms: number, nowMs: number, zone = viewerZone()): string {
  const day = formatter(zone, dateFields)
  if (day.format(ms) === day.format(nowMs)) return formatter(zone, timeFields).format(ms)
  return formatter(zone, { ...dateFields, ...timeFields }).format(ms)
}

/** Hours and minutes, for an axis. */
export function clockText(ms: number, zone: string): string {
  return formatter(zone, { hour: '2-digit', minute: '2-digit' }).format(ms)
}

/** Everything there is to say: weekday, date, time and the zone's name. */
export function fullInstantText(ms: number, zone = viewerZone()): string {
  const fields = { weekday: 'short', ...dateFields, ...timeFields, timeZoneName: 'short' } as const
  return formatter(zone, fields).format(ms)
}

/** A date and a time with the weekday, for lists of fire times. */
export function fireTimeText(ms: number, zone: string): string {
  return formatter(zone, { weekday: 'short', ...dateFields, ...timeFields }).format(ms)
}

export function offsetText(ms: number, zone: string): string {
  const parts = formatter(zone, { timeZoneName: 'longOffset' }).formatToParts(ms)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

const steps: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** As in "in 5 minutes". */
export function relativeText(ms: number, nowMs: number): string {
  const differsMs = ms - nowMs
  const [unit, unitMs] = steps.find(([, each]) => Math.abs(differsMs) >= each) ?? (['second', 1000] as const)
  const relative = new Intl.RelativeTimeFormat(language.value === 'zh' ? 'zh-CN' : 'en', {
    numeric: 'always',
    style: 'short',
  })
  return relative.format(Math.trunc(differsMs / unitMs), unit)
}

const units: readonly (readonly [unit: string, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
]

/** A length of time in its largest unit, as in "1.5 sec". */
export function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return unknownText
  const [unit, unitMs] = units.find(([, each]) => Math.abs(ms) >= each) ?? (['millisecond', 1] as const)
  return new Intl.NumberFormat(language.value === 'zh' ? 'zh-CN' : 'en', {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: unit === 'millisecond' ? 0 : 1,
  }).format(ms / unitMs)
}

/** So many units of time, as in "90 minutes". */
export function lengthText(count: number, unit: string): string {
  const locale = language.value === 'zh' ? 'zh-CN' : 'en'
  const options = { style: 'unit', unit: unit.toLowerCase(), unitDisplay: 'long' } as const
  return new Intl.NumberFormat(locale, options).format(count)
}

export function numberText(value: number | null | undefined, digits = 0): string {
  if (value === null || value === undefined || Number.isNaN(value)) return unknownText
  const locale = language.value === 'zh' ? 'zh-CN' : 'en'
  return new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value)
}

export function percentText(share: number | null): string {
  if (share === null || Number.isNaN(share)) return unknownText
  const locale = language.value === 'zh' ? 'zh-CN' : 'en'
  // 99.96 % is not all: rounded down, so that 100 % means it.
  const shown = share === 1 ? 1 : Math.floor(share * 1000) / 1000
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(shown)
}
