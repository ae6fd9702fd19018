import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { SimRandom } from '../support/sim-random.ts'
import { ChaosNode, type ChaosNodeOptions } from './chaos-node.ts'
import { Load } from './load.ts'
import { type LogLine, readLog } from './run-log.ts'

/** By silence alone a node fails after longer than a test waits. */
const patient = { failedAfterMs: 120_000, poolSize: 4 }
const lockSpace = 0x71_74_73

interface Place {
  readonly database: TestDatabase
  readonly log: string
  readonly open: (instanceId: string, options?: Partial<ChaosNodeOptions>) => Promise<ChaosNode>
}

async function newPlace(): Promise<Place> {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const log = join(path, 'log')
  const open = async (instanceId: string, options: Partial<ChaosNodeOptions> = {}): Promise<ChaosNode> => {
    const location = database.connectionString
    const node = await ChaosNode.open({
      ...{ store: 'postgres', location, log, instanceId, storeOptions: { poolSize: 4 } },
      ...options,
    })
    onTestFinished(() => node.kill())
    return node
  }
  return { database, log, open }
}

/** The last check-ins of nodes; of those alone whose row names a witness, if the condition says so. */
async function checkIns({ database }: Place, condition = 'true'): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query(
    `SELECT instance_name, last_checkin_time FROM qrtz_scheduler_state WHERE ${condition}`,
  )
  return new Map(rows.map((row) => [String(row['instance_name']), Number(row['last_checkin_time'])]))
}

const named = (place: Place): Promise<ReadonlyMap<string, number>> =>
  checkIns(place, `CAST(node_info AS json) -> 'witness' ->> 'key' IS NOT NULL`)

/** Waits until each of these nodes has looked at the witnesses of the others in its session. */
async function lookAtEachOther(place: Place, instanceIds: readonly string[]): Promise<void> {
  let first: ReadonlyMap<string, number> | null = null
  await vi.waitFor(
    async () => {
      const now = await named(place)
      expect([...now.keys()].toSorted()).toEqual(instanceIds)
      first ??= now
      // Between the check-in that reads a witness and the one after the next there are looks.
      for (const [instanceId, atMs] of now)
        expect(atMs - (first.get(instanceId) ?? atMs)).toBeGreaterThan(4000)
    },
    { timeout: 60_000, interval: 50 },
  )
}

/** Ends the sessions that hold witnesses. */
async function cutSessions({ database }: Place): Promise<number> {
  const rows = await database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
      AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [lockSpace],
  )
  return rows.length
}

const failures = (lines: readonly LogLine[]): LogLine[] =>
  lines.filter(({ kind }) =>
    ['nodeFailed', 'nodeRecovered', 'recoveredByPeer', 'executionLost'].includes(kind),
  )

describe('the end of the session of the check-ins', () => {
  test('after SIGKILL has another node run the work, long before its silence says so', async () => {
    const place = await newPlace()
    const load = new Load(new SimRandom(20_260_102), 60_000)
    const storeOptions = patient
    const victim = await place.open('victim', {
      storeOptions,
      killAt: { point: 'midRecoverableRun', nth: 1 },
    })
    const heir = await place.open('heir', { storeOptions })
    await heir.ask('start')
    await victim.ask('start')
    await lookAtEachOther(place, ['heir', 'victim'])
    await vi.waitFor(
      async () => {
        const startMs = Date.now()
        if (victim.end === null) await load.scheduleMixed(heir, 1, { startMs, endMs: startMs + 2000 })
        expect(victim.end).toBe('SIGKILL')
      },
      { timeout: 60_000, interval: 2000 },
    )
    await vi.waitFor(
      async () => {
        expect((await readLog(place.log)).map(({ kind }) => kind)).toContain('nodeRecovered')
      },
      { timeout: 60_000, interval: 50 },
    )
    const kinds = failures(await readLog(place.log)).map(({ kind, node }) => `${node} ${kind}`)
    expect(kinds.slice(0, 1)).toEqual(['heir nodeFailed'])
    expect((await named(place)).has('victim')).toBe(false)
    await heir.stop()
    expect(heir.end).toBe(0)
  })

  test('is no failure of a node that lives, also of one whose event loop is blocked', async () => {
    const place = await newPlace()
    // A machine with ten processes for each core takes more than the second that is the default to check in.
    const storeOptions = { failedAfterMs: 30_000, poolSize: 4 }
    const nodes = await Promise.all(['a', 'b', 'c'].map((name) => place.open(name, { storeOptions })))
    for (const node of nodes) await node.ask('start')
    await lookAtEachOther(place, ['a', 'b', 'c'])
    const blocked = nodes[0]?.ask('block', { forMs: 15_000 })
    const isOver = blocked?.then(() => true)
    let cuts = 0
    while ((await Promise.race([isOver, Promise.resolve(false)])) !== true) cuts += await cutSessions(place)
    expect(cuts).toBeGreaterThan(0)
    const before = await checkIns(place)
    await vi.waitFor(
      async () => {
        for (const [instanceId, atMs] of await checkIns(place)) {
          expect(atMs - (before.get(instanceId) ?? atMs)).toBeGreaterThan(4000)
        }
      },
      { timeout: 60_000, interval: 50 },
    )
    for (const node of nodes) await node.stop()
    expect(failures(await readLog(place.log))).toEqual([])
  })
})
