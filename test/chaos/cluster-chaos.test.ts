import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { SimRandom } from '../support/sim-random.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { ChaosNode } from './chaos-node.ts'
import { type Fault, type FaultLengths, happen, planFaults, type Stage } from './faults.ts'
import { judge } from './judge.ts'
import { backlog, leftovers, postgresQuery } from './leftovers.ts'
import { Load } from './load.ts'
import { type LogLine, readLog, textOf } from './run-log.ts'

/** How long faults happen; QUARTZ_TS_CHAOS_SECONDS makes it longer, and CI does. */
const seconds = Number(process.env['QUARTZ_TS_CHAOS_SECONDS'] ?? 30)
/** QUARTZ_TS_CHAOS_SEED repeats the plan of a run that failed. */
const seed = Number(process.env['QUARTZ_TS_CHAOS_SEED'] ?? Date.now() % 1_000_000)

const isLong = seconds >= 120
const misfireThresholdMs = 2000
const cluster = { checkInIntervalMs: 500, failedAfterMs: 3000 }
const lengths: FaultLengths = {
  failedAfterMs: cluster.failedAfterMs,
  blockMs: isLong ? 20_000 : 5000,
  freezeMs: isLong ? 30_000 : 6000,
}
const hour = 3_600_000
const ids = ['right', 'ahead', 'behind'] as const
const clockOffsets = { right: 0, ahead: hour, behind: -hour }

interface World extends Stage {
  readonly log: string
  readonly database: TestDatabase
  readonly notes: string[]
}

async function openWorld(): Promise<World> {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const server: PostgresServer = await startPostgres()
  onTestFinished(() => server.remove())
  const database = await freshDatabase(server.connectionString)
  const proxy = await TcpProxy.startFor(server.connectionString)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const log = join(path, 'log')
  const notes: string[] = []
  const open = async (index: number): Promise<ChaosNode> => {
    const instanceId = ids[index] ?? expect.fail('no such node')
    const direct = database.connectionString
    const node = await ChaosNode.open({
      store: 'postgres',
      location: index === ids.length - 1 ? proxy.through(direct) : direct,
      log,
      instanceId,
      clockOffsetMs: clockOffsets[instanceId],
      storeOptions: { ...cluster, poolSize: 5, connectTimeoutMs: 3000, statementTimeoutMs: 5000 },
      schedulerOptions: { idleWaitMs: 1000, misfireThresholdMs },
    })
    onTestFinished(() => node.kill())
    return node
  }
  const nodes: ChaosNode[] = []
  for (const index of ids.keys()) nodes.push(await open(index))
  return {
    log,
    nodes,
    server,
    proxy,
    database,
    notes,
    namesake: open,
    note: (text) => notes.push(text),
    terminateSessions: async () => {
      await database
        .query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()')
        // It ends its own session too.
        .catch(() => {})
    },
  }
}

/** Adds one-shots all the time, on any node, until told to stop. */
function keepAdding(load: Load, world: World, random: SimRandom): () => Promise<void> {
  const stopped = new AbortController()
  const pending = new Set<Promise<void>>()
  const adding = (async () => {
    while (!stopped.signal.aborted) {
      const added = load
        .scheduleOneShot(random.pick(world.nodes), Date.now() + random.integer(0, 3000))
        .catch(() => {})
      pending.add(added)
      void added.finally(() => pending.delete(added))
      await sleep(random.integer(20, 200))
    }
  })()
  return async () => {
    stopped.abort()
    await adding
    await Promise.all(pending)
  }
}

/** Carries out the plan; answers who was blocked when. */
async function endure(plan: readonly Fault[], world: World): Promise<Blocked[]> {
  const blocked: Blocked[] = []
  for (const fault of plan) {
    await sleep(fault.afterMs)
    const fromMs = Date.now()
    await happen(fault, world)
    if (fault.kind === 'block') blocked.push({ id: ids[fault.node] ?? '', fromMs, toMs: Date.now() })
  }
  return blocked
}

interface Blocked {
  readonly id: string
  readonly fromMs: number
  readonly toMs: number
}

/** A node whose event loop stands still checks in all the same; what came before it may still show at its begin. */
function takenForFailed(lines: readonly LogLine[], blocked: readonly Blocked[]): string[] {
  return lines.flatMap((line) =>
    line.kind === 'nodeFailed' &&
    blocked.some(
      ({ id, fromMs, toMs }) =>
        id === line.instanceId && line.at >= fromMs + cluster.failedAfterMs && line.at <= toMs,
    )
      ? [`blocked, and taken for failed: ${textOf(line)}`]
      : [],
  )
}

/** What processes did that they should not have, and faults without a trace. */
function processProblems(lines: readonly LogLine[], { nodes, notes }: World): string[] {
  return [
    ...notes,
    // A frozen node was recovered, and learned it.
    ...['nodeRecovered', 'recoveredByPeer', 'clockSkewed'].filter(
      (kind) => !lines.some((line) => line.kind === kind),
    ),
    ...nodes.flatMap(({ instanceId, end, errors }) =>
      end === 0 ? [] : [`${instanceId} ended with ${String(end)}: ${errors}`],
    ),
    ...ids.flatMap((id) =>
      lines.some((line) => line.node === id && line.kind === 'ended') ? [] : [`${id} ran nothing`],
    ),
  ]
}

test(
  `a cluster survives ${String(seconds)} seconds of faults, seed ${String(seed)}`,
  async () => {
    const random = new SimRandom(seed)
    const plan = planFaults(random.fork(), seconds * 1000, lengths, ids.length)
    const world = await openWorld()
    const load = new Load(random.fork(), misfireThresholdMs)
    const startMs = Date.now() + 3000
    const [first] = world.nodes
    await load.scheduleMixed(first ?? expect.fail('no node'), 3, { startMs, endMs: startMs + seconds * 1000 })
    for (const node of world.nodes) await node.ask('start')
    const stopAdding = keepAdding(load, world, random.fork())
    const blocked = await endure(plan, world)
    await stopAdding()
    const query = postgresQuery(world.database)
    await vi
      .waitFor(
        async () => {
          expect(await backlog(query)).toEqual({})
        },
        { timeout: 60_000, interval: 250 },
      )
      .catch(() => {})
    const rows = await leftovers(query)
    for (const node of world.nodes) await node.stop().catch(() => {})
    const members = await query('SELECT instance_name FROM qrtz_scheduler_state')
    const lines = await readLog(world.log)
    const problems = [
      ...judge(lines, load),
      ...processProblems(lines, world),
      ...takenForFailed(lines, blocked),
    ]
    if (problems.length > 0 || Object.keys(rows).length > 0) {
      console.error(
        await query('SELECT * FROM qrtz_triggers'),
        await query('SELECT * FROM qrtz_fired_triggers'),
      )
      const words = plan.map(
        ({ kind, node, lastsMs }) => `${kind} ${String(ids[node])} ${String(lastsMs)} ms`,
      )
      console.error(`QUARTZ_TS_CHAOS_SEED=${String(seed)}\n${words.join('\n')}`)
      console.error(
        lines
          .filter((line) => !['started', 'ended', 'failed', 'triggerMisfired'].includes(line.kind))
          .map(textOf)
          .join('\n'),
      )
    }
    expect(problems).toEqual([])
    expect(rows).toEqual({})
    // Whoever is stopped leaves its cluster.
    expect(members).toEqual([])
  },
  seconds * 1000 * 3 + 180_000,
)
