import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import type { SimRandom } from '../support/sim-random.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { ChaosNode, type ChaosNodeOptions } from './chaos-node.ts'
import type { Stage } from './faults.ts'
import { ForeignRows } from './foreign-rows.ts'
import type { Disturbance, Pause } from './lateness.ts'
import type { Load } from './load.ts'
import type { LogLine } from './run-log.ts'

export const misfireThresholdMs = 2000
export const cluster = { checkInIntervalMs: 500, failedAfterMs: 3000 }
export const roles = ['right', 'ahead', 'behind'] as const
type Role = (typeof roles)[number]

const hour = 3_600_000
const clockOffsets: Readonly<Record<Role, number>> = { right: 0, ahead: hour, behind: -hour }
/** A node that is told to stop has this long, with whatever its server does meanwhile. */
const stopWithinMs = 12_000

/** Who was blocked when. */
export interface Blocked {
  readonly instanceId: string
  readonly fromMs: number
  readonly toMs: number
}

export interface WorldOptions {
  /** Jobs in worker threads, whose threads sit in native code. */
  readonly withThreads?: boolean
  readonly storeOptions?: ChaosNodeOptions['storeOptions']
}

/** Three nodes of one cluster with clocks an hour apart; the last one reaches its server through a proxy. */
export class World implements Stage {
  readonly log: string
  readonly server: PostgresServer
  readonly proxy: TcpProxy
  readonly database: TestDatabase
  readonly nodes: ChaosNode[] = []
  /** Nodes that were replaced and have ended. */
  readonly past: ChaosNode[] = []
  readonly notes: string[] = []
  readonly blocked: Blocked[] = []
  readonly disturbances: Disturbance[] = []
  readonly pauses: Pause[] = []
  readonly foreignRows: ForeignRows
  readonly #options: WorldOptions
  readonly #turns = new Map<number, Promise<unknown>>()
  #generation = 0

  private constructor(parts: Pick<World, 'log' | 'server' | 'proxy' | 'database'>, options: WorldOptions) {
    this.log = parts.log
    this.server = parts.server
    this.proxy = parts.proxy
    this.database = parts.database
    this.foreignRows = new ForeignRows(parts.database.connectionString)
    this.#options = options
  }

  /** With all nodes made, and none started. */
  static async open(options: WorldOptions = {}): Promise<World> {
    const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
    onTestFinished(() => rm(path, { recursive: true, force: true }))
    const server = await startPostgres()
    onTestFinished(() => server.remove())
    const database = await freshDatabase(server.connectionString)
    const proxy = await TcpProxy.startFor(server.connectionString)
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    const world = new World({ log: join(path, 'log'), server, proxy, database }, options)
    for (const [index, role] of roles.entries()) world.nodes.push(await world.#open(index, role))
    return world
  }

  note(text: string): void {
    this.notes.push(text)
  }

  disturbed(disturbance: Disturbance): void {
    this.disturbances.push(disturbance)
  }

  wasBlocked(blocked: Blocked): void {
    this.blocked.push(blocked)
  }

  namesake(node: number): Promise<ChaosNode> {
    return this.#open(node, this.#at(node).instanceId)
  }

  async terminateSessions(): Promise<void> {
    await this.database
      .query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()')
      // It ends its own session too.
      .catch(() => {})
  }

  /** Does to a node one thing at a time: what others want to do with it waits. */
  async alone<Answer>(index: number, act: () => Promise<Answer>): Promise<Answer> {
    const before = this.#turns.get(index) ?? Promise.resolve()
    const turn = before.then(act)
    this.#turns.set(
      index,
      turn.catch(() => {}),
    )
    return turn
  }

  /** Ends a node's process at once, and starts another one in its place. */
  async kill(index: number): Promise<void> {
    const node = this.#at(index)
    await node.kill()
    const line = { at: Date.now(), kind: 'killed', node: node.instanceId, pid: node.pid, point: 'anywhere' }
    appendFileSync(this.log, `${JSON.stringify(line)}\n`)
    await this.#succeed(index)
  }

  /** A rolling restart of one node: SIGTERM, and another process in its place when the first has ended. */
  async deploy(index: number): Promise<void> {
    await this.end(index)
    await this.#succeed(index)
  }

  /** Sends SIGTERM and holds the process to its deadline. */
  async end(index: number): Promise<void> {
    const node = this.#at(index)
    node.terminate()
    const inTime = await Promise.race([
      node.ended.then(() => true),
      sleep(stopWithinMs, false, { ref: false }),
    ])
    if (inTime) {
      if (node.end !== 0) this.note(`${node.instanceId} ended with ${String(node.end)}: ${node.errors}`)
      return
    }
    this.note(`${node.instanceId} did not end within ${String(stopWithinMs)} ms of SIGTERM: ${node.errors}`)
    await node.kill()
  }

  /** Instance ids that check in. */
  async members(): Promise<string[]> {
    const rows = await this.database.query('SELECT instance_name FROM qrtz_scheduler_state')
    return rows.map((row) => String(row['instance_name'])).sort()
  }

  /** Starts every node of the first generation. */
  async start(): Promise<void> {
    for (const node of this.nodes) await node.ask('start')
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) await node.stop().catch(() => {})
  }

  /** Adds one-shots all the time, on any node, until told to stop. */
  keepAdding(load: Load, random: SimRandom): () => Promise<void> {
    const stopped = new AbortController()
    const pending = new Set<Promise<void>>()
    const adding = (async () => {
      while (!stopped.signal.aborted) {
        const added = load
          .scheduleOneShot(random.pick(this.nodes), Date.now() + random.integer(0, 3000))
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

  /** What processes did that they should not have. */
  processProblems(lines: readonly LogLine[]): string[] {
    return [
      ...this.notes,
      ...this.nodes.flatMap(({ instanceId, end, errors }) =>
        end === 0 ? [] : [`${instanceId} ended with ${String(end)}: ${errors}`],
      ),
      ...roles.flatMap((role) =>
        lines.some((line) => line.node.startsWith(role) && line.kind === 'ended')
          ? []
          : [`${role} ran nothing`],
      ),
    ]
  }

  async #succeed(index: number): Promise<void> {
    const role = roles[index] ?? expect.fail('no such node')
    this.past.push(this.#at(index))
    const instanceId = `${role}-${String(++this.#generation)}`
    for (const giveUpMs = Date.now() + 60_000; ; ) {
      try {
        const node = await this.#open(index, instanceId)
        await node.ask('start')
        this.nodes[index] = node
        return
      } catch (error) {
        // The server may be away just now.
        if (Date.now() > giveUpMs) throw error
        await sleep(500)
      }
    }
  }

  async #open(index: number, instanceId: string): Promise<ChaosNode> {
    const role = roles[index] ?? expect.fail('no such node')
    const direct = this.database.connectionString
    const { withThreads = false, storeOptions = {} } = this.#options
    const node = await ChaosNode.open({
      store: 'postgres',
      location: index === roles.length - 1 ? this.proxy.through(direct) : direct,
      log: this.log,
      instanceId,
      withThreads,
      clockOffsetMs: clockOffsets[role],
      storeOptions: {
        ...cluster,
        poolSize: 5,
        connectTimeoutMs: 3000,
        statementTimeoutMs: 5000,
        ...storeOptions,
      },
      schedulerOptions: { idleWaitMs: 1000, misfireThresholdMs },
    })
    onTestFinished(() => node.kill())
    return node
  }

  #at(index: number): ChaosNode {
    return this.nodes[index] ?? expect.fail('no such node')
  }
}
