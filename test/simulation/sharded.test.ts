import { describe, expect, it } from 'vitest'
import { simulateCluster } from '../support/sim-cluster.ts'
import { nextTurn, seedCount } from '../support/sim-seeds.ts'
import { knownShardBugs } from '../support/sim-shard-bugs.ts'

/** `SEED=n` runs that seed alone, `SEEDS=n` the seeds from 1 to n. */
const only = process.env['SEED']
const seeds =
  only === undefined ? Array.from({ length: seedCount(8) }, (_, index) => index + 1) : [Number(only)]
/** Within so many seeds the simulation must find each bug. */
const seedsMax = 40

describe('the simulation of a cluster with sharded jobs', () => {
  it(`is sound with ${seeds.length} seeds`, { timeout: 240_000 }, async () => {
    const failed: string[] = []
    for (const seed of seeds) {
      const { violations } = await simulateCluster(seed, {}, { guests: 'shards' })
      if (violations.length > 0) failed.push(`SEED=${seed}: ${violations.slice(0, 5).join('\n')}`)
      await nextTurn()
    }
    expect(failed).toEqual([])
  })

  it('makes the same history for a seed every time', async () => {
    const { fingerprint } = await simulateCluster(2, {}, { guests: 'shards' })
    expect((await simulateCluster(2, {}, { guests: 'shards' })).fingerprint).toBe(fingerprint)
  })

  it.each(knownShardBugs)('finds: $name', { timeout: 240_000 }, async (bug) => {
    const others: string[] = []
    for (let seed = 1; seed <= seedsMax; seed++) {
      const { violations } = await simulateCluster(seed, bug, { guests: 'shards' })
      await nextTurn()
      if (violations.some((violation) => bug.symptom.test(violation))) return
      others.push(...violations)
    }
    expect.unreachable(
      `not found within ${seedsMax} seeds; other findings:\n${others.slice(0, 5).join('\n')}`,
    )
  })
})
