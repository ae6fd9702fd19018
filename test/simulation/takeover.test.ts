import { describe, expect, it } from 'vitest'
import { nextTurn, seedCount } from '../support/sim-seeds.ts'
import { simulateTakeOvers } from '../support/sim-takeover.ts'
import { knownTakeOverBugs } from '../support/sim-takeover-bugs.ts'

/** `SEED=n` runs that seed alone, `SEEDS=n` the seeds from 1 to n. */
const only = process.env['SEED']
const seeds =
  only === undefined ? Array.from({ length: seedCount(10) }, (_, index) => index + 1) : [Number(only)]
/** Within so many seeds the simulation must find each bug. */
const seedsMax = 30

describe('the simulation of processes that take over one SQLite file', () => {
  it(`is sound with ${seeds.length} seeds`, { timeout: 240_000 }, async () => {
    const failed: string[] = []
    let takeOvers = 0
    for (const seed of seeds) {
      const result = await simulateTakeOvers(seed)
      takeOvers += result.takeOvers
      const [first] = result.violations
      if (first !== undefined) failed.push(`SEED=${seed}: ${result.violations.slice(0, 5).join('\n')}`)
      await nextTurn()
    }
    expect(failed).toEqual([])
    if (only === undefined) expect(takeOvers).toBeGreaterThan(seeds.length)
  })

  it.each(knownTakeOverBugs)('finds: $name', { timeout: 240_000 }, async (bug) => {
    const others: string[] = []
    for (let seed = 1; seed <= seedsMax; seed++) {
      const { violations } = await simulateTakeOvers(seed, bug)
      await nextTurn()
      if (violations.some((violation) => bug.symptom.test(violation))) return
      others.push(...violations)
    }
    expect.unreachable(
      `not found within ${seedsMax} seeds; other findings:\n${others.slice(0, 5).join('\n')}`,
    )
  })
})
