import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { ChaosNode, type ChaosNodeOptions } from './chaos-node.ts'
import { postgresQuery, sqliteQuery } from './leftovers.ts'

interface Line {
  readonly kind: string
  readonly node: string
  readonly item?: number
}

type Kill = Pick<ChaosNodeOptions, 'killAt' | 'killAtStatement'>
type Place = Pick<ChaosNodeOptions, 'store' | 'location' | 'storeOptions'>

/** How many items the peer is to run: a number, or the last one and those whose ends were in the same transaction. */
type Left = number | 'the last'

const items = 6
const history = { record: 'all' } as const
/** The transaction that writes the end of the last item settles the firing. */
const settling = ['DELETE FROM qrtz_split_firings', 'COMMIT']

/**
 * Where a node that runs all items, one after the other, ends itself: in the middle, before it writes the end of the
 * last item, which is the end of the firing, at the commit of that, and after it.
 */
const points: readonly (readonly [string, Kill, Left])[] = [
  ['midRun of item 3', { killAt: { point: 'midRun', nth: 3 } }, 4],
  ['beforeCompletion of the last item', { killAt: { point: 'beforeCompletion', nth: items } }, 1],
  [
    'right before the commit of the last item',
    { killAtStatement: { texts: settling, when: 'before' } },
    'the last',
  ],
  ['afterCompletion of the last item', { killAt: { point: 'afterCompletion', nth: items } }, 0],
]
const afterCommit = [
  'right after the commit of the last item',
  { killAtStatement: { texts: settling, when: 'after' } },
  0,
] as const

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

async function endsOnce(place: Place, query: ReturnType<typeof sqliteQuery>, kill: Kill, left: Left) {
  const log = join(await folder(), 'log')
  const open = async (instanceId: string, more: Kill): Promise<ChaosNode> => {
    const node = await ChaosNode.open({
      ...place,
      log,
      instanceId,
      poolSize: 1,
      schedulerOptions: { idleWaitMs: 1000 },
      ...more,
    })
    onTestFinished(() => node.kill())
    return node
  }
  const lines = (where: string): Promise<readonly Record<string, unknown>[]> =>
    query(`SELECT outcome, shard_item, recovering FROM qrtz_execution_history WHERE ${where}`)
  const victim = await open('victim', kill)
  await victim.ask('scheduleSharded', { items })
  await victim.ask('start').catch(() => {})
  await vi.waitFor(
    () => {
      expect(victim.end).toBe('SIGKILL')
    },
    { timeout: 60_000 },
  )
  const peer = await open('peer', {})
  await peer.ask('start')
  await vi.waitFor(
    async () => {
      expect(await lines('firing_id IS NULL')).toHaveLength(1)
    },
    { timeout: 60_000 },
  )
  expect(await query('SELECT fire_id FROM qrtz_split_firings')).toEqual([])
  expect(await lines('firing_id IS NULL')).toMatchObject([{ outcome: 'succeeded' }])
  const ends = await lines('firing_id IS NOT NULL')
  expect(ends.map((row) => Number(row['shard_item'])).sort()).toEqual([0, 1, 2, 3, 4, 5])
  expect(ends.every((row) => row['outcome'] === 'succeeded')).toBe(true)
  const recovered = ends.filter((row) => Boolean(row['recovering'])).length
  if (left === 'the last') expect(recovered).toBeGreaterThanOrEqual(1)
  else expect(recovered).toBe(Math.min(left, 1))
  const told = (await readFile(log, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  const byPeer = told.filter(({ kind, node }) => kind === 'started' && node === 'peer')
  const runByPeer = left === 'the last' ? recovered : left
  expect(new Set(byPeer.map(({ item }) => item)).size).toBe(runByPeer)
  expect(byPeer).toHaveLength(runByPeer)
  const done = told.filter(({ kind }) => kind === 'allShardsDone')
  expect(done.length).toBeLessThanOrEqual(1)
  if (runByPeer > 0) expect(done.map(({ node }) => node)).toEqual(['peer'])
}

describe('a firing whose node is killed', () => {
  test.each(points)('%s ends once, on PostgreSQL', async (_, kill, left) => {
    const database = await freshDatabase()
    onTestFinished(() => database[Symbol.asyncDispose]())
    const storeOptions = { checkInIntervalMs: 300, failedAfterMs: 1500, poolSize: 4, history }
    const place: Place = { store: 'postgres', location: database.connectionString, storeOptions }
    await endsOnce(place, postgresQuery(database), kill, left)
  })

  test.each([...points, afterCommit])('%s ends once, in a SQLite file', async (_, kill, left) => {
    const location = join(await folder(), 'jobs.db')
    await endsOnce(
      { store: 'sqlite', location, storeOptions: { history } },
      sqliteQuery(location),
      kill,
      left,
    )
  })
})
