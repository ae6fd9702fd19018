/** Zones whose rules the tz database changed after 2025c, with which the results were recorded. */
const changedZones = [
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'America/Edmonton',
  'America/Vancouver',
  'Europe/Chisinau',
]

const changed = new RegExp(`"(${changedZones.join('|')})"`)
const isNewer = (process.versions['tz'] ?? '') > '2025c'

/** Whether this Node.js knows newer rules for a zone of the row than those that the row was recorded with. */
export function hasNewerZoneRules(row: string): boolean {
  return isNewer && changed.test(row)
}
