import { createHash } from 'node:crypto'

/** How often each address is on the ring. */
const virtualNodes = 100
/** More than there are addresses. A place on the ring and its address are one number: the hash times this, and both. */
const addressesMax = 2 ** 20

/** The first four bytes of the MD5 of a text, the lowest first. */
function hashOf(text: string): number {
  return createHash('md5').update(text).digest().readUInt32LE(0)
}

function hashesOf(address: string): Uint32Array {
  return Uint32Array.from({ length: virtualNodes }, (_, node) => hashOf(`SHARD-${address}-NODE-${node}`))
}

/**
 * Where XXL-JOB puts a job, so that a job that moves from there stays where it was: the first address on the ring at
 * or after the hash of the job's id. Hashing thousands of addresses takes seconds, so a ring is kept as long as the
 * addresses are the same, and the next one takes the hashes of those that stay from it.
 */
export class HashRing {
  readonly #addresses: readonly string[]
  readonly #hashes: ReadonlyMap<string, Uint32Array>
  /** Sorted. */
  readonly #places: Float64Array

  /** The addresses must not be none. */
  constructor(addresses: readonly string[], before?: HashRing) {
    this.#addresses = [...addresses]
    const known = before === undefined ? new Map<string, Uint32Array>() : before.#hashes
    this.#hashes = new Map(addresses.map((address) => [address, known.get(address) ?? hashesOf(address)]))
    this.#places = new Float64Array(addresses.length * virtualNodes)
    for (const [index, address] of addresses.entries()) {
      const places = this.#hashes.get(address)?.entries() ?? []
      for (const [node, hash] of places)
        this.#places[index * virtualNodes + node] = hash * addressesMax + index
    }
    this.#places.sort()
  }

  isOf(addresses: readonly string[]): boolean {
    return (
      addresses.length === this.#addresses.length &&
      addresses.every((address, index) => address === this.#addresses[index])
    )
  }

  indexOf(jobId: number): number {
    const at = this.#firstFrom(hashOf(String(jobId)) * addressesMax)
    const found = this.#places[at] ?? this.#places[0] ?? 0
    // Of equal hashes the later address counts, as it replaces the earlier one on the ring.
    const next = this.#firstFrom((Math.floor(found / addressesMax) + 1) * addressesMax)
    return (this.#places[next - 1] ?? 0) % addressesMax
  }

  /** The first place that is not before this one; behind the last one where none is. */
  #firstFrom(place: number): number {
    let [low, high] = [0, this.#places.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#places[middle] ?? 0) < place) low = middle + 1
      else high = middle
    }
    return low
  }
}
