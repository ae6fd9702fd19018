import { InvalidArgumentError } from '../core/errors.ts'
import { describeValue, nearestName } from '../core/options.ts'
import { zoneSpelling } from './zone-spelling.ts'

/** Longer than every IANA name. */
const nameMaxLength = 64

/** Zones by their names, each made once, under the spelling that the zone data have. */
export class ZoneNames<Zone> {
  /** By their spelling and by the same in small letters: clients may send any, and must not fill the memory. */
  readonly #byName = new Map<string, Zone>()
  readonly #make: (name: string) => Zone

  constructor(make: (name: string) => Zone) {
    this.#make = make
  }

  /** Throws {@link InvalidArgumentError} (`ERR_UNKNOWN_TIME_ZONE`) for a name that is no zone's. */
  of(name: string): Zone {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    // A bare offset is a zone to some versions of Node and not to others: refuse it everywhere.
    const possible =
      typeof name === 'string' && /^[A-Za-z][\w/+-]*$/.test(name) && name.length <= nameMaxLength
    if (!possible) throw unknownZone(name)
    const folded = name.toLowerCase()
    return this.#byName.get(folded) ?? this.#add(folded, name)
  }

  #add(folded: string, name: string): Zone {
    const spelling = zoneSpelling(name)
    if (spelling === null) throw unknownZone(name)
    const zone = this.#make(spelling)
    this.#byName.set(folded, zone)
    this.#byName.set(spelling, zone)
    return zone
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
