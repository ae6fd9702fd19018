/** A term of the filter of executions, as in `job:reports/daily`. */
export function filterTerm(
  name: 'job' | 'trigger',
  { group, name: own }: { group: string; name: string },
): string {
  return `${name}:${quoted(`${group}/${own}`)}`
}

/** The items of a sharded firing. */
export function itemsTerm(firingId: string): string {
  return `firing:${quoted(firingId)}`
}

function quoted(value: string): string {
  return /[\s"\\]/.test(value) ? `"${value.replace(/[\\"]/g, '\\$&')}"` : value
}
