import { describe, expect, test } from 'vitest'
import type { JobStoreNotes } from '../../src/jobs/job-store-notes.ts'
import { MemoryNotes } from '../../src/jobstore/memory-notes.ts'
import { ManualClock } from '../../src/testing.ts'
import { HashRing } from '../../src/xxl-job/admin/consistent-hash.ts'
import { type QuietRoute, RouteCounters } from '../../src/xxl-job/admin/route-counters.ts'
import { decodeMemory } from '../../src/xxl-job/admin/route-memory.ts'

const addresses = ['http://10.0.0.1:9999/', 'http://10.0.0.2:9999/', 'http://10.0.0.3:9999/']

interface NodeOptions {
  readonly notes?: JobStoreNotes
  readonly clock?: ManualClock
  readonly random?: (bound: number) => number
}

function node({ notes, clock = new ManualClock(), random = () => 0 }: NodeOptions = {}) {
  const warnings: string[] = []
  const warn = (_: object, message: string): void => {
    warnings.push(message)
  }
  const logger = { debug: () => {}, info: () => {}, warn, error: warn }
  const counters = new RouteCounters({ clock, random, logger })
  if (notes !== undefined) counters.connect(notes)
  return { counters, clock, warnings }
}

/** The places that a route answers, with random numbers as given. */
async function places(
  route: QuietRoute,
  calls: number,
  randoms: readonly number[] = [],
): Promise<readonly number[]> {
  const left = [...randoms]
  const { counters } = node({ random: () => left.shift() ?? 0 })
  return Promise.all(Array.from({ length: calls }, () => counters.next(route, 'billing', 17, addresses)))
}

