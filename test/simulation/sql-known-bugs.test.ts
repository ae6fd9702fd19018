import { describe, expect, it } from 'vitest'
import { simulateCluster } from '../support/sim-cluster.ts'
import { knownClusterBugs } from '../support/sim-cluster-bugs.ts'
import { nextTurn } from '../support/sim-seeds.ts'

/** Within so many seeds the simulation must find each bug. */
const seedsMax = 100

describe('the simulation of a cluster finds bugs that are put in on purpose', () => {
  it.each(knownClusterBugs)('$name', { timeout: 240_000 }, async (bug) => {
    const others: string[] = []
    const seeds = Array.from({ length: seedsMax }, (_, index) => index + 1)
    for (const seed of [bug.seed ?? 1, ...seeds]) {
      const { violations } = await simulateCluster(seed, bug)
      await nextTurn()
      if (violations.some((violation) => bug.symptom.test(violation))) return
      others.push(...violations)
    }
    expect.unreachable(
      `not found within ${seedsMax} seeds; other findings:\n${others.slice(0, 5).join('\n')}`,
    )
  })
})
