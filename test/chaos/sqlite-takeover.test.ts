import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SimRandom } from '../support/sim-random.ts'
import { ChaosNode } from './chaos-node.ts'
import { judge } from './judge.ts'
import { backlog, leftovers, sqliteQuery } from './leftovers.ts'
import { Load } from './load.ts'
import { type LogLine, readLog, textOf } from './run-log.ts'

/** QUARTZ_TS_CHAOS_SEED repeats the load of a run that failed. */
const seed = Number(process.env['QUARTZ_TS_CHAOS_SEED'] ?? Date.now() % 1_000_000)
/** How often the file changes hands. */
const takeOvers = 2
const misfireThresholdMs = 60_000
/** A file is taken over when its holder was silent for 20 seconds; the load goes on for longer. */
const roundMs = 35_000

/** Stops a process while it holds no lock on the file, and hides it from others, as another container does. */
async function stop(node: ChaosNode, location: string): Promise<void> {
  const database = new Database(location, { timeout: 100 })
  await vi.waitFor(
    () => {
      node.freeze()
      try {
        database.exec(
          `UPDATE qrtz_scheduler_state SET node_info = json_set(node_info, '$.space', 'another container')`,
        )
      } catch (error) {
        node.thaw()
        throw error
      }
    },
    { timeout: 30_000, interval: 20 },
  )
  database.close()
}

/** The processes of one run, and what they are given to do. */
class Handovers {
  readonly location: string
  readonly log: string
  readonly load: Load
  readonly #random: SimRandom

  constructor(folder: string) {
    this.#random = new SimRandom(seed)
    this.load = new Load(this.#random.fork(), misfireThresholdMs)
    this.location = join(folder, 'jobs.db')
    this.log = join(folder, 'log')
  }

  async open(index: number): Promise<ChaosNode> {
    const { location, log } = this
    const schedulerOptions = { idleWaitMs: 1000, misfireThresholdMs }
    const instanceId = `holder-${String(index)}`
    const options = { store: 'sqlite', location, log, instanceId, withThreads: true } as const
    const node = await ChaosNode.open({ ...options, schedulerOptions })
    onTestFinished(() => node.kill())
    return node
  }

  /** Waits until a node has written such a line. */
  async written(node: ChaosNode, kind: LogLine['kind']): Promise<void> {
    await vi.waitFor(
      async () => {
        const lines = await readLog(this.log)
        expect(lines.some((line) => line.kind === kind && line.node === node.instanceId)).toBe(true)
      },
      { timeout: 30_000, interval: 100 },
    )
  }

  /** The holder stands still for as long as it takes another process to have the file, and goes on then. */
  async handOver(holder: ChaosNode, heir: ChaosNode): Promise<void> {
    const startMs = Date.now() + 500
    const span = { startMs, endMs: startMs + roundMs }
    await this.load.scheduleMixed(holder, 1, span)
    await this.load.scheduleNative(holder, this.log, span)
    await this.written(holder, 'ended')
    await stop(holder, this.location)
    const started = heir.ask('start')
    // Others may schedule while no process has the file.
    for (let shot = 0; shot < 5; shot++) {
      await this.load.scheduleOneShot(heir, Date.now() + this.#random.integer(0, 30_000))
    }
    await started
    const [{ instanceId }, { instanceId: node }] = [holder, heir]
    const line = { at: Date.now(), kind: 'nodeRecovered', node, instanceId }
    appendFileSync(this.log, `${JSON.stringify(line)}\n`)
    holder.thaw()
    await this.written(holder, 'recoveredByPeer')
    await holder.stop()
    expect(holder.end).toBe(0)
  }
}

test(`a SQLite file goes from a process that stands still to the next, seed ${String(seed)}`, async () => {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const world = new Handovers(path)
  const query = sqliteQuery(world.location)
  let holder = await world.open(0)
  await holder.ask('start')
  for (let count = 1; count <= takeOvers; count++) {
    const heir = await world.open(count)
    await world.handOver(holder, heir)
    holder = heir
  }
  await vi
    .waitFor(
      async () => {
        expect(await backlog(query)).toEqual({})
      },
      { timeout: 90_000, interval: 250 },
    )
    .catch(() => {})
  const lines = await readLog(world.log)
  const problems = judge(lines, world.load)
  if (problems.length > 0) {
    console.error(`QUARTZ_TS_CHAOS_SEED=${String(seed)}\n${lines.map(textOf).join('\n')}`)
  }
  expect(problems, problems.join('\n')).toEqual([])
  expect(await leftovers(query)).toEqual({})
  expect(await query('SELECT instance_name FROM qrtz_scheduler_state')).toEqual([
    { instance_name: holder.instanceId },
  ])
  await holder.stop()
  expect(holder.end).toBe(0)
}, 300_000)
