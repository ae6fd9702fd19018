import { describe, expect, it } from 'vitest'
import { knownBugs } from '../support/sim-mutations.ts'
import { describeFailure, nextTurn } from '../support/sim-seeds.ts'
import { simulate } from '../support/sim-world.ts'

/** Within so many seeds the simulation must find each bug. */
const seedsMax = 200

describe('the simulation finds bugs that are put in on purpose', () => {
  it.each(knownBugs)(
    '$name',
    async (bug) => {
      const others: string[] = []
      for (let seed = 1; seed <= seedsMax; seed++) {
        const result = await simulate(seed, bug)
        await nextTurn()
        if (result.violations.length === 0) continue
        if (result.violations.some((violation) => bug.symptom.test(violation))) return
        others.push(describeFailure({ ...result, tail: '' }))
      }
      expect.unreachable(
        `not found within ${seedsMax} seeds; other findings:\n${others.slice(0, 5).join('\n')}`,
      )
    },
    // The rarest takes half a minute on a machine with nothing else to do.
    180_000,
  )
})
