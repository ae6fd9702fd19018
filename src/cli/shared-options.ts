import { InvalidArgumentError } from '../core/errors.ts'
import type { EpochMs } from '../time/clock.ts'
import { TimeZone } from '../time/zone.ts'
import { type CronDialect, cronDialects } from '../triggers/cron/cron-dialect.ts'
import type { CronDst } from '../triggers/cron/dst-policy.ts'
import type { StringOption } from './command.ts'
import { UsageError } from './command.ts'

export const zoneOption: StringOption = {
  type: 'string',
  value: 'ZONE',
  help: 'IANA time zone such as Europe/Paris (default: the zone of this machine)',
}

export const dstOption: StringOption = {
  type: 'string',
  value: 'POLICY',
  help: `When clocks change: 'vixie' as Vixie cron does (default), 'quartz' as Java Quartz does`,
}

export const dialectOption: StringOption = {
  type: 'string',
  value: 'DIALECT',
  help: `How expressions are read: ${cronDialects.join(', ')}`,
  choices: cronDialects,
}

/** Null where none is given. @throws UsageError */
export function requireDialect(text: string | undefined): CronDialect | null {
  const dialect = cronDialects.find((known) => known === text)
  if (dialect !== undefined || text === undefined) return dialect ?? null
  throw new UsageError(`--dialect takes one of ${cronDialects.join(', ')}, got '${text}'.`)
}

/** @throws UsageError for a zone that is not known, with the nearest that is */
export function requireZone(name: string | undefined): TimeZone {
  if (name === undefined) return TimeZone.system()
  try {
    return TimeZone.of(name)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new UsageError(`--zone: ${error.message}`, { cause: error })
  }
}

export function requireDst(text: string | undefined): CronDst {
  if (text === undefined || text === 'vixie' || text === 'quartz') return text ?? 'vixie'
  throw new UsageError(`--dst takes 'vixie' or 'quartz', got '${text}'.`)
}

export function requireWhole(option: string, text: string, bounds: { min: number; max: number }): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (number >= bounds.min && number <= bounds.max) return number
  throw new UsageError(`${option} takes a whole number from ${bounds.min} to ${bounds.max}, got '${text}'.`)
}

/**
 * @param what what the option takes, up to the instant
 * @throws UsageError for what names no instant, such as a local time without an offset
 */
export function requireInstant(option: string, text: string, what: string = 'an instant'): EpochMs {
  const instantMs = Date.parse(text)
  const exact = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)
  if (exact && !Number.isNaN(instantMs)) {
    const day = text.slice(0, 10)
    if (isDay(day)) return instantMs
    throw new UsageError(`${option}: there is no day ${day}, got '${text}'.`)
  }
  throw new UsageError(
    `${option} takes ${what} with its offset such as 2026-03-29T00:00:00Z, or a date (UTC), got '${text}'.`,
  )
}

/** Of 30 February, which is no day, `Date` makes one in March. */
function isDay(text: string): boolean {
  return new Date(`${text}T00:00:00Z`).toISOString().startsWith(text)
}

/** What lists of what happened take; the words say what happened when. */
export function windowOptions(
  atOrAfter: string,
  before: string,
): Readonly<Record<'from' | 'to', StringOption>> {
  return {
    from: { type: 'string', value: 'TIME', help: `${atOrAfter} this instant, as in 2026-03-29T00:00:00Z` },
    to: { type: 'string', value: 'TIME', help: `${before} this instant` },
  }
}

interface WindowValues {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

interface TimeWindow {
  readonly fromMs: EpochMs | undefined
  readonly toMs: EpochMs | undefined
}

/** @throws UsageError for what names no instant */
export function requireWindow({ from, to }: WindowValues): TimeWindow {
  return {
    fromMs: from === undefined ? undefined : requireInstant('--from', from),
    toMs: to === undefined ? undefined : requireInstant('--to', to),
  }
}
