import { expect, onTestFinished } from 'vitest'
import { JobPersistenceError } from '../../src/core/errors.ts'
import { seededIds } from '../../src/core/ids.ts'
import { resolveRecordOptions } from '../../src/jobstore/record-options.ts'
import type { SchedulerSignaler } from '../../src/jobstore/scheduler-signaler.ts'
import { EventLoopCheckIns } from '../../src/jobstore/sql/cluster/check-in.ts'
import { ClusterNode, type ClusterNodeOptions } from '../../src/jobstore/sql/cluster/cluster-node.ts'
import type { SqlDialect } from '../../src/jobstore/sql/kernel/sql-dialect.ts'
import type {
  SqlRunner,
  TransactionLock,
  TransactionOptions,
} from '../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlProgram, SqlRow, SqlValue } from '../../src/jobstore/sql/kernel/statement.ts'
import { migrate } from '../../src/jobstore/sql/migrations/migrate.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { sqliteDialect } from '../../src/jobstore/sqlite/sqlite-dialect.ts'
import { openSqlite } from '../../src/jobstore/sqlite/sqlite-runner.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import type { EpochMs } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { sqliteWords } from './sqlite.ts'

/** The way of one node to the database, which can be cut. */
class NodeRunner implements SqlRunner {
  /** `away` fails at once, `gone` never answers: what a process that was killed sees. */
  state: 'there' | 'away' | 'gone' = 'there'
  /** What is asked is carried out, and the answer is an error. */
  losesAnswers = false
  #answer: Promise<void> | null = null
  #delayed: { readonly lock: TransactionLock; readonly until: Promise<void> } | null = null
  /** Every statement that was run. */
  readonly texts: string[] = []
  /** Statements since `failAt`. */
  statementCount = 0
  #failAt = Number.POSITIVE_INFINITY
  readonly #shared: SqlRunner

  constructor(shared: SqlRunner) {
    this.#shared = shared
  }

  /** Lets the n-th statement from now on fail, and no other one. */
  failAt(count: number): void {
    this.statementCount = 0
    this.#failAt = count
  }

  /** The answer to the next transaction comes when it is told to. */
  delayAnswer(): { readonly come: () => void } {
    let come = (): void => {}
    this.#answer = new Promise((resolve) => {
      come = resolve
    })
    return { come }
  }

  /** Transactions with this lock wait, as for others that hold it, until they are told to begin. */
  delay(lock: TransactionLock): { readonly begin: () => void } {
    let begin = (): void => {}
    const until = new Promise<void>((resolve) => {
      begin = resolve
    })
    this.#delayed = { lock, until }
    return { begin }
  }

  async transact<Answer>(begin: () => SqlProgram<Answer>, options: TransactionOptions): Promise<Answer> {
    await this.#pass()
    if (this.#delayed?.lock === options.lock) await this.#delayed.until
    const late = this.#answer
    this.#answer = null
    const answer = await this.#shared.transact(() => this.#counted(begin()), options)
    await late
    if (this.losesAnswers) throw new JobPersistenceError('The answer was lost.')
    return answer
  }
  async read<Answer>(begin: () => SqlProgram<Answer>): Promise<Answer> {
    await this.#pass()
    return this.#shared.read(() => this.#counted(begin()))
  }
  async close(): Promise<void> {}

  *#counted<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
    let step = program.next()
    while (step.done !== true) {
      this.statementCount++
      this.texts.push(step.value.text)
      if (this.statementCount === this.#failAt) throw new JobPersistenceError('The statement failed.')
      step = program.next(yield step.value)
    }
    return step.value
  }

  async #pass(): Promise<void> {
    if (this.state === 'away') throw new JobPersistenceError('The database is away.')
    if (this.state === 'gone') await new Promise<never>(() => {})
  }
}

export interface TestNode {
  readonly bed: Testbed
  readonly runner: NodeRunner
  /** The instants for which it woke the others. */
  readonly wakes: EpochMs[]
  /** There once the node was started. */
  readonly member: () => ClusterNode
  readonly start: () => Promise<void>
  /** No more is heard of it. */
  readonly kill: () => void
}

/** What differs from {@link clusterDefaults}. */
type NodeOptions = Partial<ClusterNodeOptions> &
  Pick<SqlEngine, 'jobGroupLimits'> & {
    /** What the node tells others that it has the code of. Default: nothing. */
    readonly jobTypes?: readonly string[]
  }

/** A cluster on one database in memory and one clock that stands still. */
export class TestCluster {
  readonly clock: ManualClock = new ManualClock()
  readonly #shared: SqlRunner
  readonly #dialect: SqlDialect
  #nodeCount = 0
  /** Of the schedulers, by their nodes. */
  readonly #signalers = new Map<string, SchedulerSignaler>()
  /** How many transactions the schedulers have made. */
  transactionCount = 0

  private constructor(shared: SqlRunner, dialect: SqlDialect) {
    this.#shared = shared
    this.#dialect = dialect
  }

