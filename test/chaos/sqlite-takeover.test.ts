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
import { readLog, textOf } from './run-log.ts'

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

test(`a SQLite file goes from one process to the next while the one before stands still, seed ${String(seed)}`, async () => {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const [location, log] = [join(path, 'jobs.db'), join(path, 'log')]
  const query = sqliteQuery(location)
  const open = async (index: number): Promise<ChaosNode> => {
    const schedulerOptions = { idleWaitMs: 1000, misfireThresholdMs }
    const instanceId = `holder-${String(index)}`
    const options = { store: 'sqlite', location, log, instanceId, withThreads: true } as const
    const node = await ChaosNode.open({ ...options, schedulerOptions })
    onTestFinished(() => node.kill())
    return node
  }
  const random = new SimRandom(seed)
  const load = new Load(random.fork(), misfireThresholdMs)
  let holder = await open(0)
  await holder.ask('start')
  for (let count = 1; count <= takeOvers; count++) {
    const startMs = Date.now() + 500
    const span = { startMs, endMs: startMs + roundMs }
    await load.scheduleMixed(holder, 1, span)
    await load.scheduleNative(holder, log, span)
    const heir = await open(count)
    await vi.waitFor(
      async () => {
        const lines = await readLog(log)
        expect(lines.some(({ kind, node }) => kind === 'ended' && node === holder.instanceId)).toBe(true)
      },
      { timeout: 30_000, interval: 100 },
    )
    await stop(holder, location)
    const started = heir.ask('start')
    // Others may schedule while no process has the file.
    for (let shot = 0; shot < 5; shot++) {
      await load.scheduleOneShot(heir, Date.now() + random.integer(0, 30_000))
    }
    await started
    const { instanceId } = holder
    appendFileSync(
      log,
      `${JSON.stringify({ at: Date.now(), kind: 'nodeRecovered', node: heir.instanceId, instanceId })}\n`,
    )
    holder.thaw()
    await vi.waitFor(
      async () => {
        const lines = await readLog(log)
        expect(lines.some(({ kind, node }) => kind === 'recoveredByPeer' && node === instanceId)).toBe(true)
      },
      { timeout: 30_000, interval: 100 },
    )
    await holder.stop()
    expect(holder.end).toBe(0)
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
  const lines = await readLog(log)
  const problems = judge(lines, load)
  if (problems.length > 0) {
    console.error(`QUARTZ_TS_CHAOS_SEED=${String(seed)}\n${lines.map(textOf).join('\n')}`)
  }
  expect(problems).toEqual([])
  expect(await leftovers(query)).toEqual({})
  expect(await query('SELECT instance_name FROM qrtz_scheduler_state')).toEqual([
    { instance_name: holder.instanceId },
  ])
  await holder.stop()
  expect(holder.end).toBe(0)
}, 300_000)
