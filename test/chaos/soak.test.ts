import { truncate } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SimRandom } from '../support/sim-random.ts'
import { type Fault, type FaultLengths, faultKinds, lengthOfPlan, planFaults } from './faults.ts'
import { Load, limitedGroup } from './load.ts'
import { endure, explain, problemsOf } from './round.ts'
import { type LogLine, readLog } from './run-log.ts'
import { kibibytesPerHour, type MemorySample } from './soak-figures.ts'
import { cluster, misfireThresholdMs, roles, World } from './world.ts'

/** Set by `npm run soak -- --hours H`. */
const hours = Number(process.env['QUARTZ_TS_SOAK_HOURS'])
const seed = Number(process.env['QUARTZ_TS_CHAOS_SEED'] ?? Date.now() % 1_000_000)

const roundMs = 100_000
const deployEveryMs = 20_000
const lengths: FaultLengths = {
  failedAfterMs: cluster.failedAfterMs,
  blockMs: 6000,
  freezeMs: 8000,
  disturbMs: 12_000,
}
/** The first node lives for the whole time, so that its memory can be watched. */
const steady = 0
/** The others are deployed all the time. */
const others = [1, 2]
/** More than this an hour is a leak and no noise. */
const mostKibibytesPerHour = 8192
const mostDeadTuples = 100

/** Everything that has happened, for the last words. */
interface Tally {
  rounds: number
  runs: number
  deploys: number
  readonly faults: Map<string, number>
  readonly memory: MemorySample[]
}

/** SIGTERM for the others in turn, one every 20 seconds; answers what ends it. */
function keepDeploying(world: World, tally: Tally): () => Promise<void> {
  const stopped = new AbortController()
  const deploying = (async () => {
    for (let turn = 0; await restedUnlessStopped(deployEveryMs, stopped.signal); turn++) {
      const node = others[turn % others.length] ?? expect.fail('no such node')
      await world.alone(node, () => world.deploy(node))
      tally.deploys++
    }
  })()
  return async () => {
    stopped.abort()
    await deploying
  }
}

async function restedUnlessStopped(forMs: number, signal: AbortSignal): Promise<boolean> {
  await sleep(forMs, undefined, { signal }).catch(() => {})
  return !signal.aborted
}

/** Pauses a group of triggers and resumes it, on any node, until told to stop. */
function keepPausing(world: World, random: SimRandom): () => Promise<void> {
  const stopped = new AbortController()
  const tell = async (op: 'pause' | 'resume'): Promise<void> => {
    for (;;) {
      try {
        await random.pick(world.nodes).ask(op, { group: 'load' })
        return
      } catch {
        // That node or its server is away.
        await sleep(500)
      }
    }
  }
  const pausing = (async () => {
    while (!stopped.signal.aborted) {
      await sleep(random.integer(3000, 9000))
      const fromMs = Date.now()
      await tell('pause')
      await sleep(random.integer(100, 800))
      // Waits while another session holds rows of the group.
      await tell('resume')
      world.pauses.push({ fromMs, toMs: Date.now() })
    }
  })()
  return async () => {
    stopped.abort()
    await pausing
  }
}

/** One load with all of the faults, from its first trigger to its last row. */
async function round(world: World, random: SimRandom, tally: Tally): Promise<string[]> {
  const plan = planFaults(random.fork(), roundMs, lengths, roles.length).map(
    // The steady node lives on, and the last one is the one behind the proxy.
    (fault): Fault => (['deploy', 'kill'].includes(fault.kind) ? { ...fault, node: 1 } : fault),
  )
  const load = new Load(random.fork(), misfireThresholdMs, `${String(tally.rounds)}-`)
  const node = world.nodes[steady] ?? expect.fail('no node')
  const startMs = Date.now() + 2000
  const span = { startMs, endMs: startMs + lengthOfPlan(plan) }
  await load.scheduleMixed(node, 2, span)
  await load.scheduleFurther(node, world.log, span)
  const stopDeploying = keepDeploying(world, tally)
  const stopPausing = keepPausing(world, random.fork())
  await endure(plan, { world, load, random: random.fork() }, async () => {
    await stopPausing()
    await stopDeploying()
  })
  await node.ask('memory')
  const lines = await readLog(world.log)
  const problems = [...(await problemsOf(lines, { world, load })), ...world.notes]
  if (problems.length > 0) await explain(plan, lines, world)
  note(tally, plan, lines)
  await forget(world)
  return problems
}

function note(tally: Tally, plan: readonly Fault[], lines: readonly LogLine[]): void {
  tally.rounds++
  tally.runs += lines.filter(({ kind }) => kind === 'started').length
  for (const { kind } of plan) tally.faults.set(kind, (tally.faults.get(kind) ?? 0) + 1)
  for (const line of lines) if (line.kind === 'memory') tally.memory.push(line)
}

/** The next round has a load and lines of its own. */
async function forget(world: World): Promise<void> {
  await truncate(world.log)
  world.disturbances.length = 0
  world.pauses.length = 0
  world.blocked.length = 0
  world.notes.length = 0
}

/**
 * Rows that no vacuum can take away are held by a transaction that never ends: then they are those of hours. The nodes
 * still check in meanwhile, which leaves a few.
 */
async function deadTuples(world: World): Promise<number> {
  await world.database.query('VACUUM')
  const [row] = await world.database.query(
    'SELECT pg_stat_force_next_flush(), COALESCE(SUM(n_dead_tup), 0) AS dead FROM pg_stat_user_tables',
  )
  return Number(row?.['dead'])
}

test(
  `a cluster survives ${String(hours)} hours, seed ${String(seed)}`,
  async () => {
    const random = new SimRandom(seed)
    const endMs = Date.now() + hours * 3_600_000
    const tally: Tally = { rounds: 0, runs: 0, deploys: 0, faults: new Map(), memory: [] }
    const world = await World.open({
      withThreads: true,
      storeOptions: { jobGroupLimits: { [limitedGroup.name]: limitedGroup.limit } },
    })
    await world.start()
    const found: string[] = []
    while (Date.now() < endMs) {
      const problems = await round(world, random, tally)
      found.push(...problems.map((problem) => `round ${String(tally.rounds)}: ${problem}`))
      console.log(
        `round ${String(tally.rounds)}: ${String(tally.runs)} runs so far, ${String(problems.length)} problems`,
      )
      for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`)
    }
    const dead = await deadTuples(world)
    await world.stop()
    const growth = kibibytesPerHour(tally.memory)
    const { faults, memory, ...counts } = tally
    console.log({
      seed,
      ...counts,
      faults: Object.fromEntries(faults),
      heapKiB: memory.map(({ heapBytes }) => Math.round(heapBytes / 1024)),
      rssKiB: memory.map(({ rssBytes }) => Math.round(rssBytes / 1024)),
      heapKiBPerHour: growth,
      deadTuplesAfterVacuum: dead,
    })
    expect(found).toEqual([])
    expect(dead).toBeLessThan(mostDeadTuples)
    if (hours >= 0.5) expect(growth).toBeLessThan(mostKibibytesPerHour)
    expect([...faults.keys()].sort()).toEqual([...faultKinds].sort())
  },
  hours * 3_600_000 + 900_000,
)
