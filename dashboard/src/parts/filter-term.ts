import type { KeyJson } from '../../../src/server/wire/fields.ts'
import { typedKey } from '../../../src/server/wire/typed-key.ts'

/** A term of the filter of executions, as in `job:reports/daily`. */
export function filterTerm(name: 'job' | 'trigger', key: KeyJson): string {
  return `${name}:${quoted(typedKey(key))}`
}

/** The items of a sharded firing. */
export function itemsTerm(firingId: string): string {
  return `firing:${quoted(firingId)}`
}

/** What ran on a node. */
export function nodeTerm(instanceId: string): string {
  return `node:${quoted(instanceId)}`
}

function quoted(value: string): string {
  return /[\s"\\]/.test(value) ? `"${value.replace(/[\\"]/g, '\\$&')}"` : value
}
