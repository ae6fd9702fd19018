import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { SimRandom } from '../support/sim-random.ts'
import { ChaosNode, type ChaosNodeOptions, type KillPoint, killPoints } from './chaos-node.ts'
import { judge } from './judge.ts'
import { backlog, leftovers, postgresQuery, sqliteQuery } from './leftovers.ts'
import { Load } from './load.ts'
import { readLog, textOf } from './run-log.ts'

const misfireThresholdMs = 60_000
const tuned = { checkInIntervalMs: 300, failedAfterMs: 1500 }
const patience = { timeout: 60_000, interval: 100 }

type Query = ReturnType<typeof sqliteQuery>
type Place = Omit<ChaosNodeOptions, 'instanceId' | 'killAt'>

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

async function onSqlite(): Promise<{ place: Place; query: Query }> {
  const path = await folder()
  const location = join(path, 'jobs.db')
  return { place: { store: 'sqlite', location, log: join(path, 'log') }, query: sqliteQuery(location) }
}

async function onPostgres(): Promise<{ place: Place; query: Query }> {
  const path = await folder()
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  return {
    place: {
      store: 'postgres',
      location: database.connectionString,
      log: join(path, 'log'),
      storeOptions: { ...tuned, poolSize: 4 },
    },
    query: postgresQuery(database),
  }
}

/** Opens node after node in one place; those that a test leaves are ended. */
function opener(
  place: Place,
): (instanceId: string, killAt?: ChaosNodeOptions['killAt']) => Promise<ChaosNode> {
  return async (instanceId, killAt) => {
    const schedulerOptions = { idleWaitMs: 1000, misfireThresholdMs }
    const node = await ChaosNode.open({
      ...place,
      instanceId,
      schedulerOptions,
      ...(killAt === undefined ? {} : { killAt }),
    })
    onTestFinished(() => node.kill())
    return node
  }
}

async function settled(query: Query, load: Load, log: string, points: readonly KillPoint[]): Promise<void> {
  await vi
    .waitFor(async () => {
      expect(await backlog(query)).toEqual({})
    }, patience)
    .catch(() => {})
  const lines = await readLog(log)
  const problems = judge(lines, load)
  // What came before is what one wants to read then.
  if (problems.length > 0) console.error(lines.map(textOf).join('\n'))
  expect(problems, problems.join('\n')).toEqual([])
  expect(await leftovers(query)).toEqual({})
  expect(lines.flatMap((line) => (line.kind === 'killed' ? line.point : []))).toEqual(points)
}

/** Which time a point is passed: not the first, so that other firings are under way. */
const nth: Readonly<Record<KillPoint, number>> = {
  afterAcquire: 4,
  afterFired: 4,
  afterFiredAtOnce: 2,
  beforeRun: 7,
  midRun: 8,
  midRecoverableRun: 3,
  beforeCompletion: 4,
  afterCompletion: 4,
  duringRecovery: 1,
}

function newLoad(): Load {
  return new Load(new SimRandom(20_260_101), misfireThresholdMs)
}

/** What fires where it is found was due before: nobody had time to claim it. */
async function schedule(load: Load, node: ChaosNode, point: KillPoint): Promise<void> {
  const startMs = Date.now() + (point === 'afterFiredAtOnce' ? -3000 : 1000)
  await load.scheduleMixed(node, 1, { startMs, endMs: startMs + 4000 })
}

/** Waits until the victim has passed its point. A peer may take most of one load, so more follows when that is done. */
async function workUntilEnded(
  victim: ChaosNode,
  peer: ChaosNode,
  { load, query, point }: { load: Load; query: Query; point: KillPoint },
): Promise<void> {
  await vi.waitFor(
    async () => {
      const isIdle = Object.keys(await backlog(query)).length === 0
      if (victim.end === null && isIdle) await schedule(load, peer, point)
      expect(victim.end).toBe('SIGKILL')
    },
    { timeout: 60_000, interval: 100 },
  )
}

describe.each(killPoints.filter((point) => point !== 'duringRecovery' && point !== 'midRecoverableRun'))(
  'SIGKILL %s',
  (point) => {
    test('leaves a SQLite file from which the next process goes on', async () => {
      const { place, query } = await onSqlite()
      const open = opener(place)
      const load = newLoad()
      const victim = await open('only', { point, nth: nth[point] })
      await schedule(load, victim, point)
      await victim.ask('start')
      await victim.ended
      const heir = await open('only')
      await heir.ask('start')
      await settled(query, load, place.log, [point])
      await heir.stop()
      expect(heir.end).toBe(0)
    })

    test('leaves to another node on PostgreSQL what the first one did', async () => {
      const { place, query } = await onPostgres()
      const open = opener(place)
      const load = newLoad()
      const victim = await open('victim', { point, nth: nth[point] })
      const heir = await open('heir')
      await schedule(load, victim, point)
      await victim.ask('start')
      await heir.ask('start')
      await workUntilEnded(victim, heir, { load, query, point })
      await settled(query, load, place.log, [point])
      await heir.stop()
      expect(heir.end).toBe(0)
    })
  },
)

describe('SIGKILL duringRecovery', () => {
  test('of a SQLite file leaves everything to the third process', async () => {
    const { place, query } = await onSqlite()
    const open = opener(place)
    const load = newLoad()
    const first = await open('only', { point: 'midRecoverableRun', nth: nth.midRecoverableRun })
    await schedule(load, first, 'midRecoverableRun')
    await first.ask('start')
    await first.ended
    const second = await open('only', { point: 'duringRecovery', nth: 1 })
    await second.ask('start').catch(() => {})
    await second.ended
    const third = await open('only')
    await third.ask('start')
    await settled(query, load, place.log, ['midRecoverableRun', 'duringRecovery'])
    await third.stop()
    expect(third.end).toBe(0)
  })

  test('on PostgreSQL leaves both nodes to the third', async () => {
    const { place, query } = await onPostgres()
    const open = opener(place)
    const load = newLoad()
    const first = await open('first', { point: 'midRecoverableRun', nth: nth.midRecoverableRun })
    const second = await open('second', { point: 'duringRecovery', nth: 1 })
    await schedule(load, first, 'midRecoverableRun')
    await first.ask('start')
    await second.ask('start')
    await workUntilEnded(first, second, { load, query, point: 'midRecoverableRun' })
    await second.ended
    const third = await open('third')
    await third.ask('start')
    await settled(query, load, place.log, ['midRecoverableRun', 'duringRecovery'])
    await third.stop()
    expect(third.end).toBe(0)
  })
})
