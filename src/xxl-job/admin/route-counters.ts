import type { Clock } from '../../time/clock.ts'
import { consistentIndex } from './consistent-hash.ts'
import type { XxlJobRoute } from './run-options.ts'

/** The routes that choose without asking executors. */
export type QuietRoute = Exclude<XxlJobRoute, 'FAILOVER' | 'BUSYOVER' | 'SHARDING_BROADCAST'>

/** Counters begin anew each day, and past a number that no longer says anything. */
const forgetMs = 24 * 60 * 60 * 1000
const countMax = 1_000_000
/** So many jobs have counters; with more, all begin anew. */
const jobsMax = 10_000

interface JobCounters {
  round: number | null
  /** How often each address was chosen. */
  readonly uses: Map<string, number>
  /** Addresses, the one that was chosen longest ago first. */
  readonly recent: Set<string>
}

/** What the routes remember of each job. */
export class RouteCounters {
  readonly #clock: Clock
  /** A whole number from 0 to below the bound. */
  readonly #random: (bound: number) => number
  /** By AppName and job id. */
  readonly #jobs = new Map<string, Map<number, JobCounters>>()
  #size = 0
  #sinceMs: number

  constructor(clock: Clock, random: (bound: number) => number) {
    this.#clock = clock
    this.#random = random
    this.#sinceMs = clock.elapsedMs()
  }

  /** The place of the address that is next; the addresses must not be none. */
  next(route: QuietRoute, appName: string, jobId: number, addresses: readonly string[]): number {
    switch (route) {
      case 'FIRST':
        return 0
      case 'LAST':
        return addresses.length - 1
      case 'RANDOM':
        return this.#random(addresses.length)
      case 'CONSISTENT_HASH':
        return consistentIndex(jobId, addresses)
      case 'ROUND':
        return this.#round(this.#of(appName, jobId)) % addresses.length
      case 'LEAST_FREQUENTLY_USED':
        return this.#leastFrequent(this.#of(appName, jobId).uses, addresses)
      case 'LEAST_RECENTLY_USED':
        return leastRecent(this.#of(appName, jobId).recent, addresses)
    }
  }

  /** The first number is random, so that not all jobs begin with the same address. */
  #round(job: JobCounters): number {
    const isFresh = job.round === null || job.round >= countMax
    job.round = isFresh ? this.#random(100) : (job.round ?? 0) + 1
    return job.round
  }

  #leastFrequent(uses: Map<string, number>, addresses: readonly string[]): number {
    keepOnly(uses, addresses)
    for (const address of addresses) {
      if ((uses.get(address) ?? Number.POSITIVE_INFINITY) > countMax) {
        uses.set(address, this.#random(addresses.length))
      }
    }
    const counts = addresses.map((address) => uses.get(address) ?? 0)
    const least = Math.min(...counts)
    const index = counts.indexOf(least)
    uses.set(addresses[index] ?? '', least + 1)
    return index
  }

  #of(appName: string, jobId: number): JobCounters {
    const nowMs = this.#clock.elapsedMs()
    const isNew = this.#jobs.get(appName)?.has(jobId) !== true
    if ((isNew && this.#size >= jobsMax) || nowMs - this.#sinceMs >= forgetMs) {
      this.#jobs.clear()
      this.#size = 0
      this.#sinceMs = nowMs
    }
    const group = this.#jobs.get(appName) ?? new Map<number, JobCounters>()
    this.#jobs.set(appName, group)
    const found = group.get(jobId)
    if (found !== undefined) return found
    const made: JobCounters = { round: null, uses: new Map(), recent: new Set() }
    group.set(jobId, made)
    this.#size++
    return made
  }
}

function leastRecent(recent: Set<string>, addresses: readonly string[]): number {
  keepOnly(recent, addresses)
  for (const address of addresses) recent.add(address)
  const [eldest = ''] = recent
  recent.delete(eldest)
  recent.add(eldest)
  return addresses.indexOf(eldest)
}

function keepOnly(
  known: { keys(): Iterable<string>; delete(address: string): unknown },
  addresses: readonly string[],
): void {
  const wanted = new Set(addresses)
  for (const address of [...known.keys()]) if (!wanted.has(address)) known.delete(address)
}