describe('routes', () => {
  test.each([
    { route: 'FIRST', randoms: [], golden: [0, 0, 0, 0, 0] },
    { route: 'LAST', randoms: [], golden: [2, 2, 2, 2, 2] },
    { route: 'RANDOM', randoms: [1, 2, 0, 0, 1], golden: [1, 2, 0, 0, 1] },
    { route: 'ROUND', randoms: [98], golden: [2, 0, 1, 2, 0] },
    { route: 'LEAST_RECENTLY_USED', randoms: [], golden: [0, 1, 2, 0, 1] },
    { route: 'LEAST_FREQUENTLY_USED', randoms: [2, 0, 1], golden: [1, 1, 2, 0, 1] },
  ] as const)('$route', async ({ route, randoms, golden }) => {
    expect(await places(route, 5, randoms)).toEqual(golden)
  })

  test('LEAST_RECENTLY_USED and LEAST_FREQUENTLY_USED go on when addresses come and go', async () => {
    const [one = '', two = '', three = ''] = addresses
    const { counters } = node()
    const next = async (route: QuietRoute, among: readonly string[]): Promise<string | undefined> =>
      among[await counters.next(route, 'billing', 17, among)]
    expect(await next('LEAST_RECENTLY_USED', [one, two])).toBe(one)
    expect(await next('LEAST_RECENTLY_USED', [one, three])).toBe(one)
    expect(await next('LEAST_RECENTLY_USED', [one, three])).toBe(three)
    expect(await next('LEAST_FREQUENTLY_USED', [one, two])).toBe(one)
    expect(await next('LEAST_FREQUENTLY_USED', [one, two])).toBe(two)
    expect(await next('LEAST_FREQUENTLY_USED', [one, two, three])).toBe(three)
  })

  test('each job has counters of its own, which begin anew after a day', async () => {
    const { clock, counters } = node()
    const next = (jobId: number): Promise<number> => counters.next('ROUND', 'billing', jobId, addresses)
    expect(await Promise.all([next(1), next(1), next(2), next(1)])).toEqual([0, 1, 0, 2])
    await clock.advance(24 * 60 * 60 * 1000)
    expect(await next(1)).toBe(0)
  })

  // Computed by another program from the description of the ring.
  test.each([
    { jobId: 1, index: 0, count: 1 },
    { jobId: 2, index: 0, count: 1 },
    { jobId: 17, index: 0, count: 1 },
    { jobId: 1000, index: 0, count: 1 },
    { jobId: 2_147_483_647, index: 0, count: 1 },
    { jobId: 1, index: 0, count: 2 },
    { jobId: 2, index: 0, count: 2 },
    { jobId: 17, index: 1, count: 2 },
    { jobId: 1000, index: 1, count: 2 },
    { jobId: 2_147_483_647, index: 1, count: 2 },
    { jobId: 1, index: 2, count: 3 },
    { jobId: 2, index: 2, count: 3 },
    { jobId: 17, index: 1, count: 3 },
    { jobId: 1000, index: 2, count: 3 },
    { jobId: 2_147_483_647, index: 1, count: 3 },
    { jobId: 1, index: 2, count: 5 },
    { jobId: 2, index: 3, count: 5 },
    { jobId: 17, index: 1, count: 5 },
    { jobId: 1000, index: 3, count: 5 },
    { jobId: 2_147_483_647, index: 1, count: 5 },
    { jobId: 1, index: 2, count: 10 },
    { jobId: 2, index: 9, count: 10 },
    { jobId: 17, index: 7, count: 10 },
    { jobId: 1000, index: 6, count: 10 },
    { jobId: 2_147_483_647, index: 9, count: 10 },
  ])('CONSISTENT_HASH puts job $jobId at $index of $count', ({ jobId, index, count }) => {
    const all = Array.from({ length: count }, (_, at) => `http://10.0.0.${at + 1}:9999/`)
    expect(new HashRing(all).indexOf(jobId)).toBe(index)
  })

  test('CONSISTENT_HASH moves few jobs when an address leaves', () => {
    const all = Array.from({ length: 10 }, (_, at) => `http://10.0.0.${at + 1}:9999/`)
    const fewer = all.slice(0, 9)
    const jobs = Array.from({ length: 1000 }, (_, at) => at + 1)
    const ring = new HashRing(all)
    const left = new HashRing(fewer, ring)
    const moved = jobs.filter((jobId) => all[ring.indexOf(jobId)] !== fewer[left.indexOf(jobId)])
    expect(moved.every((jobId) => ring.indexOf(jobId) === 9)).toBe(true)
    expect(moved.length).toBeGreaterThan(50)
    expect(moved.length).toBeLessThan(200)
  })

  test('CONSISTENT_HASH goes by the addresses of each run, and answers 100,000 runs over 1,000 of them', async () => {
    const { counters } = node()
    const all = Array.from({ length: 1000 }, (_, at) => `http://10.0.${at >> 8}.${at % 256}:9999/`)
    const next = (jobId: number, among: readonly string[]): Promise<number> =>
      counters.next('CONSISTENT_HASH', 'billing', jobId, among)
    const chosen = new Set<number>()
    for (let jobId = 0; jobId < 100_000; jobId++) chosen.add(await next(jobId, all))
    expect(chosen.size).toBe(1000)
    const two = ['http://10.0.0.1:9999/', 'http://10.0.0.2:9999/']
    expect(await next(17, two)).toBe(new HashRing(two).indexOf(17))
    expect(await next(17, all.toReversed())).toBe(999 - (await next(17, all)))
    expect(await next(17, ['http://10.0.0.1:9999/'])).toBe(0)
  })
})

const addressAt = (index: number): string => addresses[index] ?? ''

/** How often each was chosen. */
function countsOf(chosen: readonly string[]): readonly number[] {
  return addresses.map((address) => chosen.filter((each) => each === address).length)
}

/** Notes that several nodes share, and how many statements they cost. */
class CountedNotes implements JobStoreNotes {
  readonly #notes = new MemoryNotes()
  isAway = false
  statements = 0

  async list(kind: string) {
    return this.#ask().list(kind)
  }
  async get(kind: string, name: string) {
    return this.#ask().get(kind, name)
  }
  async put(kind: string, name: string, text: string, version: number | null) {
    return this.#ask().put(kind, name, text, version)
  }
  async delete(kind: string, name: string, version: number) {
    return this.#ask().delete(kind, name, version)
  }

  #ask(): MemoryNotes {
    this.statements++
    if (this.isAway) throw new Error('away')
    return this.#notes
  }
}

