import { createHash } from 'node:crypto'

/** How often each address is on the ring. */
const virtualNodes = 100

/** The first four bytes of the MD5 of a text, the lowest first. */
function hashOf(text: string): number {
  return createHash('md5').update(text).digest().readUInt32LE(0)
}

/**
 * Where XXL-JOB puts a job, so that a job that moves from there stays where it was: the first address on the ring at
 * or after the hash of the job's id. The addresses must not be none.
 */
export function consistentIndex(jobId: number, addresses: readonly string[]): number {
  const own = hashOf(String(jobId))
  let first = { hash: Number.POSITIVE_INFINITY, index: 0 }
  let next = first
  for (const [index, address] of addresses.entries()) {
    for (let node = 0; node < virtualNodes; node++) {
      const hash = hashOf(`SHARD-${address}-NODE-${node}`)
      // Of equal hashes the later address counts, as it replaces the earlier one on the ring.
      if (hash <= first.hash) first = { hash, index }
      if (hash >= own && hash <= next.hash) next = { hash, index }
    }
  }
  return next.hash === Number.POSITIVE_INFINITY ? first.index : next.index
}
