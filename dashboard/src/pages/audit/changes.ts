/** One value that differs between two texts of JSON. */
export interface ChangedValue {
  /** As in `jobDataMap.to`. */
  readonly path: string
  /** As JSON; null where it was not there. */
  readonly before: string | null
  readonly after: string | null
}

/** So many are listed; the whole texts stand beside them. */
const shownMax = 40

/** What differs between two texts of JSON; nothing for texts that are missing, or were cut. */
export function changesBetween(before: string | null, after: string | null): readonly ChangedValue[] {
  const old = leavesOf(before)
  const now = leavesOf(after)
  if (old === null || now === null) return []
  const paths = [...new Set([...old.keys(), ...now.keys()])]
  return paths
    .filter((path) => old.get(path) !== now.get(path))
    .slice(0, shownMax)
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
}

function leavesOf(text: string | null): ReadonlyMap<string, string> | null {
  try {
    const leaves = new Map<string, string>()
    if (text === null) return null
    collect('', JSON.parse(text), leaves)
    return leaves
  } catch {
    return null
  }
}

function collect(path: string, value: unknown, leaves: Map<string, string>): void {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
    for (const [name, entry] of Object.entries(value)) {
      collect(path === '' ? name : `${path}.${name}`, entry, leaves)
    }
  } else leaves.set(path, JSON.stringify(value))
}

/** Text that was cut is no JSON any more, and is shown as it is. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
