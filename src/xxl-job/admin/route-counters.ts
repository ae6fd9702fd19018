import type { Logger } from '../../core/logger.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { JobStoreNotes } from '../../jobs/job-store-notes.ts'
import { dayMs } from '../../time/civil.ts'
import type { Clock } from '../../time/clock.ts'
import { HashRing } from './consistent-hash.ts'
import { type CountingRoute, choose, noMemory, type RandomBelow, type RouteMemory } from './route-memory.ts'
import type { XxlJobRoute } from './run-options.ts'
import { SharedRoute } from './shared-route.ts'

/** The routes that choose without asking executors. */
export type QuietRoute = Exclude<XxlJobRoute, 'FAILOVER' | 'BUSYOVER' | 'SHARDING_BROADCAST'>

/** So many jobs are remembered; with more, all begin anew. */
const jobsMax = 10_000
/** So many AppNames have their ring kept; with more, all are made anew. */
const ringsMax = 100
/** With more executors of an AppName, what these routes remember is too long for a note that each run may change. */
const sharedAddressesMax = 200

export interface RouteCountersOptions {
  readonly clock: Clock
  readonly random: RandomBelow
  readonly logger: Logger
}

interface Remembered {
  readonly memory: RouteMemory
  /** Null as long as no nodes share it. */
  shared: { readonly notes: JobStoreNotes; readonly route: SharedRoute } | null
}

/**
 * What the routes remember of each job. Nodes that share notes share it; else it is in the memory of this process. It
 * begins anew each day.
 */
export class RouteCounters {
  readonly #options: RouteCountersOptions
  /** By route, job id and AppName. */
  readonly #jobs = new Map<string, Remembered>()
  /** By AppName. */
  readonly #rings = new Map<string, HashRing>()
  /** Of the schedulers that are connected, the first one first. */
  readonly #boards = new Set<JobStoreNotes>()
  #day: number
  #isFailing = false

  constructor(options: RouteCountersOptions) {
    this.#options = options
    this.#day = this.#today()
  }

  /** From now on the nodes that share these notes count together. */
  connect(notes: JobStoreNotes): void {
    this.#boards.add(notes)
  }

  disconnect(notes: JobStoreNotes): void {
    this.#boards.delete(notes)
  }

  /** The place of the address that is next; the addresses must not be none. Never rejects. */
  async next(
    route: QuietRoute,
    appName: string,
    jobId: number,
    addresses: readonly string[],
  ): Promise<number> {
    switch (route) {
      case 'FIRST':
        return 0
      case 'LAST':
        return addresses.length - 1
      case 'RANDOM':
        return this.#options.random(addresses.length)
      case 'CONSISTENT_HASH':
        return this.#ringOf(appName, addresses).indexOf(jobId)
      default:
        return this.#counted(route, appName, jobId, addresses)
    }
  }

  async #counted(
    route: CountingRoute,
    appName: string,
    jobId: number,
    addresses: readonly string[],
  ): Promise<number> {
    const { logger, random } = this.#options
    const job = this.#of(`${route} ${jobId} ${appName}`)
    const [notes] = this.#boards
    const isShared = notes !== undefined && (route === 'ROUND' || addresses.length <= sharedAddressesMax)
    if (!isShared) return choose(route, job.memory, addresses, random)
    if (job.shared?.notes !== notes) {
      job.shared = { notes, route: new SharedRoute(notes, { ...this.#options, route, appName, jobId }) }
    }
    try {
      const index = await job.shared.route.next(addresses)
      this.#isFailing = false
      return index
    } catch (error) {
      if (!this.#isFailing) {
        const message =
          'the turns of a route of XXL-JOB are not shared with other nodes; this one goes on alone'
        logThrown(logger, error, message, { appName, jobId }, 'warn')
      }
      this.#isFailing = true
      return choose(route, job.memory, addresses, random)
    }
  }

  #ringOf(appName: string, addresses: readonly string[]): HashRing {
    const known = this.#rings.get(appName)
    if (known?.isOf(addresses) === true) return known
    if (this.#rings.size >= ringsMax) this.#rings.clear()
    const ring = new HashRing(addresses, known)
    this.#rings.set(appName, ring)
    return ring
  }

  #of(name: string): Remembered {
    const today = this.#today()
    if (today > this.#day || (this.#jobs.size >= jobsMax && !this.#jobs.has(name))) this.#jobs.clear()
    this.#day = Math.max(today, this.#day)
    const found = this.#jobs.get(name)
    if (found !== undefined) return found
    const made: Remembered = { memory: noMemory(), shared: null }
    this.#jobs.set(name, made)
    return made
  }

  #today(): number {
    return Math.floor(this.#options.clock.now() / dayMs)
  }
}
