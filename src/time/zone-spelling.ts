/** The names whose spelling no rule gives. */
const irregular: ReadonlyMap<string, string> = new Map(
  [
    'Africa/Dar_es_Salaam',
    'America/Argentina/ComodRivadavia',
    'America/Knox_IN',
    'America/Port-au-Prince',
    'America/Port_of_Spain',
    'Antarctica/DumontDUrville',
    'Antarctica/McMurdo',
    'Australia/ACT',
    'Australia/LHI',
    'Australia/NSW',
    'Brazil/DeNoronha',
    'Chile/EasterIsland',
    'Europe/Isle_of_Man',
    'GB-Eire',
    'Mexico/BajaNorte',
    'Mexico/BajaSur',
    'NZ-CHAT',
    'W-SU',
  ].map((name) => [name.toLowerCase(), name]),
)

const irregularAreas: Readonly<Record<string, string>> = { systemv: 'SystemV', us: 'US' }

/**
 * The name of a zone as the zone data spell it, whatever the case of its letters: Intl takes a name in any case, and
 * Java takes one that is not spelled so for GMT. A link stays one: `US/Eastern` is not `America/New_York`. Null for a
 * name that Intl does not know.
 */
export function zoneSpelling(name: string): string | null {
  const folded = name.toLowerCase()
  const resolved = resolvedName(name)
  // Intl answers with the zone that a link means, and has no list of links.
  if (resolved === null || resolved.toLowerCase() === folded) return resolved
  return irregular.get(folded) ?? spelledByRule(folded)
}

function resolvedName(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return null
  }
}

/** `America/North_Dakota/New_Salem`, `US/East-Indiana`, `Etc/Greenwich`; `Etc/GMT+5`, `EST5EDT`, `UTC`. */
function spelledByRule(folded: string): string {
  const [first = '', ...places] = folded.split('/')
  if (places.length === 0) return spelledAlone(first)
  const area = irregularAreas[first] ?? capitalized(first)
  const isAlone = first === 'etc' || first === 'systemv'
  return [area, ...places.map(isAlone ? spelledAlone : capitalized)].join('/')
}

/** Names outside of the areas of the world are abbreviations or words. */
function spelledAlone(folded: string): string {
  return folded.length <= 3 || /\d/.test(folded) ? folded.toUpperCase() : capitalized(folded)
}

function capitalized(folded: string): string {
  return folded.replaceAll(/(?:^|[_-])[a-z]/g, (letters) => letters.toUpperCase())
}