describe('routes of nodes that share notes', () => {
  const counting = ['ROUND', 'LEAST_FREQUENTLY_USED', 'LEAST_RECENTLY_USED'] as const

  test.each(counting)('%s is one sequence, whichever node sends', async (route) => {
    const clock = new ManualClock()
    const notes = new CountedNotes()
    const nodes = [1, 2].map(() => node({ notes, clock }))
    const chosen: string[] = []
    for (let run = 0; run < 30; run++) {
      // No pattern that a sequence for each node would fit.
      const { counters } = nodes[(run * run) % 5 < 2 ? 0 : 1] ?? node()
      chosen.push(addressAt(await counters.next(route, 'billing', 17, addresses)))
      await clock.advance(1000)
    }
    const turns = Array.from({ length: 30 }, (_, run) => addressAt(run % 3))
    expect(chosen).toEqual(turns)
  })

  test.each(counting)('%s is fair when many runs are sent at once, for few statements', async (route) => {
    const notes = new CountedNotes()
    const nodes = [1, 2, 3].map(() => node({ notes }))
    const chosen = await Promise.all(
      Array.from({ length: 300 }, async (_, run) => {
        const { counters } = nodes[run % 3] ?? node()
        return addressAt(await counters.next(route, 'billing', 17, addresses))
      }),
    )
    expect(countsOf(chosen)).toEqual([100, 100, 100])
    expect(notes.statements).toBeLessThan(30)
  })

  test('a node that sends many runs one after the other takes a turn about once a second', async () => {
    const clock = new ManualClock()
    const notes = new CountedNotes()
    const { counters } = node({ notes, clock })
    for (let run = 0; run < 3000; run++) {
      await counters.next('ROUND', 'billing', 17, addresses)
      if (run % 3 === 2) await clock.advance(10)
    }
    // Ten seconds, and what it takes to find out how many they are in one.
    expect(notes.statements).toBeLessThan(30)
  })

  test('a choice made ahead of an executor that came or went does not count', async () => {
    const notes = new CountedNotes()
    const { counters } = node({ notes })
    const next = (among: readonly string[]) => counters.next('LEAST_RECENTLY_USED', 'billing', 17, among)
    await Promise.all(Array.from({ length: 10 }, () => next(addresses)))
    const fewer = addresses.slice(1)
    const chosen = [await next(fewer), await next(fewer), await next(fewer), await next(fewer)]
    expect(chosen.map((index) => fewer[index]).every((address) => address !== undefined)).toBe(true)
    expect(chosen.filter((index) => index === 0)).toHaveLength(2)
  })

  test('begin anew each day, by the clock that is ahead', async () => {
    const day = 24 * 60 * 60 * 1000
    const notes = new CountedNotes()
    const behind = node({ notes, clock: new ManualClock(20 * day - 60_000), random: () => 7 })
    const ahead = node({ notes, clock: new ManualClock(20 * day + 60_000), random: () => 7 })
    const next = async ({ counters, clock }: typeof ahead) => {
      // So that none is chosen ahead.
      await clock.advance(1000)
      return counters.next('ROUND', 'billing', 17, addresses)
    }
    // 7, 8; 7 again on the new day, from where both go on.
    expect([await next(behind), await next(behind), await next(ahead), await next(behind)]).toEqual([
      1, 2, 1, 2,
    ])
    expect(await next(ahead)).toBe(0)
  })

  test('go on alone while the store is away, which is said once, and where a note holds junk', async () => {
    const notes = new CountedNotes()
    const { counters, warnings } = node({ notes })
    const next = () => counters.next('ROUND', 'billing', 17, addresses)
    notes.isAway = true
    expect([await next(), await next()]).toEqual([0, 1])
    expect(warnings).toHaveLength(1)
    notes.isAway = false
    expect(await next()).toBe(0)
    for (const text of ['', '[]', '{"day":0}', '{"day":1e9,"round":-1,"uses":[],"recent":[]}']) {
      expect(decodeMemory(text)).toBeNull()
    }
  })

  test('LEAST_FREQUENTLY_USED and LEAST_RECENTLY_USED of very many executors are counted by each node', async () => {
    const notes = new CountedNotes()
    const { counters } = node({ notes })
    const many = Array.from({ length: 201 }, (_, index) => `http://10.0.1.${index}:9999/`)
    expect(await counters.next('LEAST_RECENTLY_USED', 'billing', 17, many)).toBe(0)
    expect(await counters.next('LEAST_RECENTLY_USED', 'billing', 17, many)).toBe(1)
    expect(notes.statements).toBe(0)
    await counters.next('ROUND', 'billing', 17, many)
    expect(notes.statements).toBeGreaterThan(0)
  })
})
