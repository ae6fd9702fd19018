import { type JobDataMap, reservedDataPrefix } from '../core/job-data-map.ts'
import { isObject } from '../core/options.ts'
import type { NodeAffinity } from '../jobs/job-detail.ts'
import type { Shard } from '../jobs/sharding.ts'
import type { EpochMs } from '../time/clock.ts'

/** Under it a trigger says which part of a firing it runs: JSON as text, because some stores keep only strings. */
const partKey = `${reservedDataPrefix}SHARD`

/** What a trigger that runs a part of a firing says of it. Retries and recoveries of the trigger say the same. */
export interface FiringPart extends Shard {
  /** The planned instant of the firing. */
  readonly scheduledFireTimeMs: EpochMs
  /** The nodes that are to run it; null for any, after its owner has died. */
  readonly nodes: NodeAffinity | null
}

export function notesOfPart(part: FiringPart): JobDataMap {
  return { [partKey]: JSON.stringify(part) }
}

/** The part that a trigger with these data runs; null for any other trigger. */
export function firingPartOf(data: JobDataMap): FiringPart | null {
  const text = data[partKey]
  if (typeof text !== 'string') return null
  try {
    const part: unknown = JSON.parse(text)
    return isPart(part) ? part : null
  } catch {
    return null
  }
}

/** The data of a part whose owner has died: every node may run it. */
export function withoutOwner(data: JobDataMap): JobDataMap {
  const part = firingPartOf(data)
  return part === null ? data : { ...data, ...notesOfPart({ ...part, nodes: null }) }
}

function isPart(value: unknown): value is FiringPart {
  if (!isObject(value)) return false
  const part: Partial<Record<keyof FiringPart, unknown>> = value
  return (
    typeof part.item === 'number' &&
    typeof part.total === 'number' &&
    (part.parameter === null || typeof part.parameter === 'string') &&
    typeof part.firingId === 'string' &&
    typeof part.scheduledFireTimeMs === 'number' &&
    (part.nodes === null || isNodes(part.nodes))
  )
}

function isNodes(value: unknown): boolean {
  if (!isObject(value)) return false
  const { names, required }: { readonly names?: unknown; readonly required?: unknown } = value
  return (
    typeof required === 'boolean' && Array.isArray(names) && names.every((name) => typeof name === 'string')
  )
}
