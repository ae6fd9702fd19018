import { language, viewerZone } from '../state/preferences.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const stepsMs = [
  ...[1, 5, 10, 30].map((seconds) => seconds * secondMs),
  ...[1, 5, 10, 30].map((minutes) => minutes * minuteMs),
  ...[1, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7].map((days) => days * dayMs),
]

export interface Tick {
  readonly ms: number
  readonly text: string
}

/** Round instants of the viewer's zone between two others, at most so many. */
export function axisTicks(fromMs: number, toMs: number, most: number): readonly Tick[] {
  const stepMs = stepsMs.find((step) => (toMs - fromMs) / step <= most) ?? 7 * dayMs
  const ticks: Tick[] = []
  for (let local = Math.ceil(localOf(fromMs) / stepMs) * stepMs; ; local += stepMs) {
    const ms = instantOf(local)
    if (ms > toMs) return ticks
    if (ms >= fromMs) ticks.push({ ms, text: tickText(ms, local % dayMs === 0, stepMs) })
  }
}

/*
 * The viewer's zone is the browser's own or UTC, so that `Date` knows it. A local time is what the clock shows, counted
 * as if it were UTC.
 */

function localOf(ms: number): number {
  return viewerZone() === 'UTC' ? ms : ms - new Date(ms).getTimezoneOffset() * minuteMs
}

function instantOf(local: number): number {
  const shown = new Date(local)
  if (viewerZone() === 'UTC') return local
  return new Date(
    shown.getUTCFullYear(),
    shown.getUTCMonth(),
    shown.getUTCDate(),
    shown.getUTCHours(),
    shown.getUTCMinutes(),
    shown.getUTCSeconds(),
  ).getTime()
}

function tickText(ms: number, isMidnight: boolean, stepMs: number): string {
  const fields: Intl.DateTimeFormatOptions = isMidnight
    ? { day: 'numeric', month: 'short' }
    : { hour: '2-digit', minute: '2-digit', ...(stepMs < minuteMs && { second: '2-digit' }) }
  const locale = language.value === 'zh' ? 'zh-CN' : 'en-GB'
  return new Intl.DateTimeFormat(locale, { timeZone: viewerZone(), hourCycle: 'h23', ...fields }).format(ms)
}
