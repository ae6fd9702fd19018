import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ShardStrategy, shardStrategies } from '../../src/jobs/sharding.ts'
import { javaHash, ownersOf } from '../../src/jobstore/shard-strategies.ts'

const nodesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `node-${String.fromCharCode(97 + index)}`)

const spread = (
  strategy: ShardStrategy,
  nodes: readonly string[],
  items: number,
  jobName = 'job',
  nowMs = 0,
) => ownersOf(strategy, { items, nodes, jobName, nowMs })

/** The items of each node, in the order of the nodes. */
function sharesOf(owners: readonly string[], nodes: readonly string[]): number[][] {
  return nodes.map((node) => owners.flatMap((owner, item) => (owner === node ? [item] : [])))
}

/** What test/interop/java/ShardTables.java prints: for each number of nodes a digest over 0 to 40 items. */
interface Table {
  readonly strategy: ShardStrategy
  readonly job: string
  readonly hash: number
  readonly nowMs: number
  readonly digests: readonly string[]
}

const tables = readFileSync(new URL('shard-tables.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Table)

describe('the hash of Java', () => {
  test.each([
    ['', 0],
    ['a', 97],
    ['hello', 99_162_322],
    ['polygenelubricants', -2_147_483_648],
    ['zażółć', -701_064_989],
  ])('of %j is %d', (text, hash) => {
    expect(javaHash(text)).toBe(hash)
  })
})

describe("Elastic-Job's strategies", () => {
  test.each<[ShardStrategy, number, number, string, number[][]]>([
    [
      'avgAllocation',
      3,
      8,
      'job',
      [
        [0, 1, 6],
        [2, 3, 7],
        [4, 5],
      ],
    ],
    [
      'avgAllocation',
      3,
      10,
      'job',
      [
        [0, 1, 2, 9],
        [3, 4, 5],
        [6, 7, 8],
      ],
    ],
    ['avgAllocation', 3, 2, 'job', [[0], [1], []]],
    // 'a' is 97, odd: as it is; 'b' is 98, even: backwards.
    ['odevity', 3, 4, 'a', [[0, 3], [1], [2]]],
    ['odevity', 3, 4, 'b', [[2], [1], [0, 3]]],
    // 97 mod 3 is 1: begins at the second node.
    ['roundRobin', 3, 4, 'a', [[2], [0, 3], [1]]],
    ['roundRobin', 3, 3, 'b', [[1], [2], [0]]],
    // 2^31 mod 3 is 2. Java fails for this name.
    ['roundRobin', 3, 3, 'polygenelubricants', [[1], [2], [0]]],
  ])('%s gives %d nodes %d items of job %s', (strategy, count, items, jobName, shares) => {
    const nodes = nodesOf(count)
    expect(sharesOf(spread(strategy, nodes, items, jobName), nodes)).toEqual(shares)
  })

  test.each(tables)('$strategy gives what Java prints for job $job at $nowMs', (table) => {
    const { strategy, job, hash, nowMs, digests } = table
    expect(javaHash(job)).toBe(hash)
    const own = Array.from({ length: 12 }, (_, index) => {
      const nodes = nodesOf(index + 1)
      const rows = Array.from({ length: 41 }, (_row, items) => spread(strategy, nodes, items, job, nowMs))
      const text = rows.map((owners) => `${owners.join(' ')}\n`).join('')
      return createHash('sha256').update(text).digest('hex').slice(0, 16)
    })
    expect(own).toEqual(digests)
  })

  test('the tables of Java have 1 to 12 nodes for each of them', () => {
    expect(new Set(tables.map(({ strategy }) => strategy)).size).toBe(4)
    expect(tables).toHaveLength(36)
    expect(tables.every(({ digests }) => new Set(digests).size === 12)).toBe(true)
  })

  test('singleShardingBalance spreads a job with one item over the instants', () => {
    const nodes = nodesOf(3)
    const owners = [0, 1, 2, 3].map((nowMs) => spread('singleShardingBalance', nodes, 1, 'a', nowMs)[0])
    expect(owners).toEqual(['node-b', 'node-c', 'node-a', 'node-b'])
  })
})

describe('sticky', () => {
  test('never changes: nodes of different versions have the same map', () => {
    const table: string[] = []
    for (let count = 1; count <= 12; count++) {
      for (let items = 0; items <= 40; items++) table.push(spread('sticky', nodesOf(count), items).join(' '))
    }
    expect(spread('sticky', nodesOf(3), 8)).toMatchInlineSnapshot(`
      [
        "node-a",
        "node-a",
        "node-c",
        "node-b",
        "node-a",
        "node-c",
        "node-c",
        "node-b",
      ]
    `)
    expect(createHash('sha256').update(table.join('\n')).digest('hex')).toMatchInlineSnapshot(
      `"86a2b2a446fe0780c5f00fea07819420910990411a65269040e705841b9576fe"`,
    )
  })

  test('moves few items when a node leaves: its own, and few others', () => {
    let own = 0
    let others = 0
    for (let count = 2; count <= 12; count++) {
      for (let items = 1; items <= 40; items++) {
        const nodes = nodesOf(count)
        for (const gone of nodes) {
          const before = spread('sticky', nodes, items)
          const after = spread(
            'sticky',
            nodes.filter((node) => node !== gone),
            items,
          )
          for (const [item, owner] of before.entries()) {
            if (owner === gone) own++
            else if (after[item] !== owner) others++
          }
        }
      }
    }
    // Without the limit of a share none of the others would move, and shares would differ by a factor of three.
    expect(others / own).toBeLessThan(0.6)
  })
})

test.each(shardStrategies)(
  '%s gives each item one live node, in shares that differ by one at most',
  (strategy) => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 60 }),
        fc.string({ maxLength: 20 }),
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        (nodes, items, jobName, nowMs) => {
          const owners = spread(strategy, nodes, items, jobName, nowMs)
          expect(owners).toHaveLength(items)
          expect(owners.every((owner) => nodes.includes(owner))).toBe(true)
          const counts = sharesOf(owners, nodes).map((share) => share.length)
          const share = items / nodes.length
          expect(Math.max(...counts)).toBeLessThanOrEqual(Math.ceil(share))
          if (strategy !== 'sticky') expect(Math.min(...counts)).toBeGreaterThanOrEqual(Math.floor(share))
          // The order in which the nodes are given does not matter.
          expect(spread(strategy, [...nodes].reverse(), items, jobName, nowMs)).toEqual(owners)
        },
      ),
      { seed: 12, numRuns: 300 },
    )
  },
)
