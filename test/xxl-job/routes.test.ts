import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import { consistentIndex } from '../../src/xxl-job/admin/consistent-hash.ts'
import { type QuietRoute, RouteCounters } from '../../src/xxl-job/admin/route-counters.ts'

const addresses = ['http://10.0.0.1:9999/', 'http://10.0.0.2:9999/', 'http://10.0.0.3:9999/']

/** The places that a route answers, with random numbers as given. */
function places(route: QuietRoute, calls: number, randoms: readonly number[] = []): number[] {
  const left = [...randoms]
  const counters = new RouteCounters(new ManualClock(), () => left.shift() ?? 0)
  return Array.from({ length: calls }, () => counters.next(route, 'billing', 17, addresses))
}

describe('routes', () => {
  test.each([
    { route: 'FIRST', randoms: [], golden: [0, 0, 0, 0, 0] },
    { route: 'LAST', randoms: [], golden: [2, 2, 2, 2, 2] },
    { route: 'RANDOM', randoms: [1, 2, 0, 0, 1], golden: [1, 2, 0, 0, 1] },
    { route: 'ROUND', randoms: [98], golden: [2, 0, 1, 2, 0] },
    { route: 'LEAST_RECENTLY_USED', randoms: [], golden: [0, 1, 2, 0, 1] },
    { route: 'LEAST_FREQUENTLY_USED', randoms: [2, 0, 1], golden: [1, 1, 2, 0, 1] },
  ] as const)('$route', ({ route, randoms, golden }) => {
    expect(places(route, 5, randoms)).toEqual(golden)
  })

  test('LEAST_RECENTLY_USED and LEAST_FREQUENTLY_USED go on when addresses come and go', () => {
    const [one = '', two = '', three = ''] = addresses
    const counters = new RouteCounters(new ManualClock(), () => 0)
    const next = (route: QuietRoute, among: readonly string[]): string | undefined =>
      among[counters.next(route, 'billing', 17, among)]
    expect(next('LEAST_RECENTLY_USED', [one, two])).toBe(one)
    expect(next('LEAST_RECENTLY_USED', [one, three])).toBe(one)
    expect(next('LEAST_RECENTLY_USED', [one, three])).toBe(three)
    expect(next('LEAST_FREQUENTLY_USED', [one, two])).toBe(one)
    expect(next('LEAST_FREQUENTLY_USED', [one, two])).toBe(two)
    expect(next('LEAST_FREQUENTLY_USED', [one, two, three])).toBe(three)
  })

  test('each job has counters of its own, which begin anew after a day', async () => {
    const clock = new ManualClock()
    const counters = new RouteCounters(clock, () => 0)
    const next = (jobId: number): number => counters.next('ROUND', 'billing', jobId, addresses)
    expect([next(1), next(1), next(2), next(1)]).toEqual([0, 1, 0, 2])
    await clock.advance(24 * 60 * 60 * 1000)
    expect(next(1)).toBe(0)
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
    expect(consistentIndex(jobId, all)).toBe(index)
  })

  test('CONSISTENT_HASH moves few jobs when an address leaves', () => {
    const all = Array.from({ length: 10 }, (_, at) => `http://10.0.0.${at + 1}:9999/`)
    const fewer = all.slice(0, 9)
    const jobs = Array.from({ length: 1000 }, (_, at) => at + 1)
    const moved = jobs.filter(
      (jobId) => all[consistentIndex(jobId, all)] !== fewer[consistentIndex(jobId, fewer)],
    )
    expect(moved.every((jobId) => consistentIndex(jobId, all) === 9)).toBe(true)
    expect(moved.length).toBeGreaterThan(50)
    expect(moved.length).toBeLessThan(200)
  })
})
