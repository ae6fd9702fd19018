import { unreachable } from '../core/errors.ts'
import type { ShardStrategy } from '../jobs/sharding.ts'
import type { EpochMs } from '../time/clock.ts'

export interface ShardSpread {
  readonly items: number
  /** Instance ids, at least one, in any order. */
  readonly nodes: readonly string[]
  /** The name of the job, without its group. */
  readonly jobName: string
  /** When the trigger fires. */
  readonly nowMs: EpochMs
}

/** The owner of each item. The same spread has the same owners on every node. */
export function ownersOf(strategy: ShardStrategy, spread: ShardSpread): readonly string[] {
  const { items, jobName, nowMs } = spread
  const nodes = [...new Set(spread.nodes)].sort(byCodeUnit)
  switch (strategy) {
    case 'sticky':
      return sticky(items, nodes, jobName)
    case 'avgAllocation':
      return average(items, nodes)
    case 'odevity':
      return average(items, javaHash(jobName) % 2 === 0 ? nodes.toReversed() : nodes)
    case 'roundRobin':
      return average(items, rotated(nodes, javaHash(jobName)))
    case 'singleShardingBalance':
      // Java adds 32-bit numbers: what does not fit is cut off.
      return average(items, rotated(nodes, (javaHash(jobName) + (nowMs | 0)) | 0))
    default:
      return unreachable(strategy)
  }
}

/** The order of `sort` without a function, and of texts compared as Java does. */
function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** Whole shares in order; the items that are left go one each to the first nodes. */
function average(items: number, nodes: readonly string[]): readonly string[] {
  const share = Math.floor(items / nodes.length)
  return Array.from({ length: items }, (_, item) => {
    const isInShare = item < share * nodes.length
    return at(nodes, isInShare ? Math.floor(item / share) : item - share * nodes.length)
  })
}

/** Java's `Math.abs` leaves the smallest number negative, which is no place in a list; here it counts as positive. */
function rotated(nodes: readonly string[], by: number): readonly string[] {
  const from = Math.abs(by) % nodes.length
  return [...nodes.slice(from), ...nodes.slice(0, from)]
}

/**
 * Each item goes to the node with the highest hash of job, item and node that has room: so a node that leaves or joins
 * moves few items besides its own. No node has more than its share, rounded up.
 */
function sticky(items: number, nodes: readonly string[], jobName: string): readonly string[] {
  const share = Math.ceil(items / nodes.length)
  const counts = new Map(nodes.map((node) => [node, 0]))
  const begun = new Map(nodes.map((node) => [node, hashed(`${node}\n${jobName}\n`)]))
  return Array.from({ length: items }, (_, item) => {
    let owner = ''
    let highest = -1
    for (const [node, count] of counts) {
      const hash = count < share ? mixed(hashed(String(item), begun.get(node))) : -1
      if (hash > highest) {
        highest = hash
        owner = node
      }
    }
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
    return owner
  })
}

function at(nodes: readonly string[], index: number): string {
  return nodes[index] ?? ''
}

/** `String.hashCode` of Java: signed, 32 bits. */
export function javaHash(text: string): number {
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = (Math.imul(31, hash) + text.charCodeAt(index)) | 0
  return hash
}

/** FNV-1a, going on from the hash of what comes before. */
function hashed(text: string, before: number = 0x811c9dc5): number {
  let hash = before
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash
}

/** A last step that spreads the bits; 0 to 2^32 - 1. */
function mixed(before: number): number {
  let hash = Math.imul(before ^ (before >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
