import { TimeZone } from './zone.ts'

/** How TZ may say UTC: `utc`, `Etc/GMT0`, `:UTC`, a file of that name. POSIX means UTC by an empty text as well. */
const meansUtc = /^:?(?:.*\/)?(?:utc|uct|gmt|zulu|universal|greenwich)?(?:[+-]?0+)?$/i

/**
 * Says that the zone of this process has no name by which it is known, so that what names no zone is in UTC. A Date may
 * show another time: `TZ=GMT+2` sets the clock back by two hours. Null when the zone has a name, or is UTC.
 */
export function unnamedZone(): string | null {
  if (TimeZone.system().name !== 'UTC') return null
  const variable = process.env['TZ']
  if (variable !== undefined) return meansUtc.test(variable) ? null : `TZ '${variable}' is no IANA name`
  // What Node.js cannot name it may also call undefined, whatever its type says.
  const name: unknown = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return typeof name === 'string' && TimeZone.isKnown(name) ? null : "The machine's zone has no IANA name"
}
