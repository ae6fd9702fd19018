import { ZoneNames } from './zone-names.ts'
import { ZoneOffsets } from './zone-offsets.ts'
import type { OffsetSource } from './zone-transitions.ts'

/** A time zone by its IANA name, with the offsets that Intl shows: for browsers, which need nothing else for it. */
export class IntlZone extends ZoneOffsets {
  static readonly #names = new ZoneNames((name) => {
    const format = formatOf(name)
    return new IntlZone(name, { offset: (epochMs) => shownOffset(format, epochMs) })
  })

  private constructor(name: string, source: OffsetSource) {
    super(name, source)
  }

  /** The zone of that name. Throws `InvalidArgumentError` (`ERR_UNKNOWN_TIME_ZONE`) when Intl has no such zone. */
  static of(name: string): IntlZone {
    return IntlZone.#names.of(name)
  }

  /** The zone of this machine, as it is set now. */
  static system(): IntlZone {
    return IntlZone.#names.ofMachine()
  }
}

/** Shows a date with the offset at its end. */
function formatOf(name: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
}

/** Minutes; from `GMT`, `GMT+05:30`, or with seconds for the mean times of long ago: `GMT-04:56:02`. */
function shownOffset(format: Intl.DateTimeFormat, epochMs: number): number {
  const [, sign, hours, minutes, seconds = 0] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(epochMs)) ?? []
  if (sign === undefined) return 0
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes) + Number(seconds) / 60)
}
