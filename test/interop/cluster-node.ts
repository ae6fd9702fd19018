import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { commandOf, jobFields, type PlannedJob, type PlannedTrigger } from './plans.ts'

export const schedulerName = 'shared'

export interface NodeOptions {
  readonly connectionString: string
  /** File of the history, common to all nodes. */
  readonly history: string
  readonly instanceId: string
}

export interface JavaProcessOptions extends NodeOptions {
  /** Whether Java acquires under its lock; its own default is that it does not. Default true. */
  readonly acquireWithinLock?: boolean
}

export interface NodeProcessOptions extends NodeOptions {
  /** Default `quartzLocks`. */
  readonly locking?: 'quartzLocks' | 'skipLocked'
}

export interface ReadKey {
  readonly name: string
  readonly group: string
}

/** What a node answers: a line of JSON. */
type Answer = { readonly ready: true } | { readonly answer: unknown } | { readonly error: string }

interface Question {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

/** A node of a shared cluster, of either kind: a process that obeys the commands of a test, one after the other. */
export class ClusterNode implements AsyncDisposable {
  readonly instanceId: string
  readonly #child: ChildProcessWithoutNullStreams
  readonly #ended: Promise<unknown[]>
  readonly #questions: Question[] = []
  #errors = ''

  private constructor(instanceId: string, child: ChildProcessWithoutNullStreams) {
    this.instanceId = instanceId
    this.#child = child
    this.#ended = once(child, 'close')
    // A write to a process that has ended; its end answers the question.
    child.stdin.on('error', () => {})
    child.stderr.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString()
    })
    createInterface(child.stdout).on('line', (line) => {
      this.#answered(JSON.parse(line) as Answer)
    })
    child.once('close', (code: number | null, signal: string | null) => {
      const end = `${instanceId} ended (${String(code ?? signal)}): ${this.#errors}`
      for (const { reject } of this.#questions.splice(0)) reject(new Error(end))
    })
  }

  /** A Java Quartz scheduler, not yet opened. */
  static async java(options: JavaProcessOptions): Promise<ClusterNode> {
    const classPath = inject('javaClassPath')
    if (classPath === null) throw new Error('There is no Java Quartz here')
    const url = new URL(options.connectionString)
    const database = [`jdbc:postgresql://${url.host}${url.pathname}`, url.username, url.password]
    const flags = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Duser.timezone=UTC']
    const warnings = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
    const identity = [schedulerName, options.instanceId, options.history]
    const settings = [String(options.acquireWithinLock ?? true)]
    const main = ['-cp', classPath, 'interop.QuartzNode']
    const args = [...flags, warnings, ...main, ...database, ...identity, ...settings]
    return ClusterNode.#spawned(options.instanceId, spawn('java', args, { stdio: 'pipe' }))
  }

  /** A scheduler of this package, as built, not yet opened. */
  static async node(options: NodeProcessOptions): Promise<ClusterNode> {
    const script = fileURLToPath(new URL('quartz-node.mjs', import.meta.url))
    const { connectionString, history, instanceId, locking = 'quartzLocks' } = options
    const args = [script, connectionString, schedulerName, instanceId, history, locking]
    const env = { ...process.env, TZ: 'UTC' }
    return ClusterNode.#spawned(instanceId, spawn(process.execPath, args, { stdio: 'pipe', env }))
  }

  static async #spawned(instanceId: string, child: ChildProcessWithoutNullStreams): Promise<ClusterNode> {
    const node = new ClusterNode(instanceId, child)
    await node.#question()
    return node
  }

  /** What the process wrote as warnings so far. */
  get errors(): string {
    return this.#errors
  }

  /** Tells the node to do something; fails with what the node says went wrong. */
  async ask(op: string, fields: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const answer = this.#question()
    this.#child.stdin.write(`${new URLSearchParams({ op, ...fields }).toString()}\n`)
    return answer
  }

  /** Creates the scheduler and joins the cluster. */
  async open(): Promise<this> {
    await this.ask('open')
    return this
  }

  async openAndStart(): Promise<this> {
    await this.open()
    await this.ask('start')
    return this
  }

  /** Stores a trigger, with its job if one is given; answers its next fire times, `show` of them. */
  async schedule(trigger: PlannedTrigger, job: PlannedJob | null, show = 10): Promise<number[]> {
    return (await this.ask('schedule', commandOf(trigger, job, show))) as number[]
  }

  /** Stores a job, over one of the same key. */
  async addJob(job: PlannedJob): Promise<void> {
    await this.ask('addJob', jobFields(job))
  }

  async readTrigger({ name, group }: ReadKey): Promise<unknown> {
    return this.ask('readTrigger', { name, group })
  }

  async readJob({ name, group }: ReadKey): Promise<unknown> {
    return this.ask('readJob', { 'job.name': name, 'job.group': group })
  }

  /** Ends the process at once, as a machine that loses its power. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Lets running jobs end, then the process. */
  async stop(): Promise<void> {
    this.#child.stdin.end()
    await this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  async #question(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#child.exitCode === null && this.#child.signalCode === null) {
        this.#questions.push({ resolve, reject })
      } else {
        reject(new Error(`${this.instanceId} has ended: ${this.#errors}`))
      }
    })
  }

  #answered(answer: Answer): void {
    const question = this.#questions.shift()
    if (question === undefined)
      throw new Error(`${this.instanceId} answered unasked: ${JSON.stringify(answer)}`)
    if ('error' in answer) question.reject(new Error(`${this.instanceId}: ${answer.error}`))
    else question.resolve('answer' in answer ? answer.answer : undefined)
  }
}
