const minuteMs = 60_000
const hourMs = 3_600_000

const formats = new Map<string, Intl.DateTimeFormat>()

/** Local minus UTC, as Intl shows it. */
function intlOffsetMs(zoneName: string, atMs: number): number {
  let format = formats.get(zoneName)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zoneName,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zoneName, format)
  }
  const shown: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(atMs)) shown[type] = Number(value)
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
}

/**
 * What the wall of a zone shows at every minute of a stretch of time: an oracle that looks up and down a list and
 * knows nothing of the code under test. Offsets come from Intl.
 */
export class WallMinutes {
  readonly fromMs: number
  readonly #localMs: number[] = []

  constructor(zoneName: string, fromMs: number, untilMs: number) {
    this.fromMs = Math.floor(fromMs / hourMs) * hourMs
    let offsetMs = intlOffsetMs(zoneName, this.fromMs)
    for (let hour = this.fromMs; hour < untilMs; hour += hourMs) {
      const nextOffsetMs = intlOffsetMs(zoneName, hour + hourMs)
      const isSteady = nextOffsetMs === offsetMs
      for (let atMs = hour; atMs < hour + hourMs; atMs += minuteMs) {
        this.#localMs.push(atMs + (isSteady ? offsetMs : intlOffsetMs(zoneName, atMs)))
      }
      offsetMs = nextOffsetMs
    }
  }

  get untilMs(): number {
    return this.fromMs + this.#localMs.length * minuteMs
  }

  /** What the wall shows at an instant of the stretch. */
  localMsAt(atMs: number): number {
    const index = Math.floor((atMs - this.fromMs) / minuteMs)
    return (this.#localMs[index] ?? Number.NaN) + (atMs - this.fromMs - index * minuteMs)
  }

  /** Whether the wall ever shows this. */
  shows(localMs: number): boolean {
    return this.#localMs.some((shownMs) => shownMs <= localMs && localMs < shownMs + minuteMs)
  }

  /** The first instant at which the wall shows this or, having jumped over it, something later. */
  firstAt(localMs: number): number {
    const index = this.#localMs.findIndex((shownMs) => localMs < shownMs + minuteMs)
    const shownMs = this.#localMs[index]
    if (shownMs === undefined) return Number.NaN
    return this.fromMs + index * minuteMs + Math.max(0, localMs - shownMs)
  }
}
