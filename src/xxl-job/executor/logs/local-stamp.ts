import { civilFromLocalMs } from '../../../time/civil.ts'
import type { Clock, EpochMs } from '../../../time/clock.ts'
import type { TimeZone } from '../../../time/zone.ts'

/** `2026-11-22`, as the wall of a zone shows it. */
export function localDay(zone: TimeZone, ms: EpochMs): string {
  const { year, month, day } = civilFromLocalMs(zone.toLocalMs(ms))
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** The time before a line of a log, made once a second. */
export class LocalStamp {
  readonly #clock: Clock
  readonly #zone: TimeZone
  #second = Number.NaN
  #text = ''

  constructor(clock: Clock, zone: TimeZone) {
    this.#clock = clock
    this.#zone = zone
  }

  /** `2026-11-22 20:15:00` */
  now(): string {
    const nowMs = this.#clock.now()
    const second = Math.floor(nowMs / 1000)
    if (second === this.#second) return this.#text
    this.#second = second
    const time = civilFromLocalMs(this.#zone.toLocalMs(nowMs))
    const clockTime = [time.hour, time.minute, time.second].map(twoDigits).join(':')
    this.#text = `${localDay(this.#zone, nowMs)} ${clockTime}`
    return this.#text
  }
}
