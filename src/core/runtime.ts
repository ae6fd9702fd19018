import { SchedulerError } from './errors.ts'

/**
 * What `process.versions` says: Bun and Deno have their own names there, beside the version of Node.js that they
 * imitate.
 */
export type RuntimeVersions = Readonly<Record<string, string | undefined>>

export type Runtime = 'Node.js' | 'Bun' | 'Deno'

export function runtimeOf(versions: RuntimeVersions = process.versions): Runtime {
  if (versions['bun'] !== undefined) return 'Bun'
  return versions['deno'] === undefined ? 'Node.js' : 'Deno'
}

/** The oldest Node.js that has everything the library uses; `engines` of package.json says the same. */
const oldestNode = [20, 19] as const

/**
 * Refuses a Node.js that is too old, before something that it lacks fails.
 *
 * @throws SchedulerError ERR_NODE_TOO_OLD
 */
export function requireSupportedNode(versions: RuntimeVersions = process.versions): void {
  const found = versions['node'] ?? ''
  const [major = 0, minor = 0] = found.split('.').map(Number)
  const [oldestMajor, oldestMinor] = oldestNode
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw new SchedulerError(
    'ERR_NODE_TOO_OLD',
    `Node.js ${oldestNode.join('.')} or later is needed, and this is ${found}. Update Node.js.`,
  )
}
