import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ClusterSimulation, simulateCluster } from './sim-cluster.ts'
import { nextTurn, seedCount } from './sim-seeds.ts'

/** How many seeds run, over all shards. */
const usualSeedCount = 30
const seedsPerTest = 15
const keptSeedsFile = new URL('../simulation/sql-seeds.txt', import.meta.url)

/** The tests of one shard, of those from 0 on. `SEED=n` runs that seed alone, `SEEDS=n` the seeds from 1 to n. */
export function clusterSimulationTests(shard: number, shardCount: number): void {
  const only = process.env['SEED']
  const own = Array.from({ length: seedCount(usualSeedCount) }, (_, index) => index + 1).filter(
    (seed) => seed % shardCount === shard,
  )
  const seeds = only === undefined ? own : shard === 0 ? [Number(only)] : []
  const chunks = Array.from({ length: Math.ceil(seeds.length / seedsPerTest) }, (_, index) => {
    const chunk = seeds.slice(index * seedsPerTest, (index + 1) * seedsPerTest)
    return { first: chunk[0], last: chunk[chunk.length - 1], chunk }
  })
  describe('the simulation of a cluster on one database', () => {
    const kept = shard === 0 && only === undefined ? keptSeeds() : []
    if (kept.length > 0) it.each(kept)('seed %i, which once failed, is sound', (seed) => expectSound([seed]))
    it.each(chunks)('is sound with seeds $first to $last', { timeout: 240_000 }, ({ chunk }) =>
      expectSound(chunk),
    )
  })
}

async function expectSound(seeds: readonly number[]): Promise<void> {
  const failed: ClusterSimulation[] = []
  for (const seed of seeds) {
    const result = await simulateCluster(seed)
    if (result.violations.length > 0) failed.push(result)
    await nextTurn()
  }
  const [first] = failed
  const message =
    first &&
    [
      `failing seeds: ${failed.map(({ seed }) => seed).join(', ')}`,
      `SEED=${first.seed} npx vitest run --project unit test/simulation/sql`,
      ...first.violations.slice(0, 10),
    ].join('\n')
  expect(failed.length, message).toBe(0)
}

function keptSeeds(): readonly number[] {
  return readFileSync(keptSeedsFile, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
    .map(Number)
}
