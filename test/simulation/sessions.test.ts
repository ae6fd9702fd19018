import { describe, expect, it } from 'vitest'
import { simulateCluster } from '../support/sim-cluster.ts'
import type { StatementBug } from '../support/sim-cluster-node.ts'
import { nextTurn, seedCount } from '../support/sim-seeds.ts'

/** `SEED=n` runs that seed alone, `SEEDS=n` the seeds from 1 to n. */
const only = process.env['SEED']
const seeds =
  only === undefined ? Array.from({ length: seedCount(8) }, (_, index) => index + 1) : [Number(only)]
/** Within so many seeds the simulation must find each bug. */
const seedsMax = 40

/** As if the end of a session were the end of its process. */
const believedAtOnce: StatementBug = {
  statement: (statement) => ({
    ...statement,
    values: statement.values.map((value) =>
      typeof value === 'string' ? value.replace('"graceMs":1000', '"graceMs":100') : value,
    ),
  }),
}

describe('the simulation of a cluster whose sessions are cut', () => {
  it(`is sound with ${seeds.length} seeds`, { timeout: 240_000 }, async () => {
    const failed: string[] = []
    for (const seed of seeds) {
      const { violations } = await simulateCluster(seed, {}, { sessions: true })
      if (violations.length > 0) failed.push(`SEED=${seed}: ${violations.slice(0, 5).join('\n')}`)
      await nextTurn()
    }
    expect(failed).toEqual([])
  })

  it('makes the same history for a seed every time', async () => {
    const { fingerprint } = await simulateCluster(2, {}, { sessions: true })
    expect((await simulateCluster(2, {}, { sessions: true })).fingerprint).toBe(fingerprint)
  })

  it('finds: A node whose session has ended is recovered at once', { timeout: 240_000 }, async () => {
    const others: string[] = []
    for (let seed = 1; seed <= seedsMax; seed++) {
      const { violations } = await simulateCluster(seed, believedAtOnce, { sessions: true })
      await nextTurn()
      if (violations.some((violation) => violation.includes('although it was well'))) return
      others.push(...violations)
    }
    expect.unreachable(
      `not found within ${seedsMax} seeds; other findings:\n${others.slice(0, 5).join('\n')}`,
    )
  })
})
