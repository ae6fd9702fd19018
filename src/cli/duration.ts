import { timerDelayMaxMs } from '../time/clock.ts'
import { durationMsOf } from '../time/duration.ts'
import { UsageError } from './command.ts'

/**
 * Reads `20s`, `500ms`, `1m30s`: whole or decimal numbers, each with its unit; or ISO 8601's `PT20S`. Bounds are
 * milliseconds: 0 and what a timer takes, unless others are given.
 *
 * @throws UsageError that names the option
 */
export function parseDuration(
  option: string,
  text: string,
  { min = 0, max = timerDelayMaxMs }: { readonly min?: number; readonly max?: number } = {},
): number {
  const durationMs = durationMsOf(text)
  if (durationMs !== null) {
    if (durationMs >= min && durationMs <= max) return durationMs
    const [bound, limit] = durationMs < min ? ['at least', min] : ['at most', max]
    throw new UsageError(`${option} takes ${bound} ${formatDuration(limit)}, got '${text}'.`)
  }
  const hint = /^\d+(\.\d+)?$/.test(text) ? ` Did you mean '${text}s'?` : ''
  throw new UsageError(`${option} takes a duration such as 20s, 500ms or 1m30s, got '${text}'.${hint}`)
}

/** A duration for people, in at most two units: `4 ms`, `2.5 s`, `3 m 5 s`, `2 d 4 h`. */
export function formatDuration(durationMs: number): string {
  const ms = Math.round(durationMs)
  if (ms < 1000) return `${ms} ms`
  if (ms < 59_950) return `${Number((ms / 1000).toFixed(1))} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return twoUnits(seconds, 60, 'm', 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1440) return twoUnits(minutes, 60, 'h', 'm')
  return twoUnits(Math.round(minutes / 60), 24, 'd', 'h')
}

/** A duration in one unit and at most six characters: `4 ms`, `2.5 s`, `12.3 m`, `5.0 h`, `13.2 d`. */
export function formatShortDuration(durationMs: number): string {
  const ms = Math.round(durationMs)
  if (ms < 1000) return `${ms} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  if (ms < 3_597_000) return `${(ms / 60_000).toFixed(1)} m`
  if (ms < 172_620_000) return `${(ms / 3_600_000).toFixed(1)} h`
  return `${(ms / 86_400_000).toFixed(1)} d`
}

function twoUnits(amount: number, size: number, large: string, small: string): string {
  const rest = amount % size
  return rest === 0
    ? `${Math.floor(amount / size)} ${large}`
    : `${Math.floor(amount / size)} ${large} ${rest} ${small}`
}
