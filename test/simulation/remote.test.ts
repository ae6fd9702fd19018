import { describe, expect, it } from 'vitest'
import { simulateCluster } from '../support/sim-cluster.ts'
import { knownRemoteBugs } from '../support/sim-remote-bugs.ts'
import { nextTurn, seedCount } from '../support/sim-seeds.ts'

/** `SEED=n` runs that seed alone, `SEEDS=n` the seeds from 1 to n. */
const only = process.env['SEED']
const seeds =
  only === undefined ? Array.from({ length: seedCount(3) }, (_, index) => index + 1) : [Number(only)]
/** Within so many seeds the simulation must find each bug. */
const seedsMax = 40
const allSeeds = Array.from({ length: seedsMax }, (_, index) => index + 1)

describe('the simulation of a cluster with remote jobs', () => {
  it(`is sound with ${seeds.length} seeds`, { timeout: 240_000 }, async () => {
    const failed: string[] = []
    for (const seed of seeds) {
      const { violations } = await simulateCluster(seed, {}, { guests: 'remotes' })
      if (violations.length > 0) failed.push(`SEED=${seed}: ${violations.slice(0, 5).join('\n')}`)
      await nextTurn()
    }
    expect(failed).toEqual([])
  })

  it.each(knownRemoteBugs)('finds: $name', { timeout: 240_000 }, async (bug) => {
    const others: string[] = []
    for (const seed of [bug.seed ?? 1, ...allSeeds]) {
      const { violations } = await simulateCluster(seed, bug, { guests: 'remotes' })
      await nextTurn()
      if (violations.some((violation) => bug.symptom.test(violation))) return
      others.push(...violations)
    }
    expect.unreachable(
      `not found within ${seedsMax} seeds; other findings:\n${others.slice(0, 5).join('\n')}`,
    )
  })
})
