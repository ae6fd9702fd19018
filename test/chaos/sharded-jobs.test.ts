import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { ChaosNode, type KillPoint } from './chaos-node.ts'

interface Line {
  readonly kind: string
  readonly node: string
  readonly item?: number
}

const items = 6

/**
 * Where a node that runs all items, one after the other, ends itself: in the middle, before it writes the end of the
 * last item, which is the end of the firing, and after it.
 */
const points: readonly { readonly point: KillPoint; readonly nth: number; readonly left: number }[] = [
  { point: 'midRun', nth: 3, left: 4 },
  { point: 'beforeCompletion', nth: items, left: 1 },
  { point: 'afterCompletion', nth: items, left: 0 },
]

test.each(points)('SIGKILL $point of item $nth: the firing ends once', async ({ point, nth, left }) => {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const log = join(path, 'log')
  const open = async (instanceId: string, isVictim: boolean): Promise<ChaosNode> => {
    const node = await ChaosNode.open({
      store: 'postgres',
      location: database.connectionString,
      log,
      instanceId,
      poolSize: 1,
      storeOptions: { checkInIntervalMs: 300, failedAfterMs: 1500, poolSize: 4, history: { record: 'all' } },
      schedulerOptions: { idleWaitMs: 1000 },
      ...(isVictim ? { killAt: { point, nth } } : {}),
    })
    onTestFinished(() => node.kill())
    return node
  }
  const history = (where: string): Promise<readonly Record<string, unknown>[]> =>
    database.query(`SELECT outcome, shard_item, recovering FROM qrtz_execution_history WHERE ${where}`)
  const victim = await open('victim', true)
  await victim.ask('scheduleSharded', { items })
  await victim.ask('start')
  await vi.waitFor(
    () => {
      expect(victim.end).toBe('SIGKILL')
    },
    { timeout: 60_000 },
  )
  const peer = await open('peer', false)
  await peer.ask('start')
  await vi.waitFor(
    async () => {
      expect(await history('firing_id IS NULL')).toHaveLength(1)
    },
    { timeout: 60_000 },
  )
  expect(await database.query('SELECT fire_id FROM qrtz_split_firings')).toEqual([])
  expect(await history('firing_id IS NULL')).toMatchObject([{ outcome: 'succeeded' }])
  const ends = await history('firing_id IS NOT NULL')
  expect(ends.map((row) => Number(row['shard_item'])).sort()).toEqual([0, 1, 2, 3, 4, 5])
  expect(ends.every((row) => row['outcome'] === 'succeeded')).toBe(true)
  expect(ends.filter((row) => row['recovering'] === true)).toHaveLength(Math.min(left, 1))
  const lines = (await readFile(log, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  const byPeer = lines.filter(({ kind, node }) => kind === 'started' && node === 'peer')
  expect(new Set(byPeer.map(({ item }) => item)).size).toBe(left)
  expect(byPeer).toHaveLength(left)
  const told = lines.filter(({ kind }) => kind === 'allShardsDone')
  expect(told.length).toBeLessThanOrEqual(1)
  if (left > 0) expect(told.map(({ node }) => node)).toEqual(['peer'])
})
