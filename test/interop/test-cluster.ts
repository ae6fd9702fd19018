import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { ClusterNode, type JavaProcessOptions, type NodeProcessOptions } from './cluster-node.ts'
import { type FireLine, readHistory } from './fire-history.ts'

/** Far more than any node needs, also for noticing that another one died. */
const patienceMs = 60_000

/** A database and a history that nodes of both kinds share; all of it goes when the test ends. */
export class TestCluster implements AsyncDisposable {
  readonly database: TestDatabase
  readonly history: string
  readonly #folder: string
  readonly #nodes: ClusterNode[] = []

  private constructor(database: TestDatabase, folder: string) {
    this.database = database
    this.#folder = folder
    this.history = join(folder, 'history')
  }

  static async create(): Promise<TestCluster> {
    return new TestCluster(await freshDatabase(), await mkdtemp(join(tmpdir(), 'quartz-ts-interop-')))
  }

  async java(
    instanceId: string,
    options: Pick<JavaProcessOptions, 'acquireWithinLock'> = {},
  ): Promise<ClusterNode> {
    return this.#joined(await ClusterNode.java({ ...this.#options(instanceId), ...options }))
  }

  async node(instanceId: string, options: Pick<NodeProcessOptions, 'locking'> = {}): Promise<ClusterNode> {
    return this.#joined(await ClusterNode.node({ ...this.#options(instanceId), ...options }))
  }

  /** Waits for a line of the history. */
  async line(matches: (line: FireLine) => boolean, timeout: number = patienceMs): Promise<FireLine> {
    return vi.waitUntil(async () => (await readHistory(this.history)).find(matches), {
      timeout,
      interval: 100,
    })
  }

  async lines(): Promise<FireLine[]> {
    return readHistory(this.history)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill()))
    await this.database[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true, force: true })
  }

  #options(instanceId: string): NodeProcessOptions {
    return { connectionString: this.database.connectionString, history: this.history, instanceId }
  }

  #joined(node: ClusterNode): ClusterNode {
    this.#nodes.push(node)
    return node
  }
}
