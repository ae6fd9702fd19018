import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { PostgresJobStoreOptions } from '../../src/jobstore/postgres/postgres-options.ts'
import type { SchedulerBehaviour } from '../../src/scheduler/scheduler-options.ts'

/** Where a node ends itself with SIGKILL, or has itself stand still with SIGSTOP. */
export const killPoints = [
  'afterAcquire',
  'afterFired',
  'afterFiredAtOnce',
  'beforeRun',
  'midRun',
  'midRecoverableRun',
  'beforeCompletion',
  'afterCompletion',
  'duringRecovery',
] as const
export type KillPoint = (typeof killPoints)[number]

/** What a node process is told when it begins. */
export interface ChaosNodeOptions {
  readonly store: 'sqlite' | 'postgres'
  /** A file, or where the server is. */
  readonly location: string
  /** The file that all nodes append what happens to. */
  readonly log: string
  readonly instanceId: string
  readonly killAt?: {
    readonly point: KillPoint
    readonly nth: number
    /** Default SIGKILL. */
    readonly signal?: 'SIGKILL' | 'SIGSTOP'
  }
  /** It ends itself when it has sent these texts of SQL in order, or right before the last of them. */
  readonly killAtStatement?: { readonly texts: readonly string[]; readonly when: 'before' | 'after' }
  /** How wrong the clock of its machine is. */
  readonly clockOffsetMs?: number
  readonly poolSize?: number
  /** With jobs in worker threads. */
  readonly withThreads?: boolean
  readonly storeOptions?: PostgresJobStoreOptions
  readonly schedulerOptions?: SchedulerBehaviour
}

interface Refusal {
  readonly code: string | null
  readonly message: string
}

type Message = { readonly ready: true } | { readonly question: number; readonly error: Refusal | null }

/** A command that a node answered with an error, or did not live to answer. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal'
  readonly code: string | null

  constructor({ code, message }: Refusal) {
    super(message)
    this.code = code
  }
}

/** A node process and what the test does to it. */
export class ChaosNode {
  readonly instanceId: string
  /** Resolves when the process has ended. */
  readonly ended: Promise<unknown>
  readonly #child: ChildProcess
  readonly #questions = new Map<number, (error: Refusal | null) => void>()
  #asked = 0
  #errors = ''

  private constructor(instanceId: string, child: ChildProcess) {
    this.instanceId = instanceId
    this.#child = child
    // Not by `once`, which an error of the channel would reject.
    this.ended = new Promise((resolve) => child.once('exit', resolve))
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString()
    })
    // The channel to a process that was killed.
    child.on('error', () => {})
    child.on('message', (message: Message) => {
      if ('question' in message) this.#settle(message.question, message.error)
    })
    child.once('exit', () => {
      for (const question of this.#questions.keys()) {
        this.#settle(question, { code: 'ENDED', message: `${instanceId} ended: ${this.#errors}` })
      }
    })
  }

  /** A process whose scheduler is made and not yet started. */
  static async open({ killAtStatement, ...options }: ChaosNodeOptions): Promise<ChaosNode> {
    const script = fileURLToPath(new URL('node.mjs', import.meta.url))
    const killer = fileURLToPath(new URL('kill-at-statement.mjs', import.meta.url))
    const child = fork(script, [JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Not those of the test runner; memory is counted without what a collection takes away.
      execArgv: ['--expose-gc', ...(killAtStatement === undefined ? [] : ['--import', killer])],
      env: {
        ...process.env,
        ...(killAtStatement && { QUARTZ_TS_TEST_KILL_AT: JSON.stringify(killAtStatement) }),
      },
    })
    const node = new ChaosNode(options.instanceId, child)
    const isReady = await Promise.race([
      once(child, 'message').then(() => true),
      node.ended.then(() => false),
    ])
    if (!isReady) throw new Error(`${options.instanceId} did not begin: ${node.errors}`)
    return node
  }

  /** What the process wrote as its last words. */
  get errors(): string {
    return this.#errors
  }

  /** Null while it runs, then its exit code or the signal that ended it. */
  get end(): number | string | null {
    return this.#child.exitCode ?? this.#child.signalCode
  }

  /** Has the node do something. @throws NodeRefusal */
  async ask(op: string, fields: object = {}): Promise<void> {
    if (this.end !== null || !this.#child.connected) {
      throw new NodeRefusal({ code: 'ENDED', message: `${this.instanceId} has ended, or is about to` })
    }
    const question = ++this.#asked
    const refusal = await new Promise<Refusal | null>((resolve) => {
      this.#questions.set(question, resolve)
      this.#child.send({ op, question, ...fields })
    })
    if (refusal !== null) throw new NodeRefusal(refusal)
  }

  /** Lets its jobs end, then the process. */
  async stop(): Promise<void> {
    await this.ask('stop')
    await this.ended
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Asks the process to end, as a deploy does. */
  terminate(): void {
    this.#child.kill('SIGTERM')
  }

  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    if (this.end === null) this.#child.kill('SIGKILL')
    await this.ended
  }

  #settle(question: number, error: Refusal | null): void {
    this.#questions.get(question)?.(error)
    this.#questions.delete(question)
  }
}
