import { createHash } from 'node:crypto'
import type { JobStoreNotes } from '../../jobs/job-store-notes.ts'
import { dayMs } from '../../time/civil.ts'
import type { Clock } from '../../time/clock.ts'
import {
  type CountingRoute,
  choose,
  decodeMemory,
  encodeMemory,
  noMemory,
  type RandomBelow,
  type RouteMemory,
} from './route-memory.ts'

export interface SharedRouteOptions {
  readonly route: CountingRoute
  readonly appName: string
  readonly jobId: number
  readonly clock: Clock
  readonly random: RandomBelow
}

/** Choices that this node has made ahead, for these addresses. */
interface Ahead {
  readonly addresses: readonly string[]
  readonly indexes: number[]
}

/** How many choices a node makes ahead at most. */
const aheadMax = 1024
/** A node makes more choices ahead when those of the last time were used up sooner than this, and else fewer. */
const aheadMs = 1000
/** How often a change is tried that other nodes were faster with. */
const attemptsMax = 50

/**
 * A route of one job, for all nodes of a cluster: what it remembers is one of the notes that they share. A node takes
 * its turn by changing the note in the version that it knows; of several nodes one succeeds, and the others read it
 * again. A node that sends many runs a second makes several choices at once, so that this costs about one statement a
 * second.
 */
export class SharedRoute {
  readonly #notes: JobStoreNotes
  readonly #options: SharedRouteOptions
  readonly #kind: string
  readonly #name: string
  #known: { readonly version: number | null; readonly text: string } | null = null
  #ahead: Ahead = { addresses: [], indexes: [] }
  #size = 1
  #tookMs = Number.NEGATIVE_INFINITY
  #waiting = 0
  #taking: Promise<unknown> | null = null

  constructor(notes: JobStoreNotes, options: SharedRouteOptions) {
    this.#notes = notes
    this.#options = options
    const { appName, jobId, route } = options
    const digest = createHash('sha256')
      .update(JSON.stringify([appName, jobId, route]))
      .digest('hex')
    // One note a kind: lists of a kind are bounded.
    this.#kind = `xxlJobRoute:${digest.slice(0, 24)}`
    this.#name = String(jobId)
  }

  /** The place of the address that is next. @throws the error of the store */
  async next(addresses: readonly string[]): Promise<number> {
    for (;;) {
      const index = this.#takeAhead(addresses)
      if (index !== null) return index
      if (this.#taking === null) return this.#lead(addresses)
      this.#waiting++
      try {
        await this.#taking
      } finally {
        this.#waiting--
      }
    }
  }

  /** Takes choices for itself and for those who wait. */
  async #lead(addresses: readonly string[]): Promise<number> {
    const taking = this.#take(addresses)
    this.#taking = taking
    try {
      const [own = 0, ...others] = await taking
      this.#ahead = { addresses, indexes: others }
      return own
    } finally {
      this.#taking = null
    }
  }

  #takeAhead(addresses: readonly string[]): number | null {
    const { addresses: known, indexes } = this.#ahead
    const isSame = known.length === addresses.length && known.every((each, at) => each === addresses[at])
    return isSame ? (indexes.shift() ?? null) : null
  }

  async #take(addresses: readonly string[]): Promise<readonly number[]> {
    const { clock, random, route } = this.#options
    this.#resize(clock.elapsedMs())
    const day = Math.floor(clock.now() / dayMs)
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      this.#known ??= await this.#read()
      const { version, text } = this.#known
      const { memory, since } = memoryOf(text, day)
      const size = Math.min(Math.max(this.#size, this.#waiting + 1), aheadMax)
      const indexes = Array.from({ length: size }, () => choose(route, memory, addresses, random))
      const next = encodeMemory(memory, since)
      if (await this.#notes.put(this.#kind, this.#name, next, version)) {
        this.#known = { version: (version ?? 0) + 1, text: next }
        return indexes
      }
      this.#known = null
    }
    throw new Error(`other nodes were faster ${attemptsMax} times`)
  }

  #resize(nowMs: number): void {
    const isBusy = nowMs - this.#tookMs < aheadMs
    this.#size = isBusy ? Math.min(this.#size * 2, aheadMax) : Math.max(Math.floor(this.#size / 2), 1)
    this.#tookMs = nowMs
  }

  async #read(): Promise<{ readonly version: number | null; readonly text: string }> {
    const notes = await this.#notes.list(this.#kind)
    return notes.find(({ name }) => name === this.#name) ?? { version: null, text: '' }
  }
}

/** It begins anew each day. The clocks of nodes may differ: the latest day counts. */
function memoryOf(text: string, day: number): { readonly memory: RouteMemory; readonly since: number } {
  const found = decodeMemory(text)
  return found === null || found.day < day
    ? { memory: noMemory(), since: day }
    : { memory: found.memory, since: found.day }
}