  static async open(dialect: Partial<SqlDialect> = {}): Promise<TestCluster> {
    const cluster = new ManualClock()
    const runner = await openSqlite(
      { filename: ':memory:', synchronous: 'normal' },
      { clock: cluster, ids: seededIds(1), busyTimeoutMs: 1000 },
    )
    onTestFinished(() => runner.close())
    await migrate(runner, sqliteWords, cluster.now())
    return new TestCluster(runner, { ...sqliteDialect, ...dialect })
  }

  /** A node that is connected and not started. */
  async node(instanceId: string, options: NodeOptions = {}): Promise<TestNode> {
    this.#nodeCount++
    const runner = new NodeRunner(this.#shared)
    const wakes: EpochMs[] = []
    const { jobTypes = [], ...rest } = options
    const { engine, member } = this.#engine(runner, rest, (earliestMs) => {
      wakes.push(earliestMs)
    })
    const bed = new Testbed(new SqlJobStore(engine), this.clock, instanceId)
    await bed.store.initialize({
      ...bed.context,
      ids: seededIds(100 + this.#nodeCount),
      jobTypes: () => jobTypes,
    })
    return {
      bed,
      runner,
      wakes,
      member: () => member() ?? expect.fail('not started'),
      start: () => bed.store.schedulerStarted(),
      kill: () => {
        runner.state = 'gone'
      },
    }
  }

  /** A scheduler that takes part, and hears from the others. */
  async startScheduler(
    instanceId: string,
    { jobGroupLimits, ...options }: SchedulerOptions & Pick<NodeOptions, 'jobGroupLimits'>,
  ): Promise<Scheduler> {
    this.#nodeCount++
    const counted: SqlRunner = {
      transact: (begin, transaction) => {
        this.transactionCount++
        return this.#shared.transact(begin, transaction)
      },
      read: (begin) => this.#shared.read(begin),
      close: async () => {},
    }
    const limits = jobGroupLimits === undefined ? {} : { jobGroupLimits }
    const { engine } = this.#engine(counted, limits, (earliestMs) => {
      for (const [peer, signaler] of this.#signalers) {
        if (peer !== instanceId) signaler.schedulingChanged(earliestMs)
      }
    })
    const connect: SqlEngine['connect'] = (session) => {
      this.#signalers.set(instanceId, session.context.signaler)
      return engine.connect(session)
    }
    const scheduler = await createScheduler({
      clock: this.clock,
      ids: seededIds(100 + this.#nodeCount),
      logger: false,
      instanceId,
      ...options,
      jobStore: new SqlJobStore({ ...engine, connect }),
    })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.start()
    return scheduler
  }

  #engine(
    runner: SqlRunner,
    { jobGroupLimits = new Map<string, number>(), ...changes }: Omit<NodeOptions, 'jobTypes'>,
    wakePeers: (earliestMs: EpochMs) => void,
  ): { readonly engine: SqlEngine; readonly member: () => ClusterNode | null } {
    let member: ClusterNode | null = null
    const engine: SqlEngine = {
      name: 'test',
      capabilities: { persistent: false, clustered: true },
      ...sqliteWords,
      dialect: this.#dialect,
      encoding: 'json',
      records: resolveRecordOptions('test'),
      jobGroupLimits,
      onSchema: (work) => work(runner),
      connect: () =>
        Promise.resolve({
          runner,
          start: (transactor) => {
            member = new ClusterNode(
              transactor,
              { ...clusterDefaults, ...changes },
              new EventLoopCheckIns(transactor),
            )
            return member.start()
          },
          mayClaim: async () => member?.confirm(),
          mayClaimNow: () => member?.isConfirmed !== false,
          confirmFirings: () => member?.confirmFirings(),
          wakePeers,
          close: async () => member?.stop(),
          cutOff: () => member?.cutOff(),
        }),
    }
    return { engine, member: () => member }
  }

  /** A node that takes part. */
  async startNode(instanceId: string, options: NodeOptions = {}): Promise<TestNode> {
    const node = await this.node(instanceId, options)
    await node.start()
    return node
  }

  /** Runs a statement by itself. */
  sql(text: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#shared.transact(
      function* () {
        return (yield { text, values }).rows
      },
      { lock: 'rows' },
    )
  }

  /** The instance ids of the state table. */
  async members(): Promise<unknown[]> {
    const rows = await this.sql('SELECT instance_name FROM qrtz_scheduler_state ORDER BY instance_name')
    return rows.map((row) => row['instance_name'])
  }

  async firedRows(): Promise<unknown[]> {
    const rows = await this.sql('SELECT trigger_name, state FROM qrtz_fired_triggers ORDER BY trigger_name')
    return rows.map((row) => `${String(row['trigger_name'])} ${String(row['state'])}`)
  }
}

export const clusterDefaults: ClusterNodeOptions = {
  checkInIntervalMs: 1500,
  failedAfterMs: 6000,
  locking: null,
  sweepIntervalMs: 60_000,
}
