import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type SimulationResult, simulate } from './sim-world.ts'

/** How many seeds run, over all shards. */
const usualSeedCount = 500
const seedsPerTest = 100
const keptSeedsFile = new URL('../simulation/seeds.txt', import.meta.url)

/**
 * The tests of one shard. `SEED=n` runs that seed alone, `SEEDS=n` the seeds from 1 to n.
 *
 * @param shard number of this shard, from 0
 */
export function simulationTests(shard: number, shardCount: number): void {
  const only = process.env['SEED']
  const seeds = only === undefined ? seedsOfShard(shard, shardCount) : shard === 0 ? [Number(only)] : []
  describe('simulation', () => {
    if (shard === 0 && only === undefined) {
      it.each(keptSeeds())('seed %i, which once failed, holds every invariant', async (seed) => {
        expectSound([await simulate(seed)])
      })
    }
    it.each(chunksOf(seeds))(
      'seeds $first to $last hold every invariant',
      { timeout: 240_000 },
      async (chunk) => {
        const results: SimulationResult[] = []
        for (const seed of chunk.seeds) {
          results.push(await simulate(seed))
          await nextTurn()
        }
        expectSound(results)
      },
    )
  })
}

/** `SEEDS=n`, or what is usual for a simulation, which `QUARTZ_TS_SEED_FACTOR=n` multiplies. */
export function seedCount(usual: number): number {
  const { SEEDS: asked, QUARTZ_TS_SEED_FACTOR: factor = '1' } = process.env
  return asked === undefined ? usual * Number(factor) : Number(asked)
}

/** Simulations wait for no I/O, and the test runner needs some. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** What a person needs to see and run again. */
export function describeFailure(result: SimulationResult): string {
  return [
    `SEED=${result.seed} npx vitest run --project unit test/simulation`,
    ...result.violations.slice(0, 5),
    'The last events before the first of them:',
    result.tail,
  ].join('\n')
}

function expectSound(results: readonly SimulationResult[]): void {
  const failed = results.filter(({ violations }) => violations.length > 0)
  const [first] = failed
  const numbers = failed.map(({ seed }) => seed).join(', ')
  expect(failed.length, first && `failing seeds: ${numbers}\n${describeFailure(first)}`).toBe(0)
}

function seedsOfShard(shard: number, shardCount: number): readonly number[] {
  return Array.from({ length: seedCount(usualSeedCount) }, (_, index) => index + 1).filter(
    (seed) => seed % shardCount === shard,
  )
}

function keptSeeds(): readonly number[] {
  return readFileSync(keptSeedsFile, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
    .map(Number)
}

interface Chunk {
  readonly first: number
  readonly last: number
  readonly seeds: readonly number[]
}

function chunksOf(seeds: readonly number[]): readonly Chunk[] {
  const chunks: Chunk[] = []
  for (let start = 0; start < seeds.length; start += seedsPerTest) {
    const chunk = seeds.slice(start, start + seedsPerTest)
    chunks.push({ first: chunk[0] ?? 0, last: chunk[chunk.length - 1] ?? 0, seeds: chunk })
  }
  return chunks
}
