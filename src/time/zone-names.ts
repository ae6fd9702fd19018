import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, nearestName } from '../core/options.ts'

/** Longer than every IANA name. */
const nameMaxLength = 64

/** How many names are kept. There are about 600, and Intl takes each in any case of its letters. */
const namesKept = 2000

/**
 * Zones by their names, each made once as long as it is asked for: what clients send must not fill the memory. `make`
 * answers null for a name that is no zone's.
 */
export class ZoneNames<Zone> {
  /** Those that were asked for last at the end, once there are many. */
  readonly #byName = new Map<string, Zone>()
  readonly #make: (name: string) => Zone | null

  constructor(make: (name: string) => Zone | null) {
    this.#make = make
  }

  /** Throws {@link InvalidArgumentError} (`ERR_UNKNOWN_TIME_ZONE`) for a name that is no zone's. */
  of(name: string): Zone {
    const known = this.#byName.get(name)
    if (known !== undefined) {
      if (this.#byName.size > namesKept / 2) this.#keep(name, known)
      return known
    }
    // A bare offset is a zone to some versions of Node and not to others: refuse it everywhere.
    const possible =
      typeof name === 'string' && /^[A-Za-z][\w/+-]*$/.test(name) && name.length <= nameMaxLength
    const made = possible ? this.#make(name) : null
    if (made === null) throw unknownZone(name)
    this.#keep(name, made)
    return made
  }

  #keep(name: string, zone: Zone): void {
    this.#byName.delete(name)
    this.#byName.set(name, zone)
    if (this.#byName.size <= namesKept) return
    for (const longestUnasked of this.#byName.keys()) {
      this.#byName.delete(longestUnasked)
      return
    }
  }

  /** True when {@link ZoneNames.of} takes the name. */
  isKnown(name: string): boolean {
    try {
      this.of(name)
      return true
    } catch {
      return false
    }
  }

  /** The zone that Intl goes by when it is told none, UTC when that has no name. */
  ofMachine(): Zone {
    const name = new Intl.DateTimeFormat().resolvedOptions().timeZone
    return this.of(this.isKnown(name) ? name : 'UTC')
  }
}

/** A city alone is most likely that of its zone. */
function nearestZone(name: string): string | null {
  const names = Intl.supportedValuesOf('timeZone')
  const city = `/${name.replaceAll(' ', '_').toLowerCase()}`
  return names.find((known) => known.toLowerCase().endsWith(city)) ?? nearestName(name, names)
}

function unknownZone(name: unknown): InvalidArgumentError {
  const nearest = typeof name === 'string' && name.length <= nameMaxLength ? nearestZone(name) : null
  const remedy =
    nearest === null ? `Use an IANA name such as 'Europe/Paris' or 'UTC'.` : `Did you mean '${nearest}'?`
  return new InvalidArgumentError(
    'timeZone',
    `Unknown time zone ${describeValue(name)}. ${remedy}`,
    'ERR_UNKNOWN_TIME_ZONE',
  )
}
