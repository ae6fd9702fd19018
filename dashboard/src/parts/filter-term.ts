/** A term of the filter of executions, as in `job:reports/daily`. */
export function filterTerm(
  name: 'job' | 'trigger',
  { group, name: own }: { group: string; name: string },
): string {
  const value = `${group}/${own}`
  return `${name}:${/[\s"\\]/.test(value) ? `"${value.replace(/[\\"]/g, '\\$&')}"` : value}`
}
