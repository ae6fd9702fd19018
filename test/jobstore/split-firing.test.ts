import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { resolveSharding } from '../../src/jobs/sharding.ts'
import { endedSharding, OpenFirings, type SplitFiring } from '../../src/jobstore/split-firing.ts'
import { jobDetail } from '../../src/testing/job-store/testbed.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

const trigger = TriggerBuilder.newTrigger().withIdentity('t').forJob(new JobKey('job')).build()

/** A store that keeps the open firings of one job between transactions. */
class Kept {
  firings: readonly SplitFiring[] = []
  readonly over: SplitFiring[] = []
  #count = 0

  fire(
    items: number | 'nodes' | 'remote',
    options: { misfire: 'runOnce' | 'skip'; nodes: readonly string[] },
  ): void {
    const open = new OpenFirings(this.firings)
    const sharding = resolveSharding({ items, misfire: options.misfire })
    const nowMs = this.#count++
    open.add({
      jobDetail: jobDetail('job', { sharding }),
      trigger,
      fireInstanceId: `fire-${String(nowMs)}`,
      node: 'n',
      nowMs,
      scheduledFireTimeMs: nowMs,
      nodes: options.nodes,
      disabledItems: [],
      remoteItems: () => options.nodes.length,
    })
    this.#keep(open)
  }

  /** Ends the n-th item that runs, in any order; false when none runs. */
  end(n: number): boolean {
    const open = new OpenFirings(this.firings)
    const carriers = open.carriers()
    const carrier = carriers[n % Math.max(1, carriers.length)]
    if (carrier === undefined) return false
    expect(open.end(carrier, 'succeeded', null)).toBe(true)
    expect(open.end(carrier, 'failed', null)).toBe(false)
    this.#keep(open)
    return true
  }

  #keep(open: OpenFirings): void {
    const { changed, over } = open.settle(this.#count)
    const known = new Map(this.firings.map((firing) => [firing.fireInstanceId, firing]))
    for (const firing of changed) known.set(firing.fireInstanceId, firing)
    for (const { fireInstanceId } of over) known.delete(fireInstanceId)
    this.firings = [...known.values()]
    this.over.push(...over)
  }
}

/** Pairs of items that run at the same time and may not. */
function overlaps(firings: readonly SplitFiring[]): string[] {
  const running = firings.flatMap((firing) =>
    firing.items.flatMap((item) => (item.state === 'given' ? [{ firing, item }] : [])),
  )
  return running.flatMap((one, index) =>
    running.slice(index + 1).flatMap((other) => {
      if (one.firing === other.firing) return []
      const isSame = one.firing.isBroadcast
        ? one.item.owner === other.item.owner
        : one.item.item === other.item.item || one.firing.items.length !== other.firing.items.length
      return isSame ? [`${one.firing.fireInstanceId} and ${other.firing.fireInstanceId}`] : []
    }),
  )
}

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ fire: fc.constantFrom(1, 3, 3, 3, 8) }) },
  { weight: 5, arbitrary: fc.record({ end: fc.nat(20) }) },
)

test.each(['runOnce', 'skip'] as const)(
  'items never overlap themselves, and each firing ends once: %s',
  (misfire) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), fc.boolean(), (steps, isBroadcast) => {
        const kept = new Kept()
        let fired = 0
        for (const each of steps) {
          if ('fire' in each) {
            fired++
            const nodes = Array.from({ length: each.fire }, (_, index) => `n${String(index)}`)
            kept.fire(isBroadcast ? 'nodes' : each.fire, { misfire, nodes })
          } else kept.end(each.end)
          expect(overlaps(kept.firings)).toEqual([])
          // What runs, and one firing that waits for each item.
          expect(kept.firings.length).toBeLessThanOrEqual(2 * 8)
        }
        while (kept.end(0)) expect(overlaps(kept.firings)).toEqual([])
        expect(kept.firings).toEqual([])
        expect(new Set(kept.over.map(({ fireInstanceId }) => fireInstanceId)).size).toBe(fired)
        expect(kept.over).toHaveLength(fired)
      }),
      { seed: 18, numRuns: 300 },
    )
  },
)

test('remote items neither wait nor are left out, and other items wait for all of them', () => {
  const kept = new Kept()
  const nodes = ['a', 'b', 'c']
  kept.fire('remote', { misfire: 'skip', nodes })
  kept.fire('remote', { misfire: 'runOnce', nodes: ['a', 'b'] })
  kept.fire(3, { misfire: 'runOnce', nodes })
  const states = kept.firings.map(({ items }) => items.map(({ state, owner }) => `${state} ${owner}`))
  expect(states.map(([first]) => first?.split(' ')[0])).toEqual(['given', 'given', 'held'])
  expect(states.slice(0, 2)).toEqual([
    ['given n', 'given n', 'given n'],
    ['given n', 'given n'],
  ])
  while (kept.end(0)) expect(kept.firings.length).toBeLessThanOrEqual(3)
  expect(kept.over.map(({ items }) => items.length)).toEqual([3, 2, 3])
})

test('with 1,000 items that all wait, the end of one looks at each a few times', () => {
  const kept = new Kept()
  for (let fired = 0; fired < 2; fired++) kept.fire(1000, { misfire: 'runOnce', nodes: ['n'] })
  let looks = 0
  const counting = kept.firings.map((firing) => ({
    ...firing,
    items: firing.items.map((item) => ({
      ...item,
      get state() {
        looks++
        return item.state
      },
    })),
  }))
  const open = new OpenFirings(counting)
  const [carrier] = open.carriers()
  expect(carrier !== undefined && open.end(carrier, 'succeeded', null)).toBe(true)
  expect(open.settle(2).carriers).toHaveLength(1)
  expect(looks).toBeLessThan(10_000)
})

test('a firing with many items that failed names some of them', () => {
  const kept = new Kept()
  kept.fire(30, { misfire: 'skip', nodes: ['n'] })
  const open = new OpenFirings(kept.firings)
  for (const carrier of open.carriers()) open.end(carrier, 'failed', 'x'.repeat(5000))
  const [firing] = open.settle(1).over
  expect(firing).toBeDefined()
  if (firing === undefined) return
  const { errorText } = endedSharding(firing, 1)
  expect(errorText).toMatch(
    /^30 of 30 items did not end well: 0 \(failed\), .*19 \(failed\), \.\.\.\. The first error: x+$/,
  )
  expect(errorText?.length).toBeLessThan(800)
})
