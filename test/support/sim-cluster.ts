import type Database from 'better-sqlite3'
import { seededIds } from '../../src/core/ids.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobExecutionContext, JobSource } from '../../src/jobs/job-definition.ts'
import { resolveRecordOptions } from '../../src/jobstore/record-options.ts'
import { EventLoopCheckIns } from '../../src/jobstore/sql/cluster/check-in.ts'
import { ClusterNode } from '../../src/jobstore/sql/cluster/cluster-node.ts'
import type { SqlSession } from '../../src/jobstore/sql/session/sql-session.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import type { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { sqliteDialect } from '../../src/jobstore/sqlite/sqlite-dialect.ts'
import type { SqliteRunner } from '../../src/jobstore/sqlite/sqlite-runner.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { InjectedFailure } from './intercept-job-store.ts'
import { SimClock } from './sim-clock.ts'
import {
  addStrays,
  emptyDatabase,
  hasUnfinished,
  leftProblems,
  memberProblems,
  removeStrays,
  runnerOf,
  stateProblems,
  writtenDown,
} from './sim-cluster-database.ts'
import { clusterJobs } from './sim-cluster-jobs.ts'
import { judge, type Run } from './sim-cluster-judge.ts'
import { keepLedger, type LedgerRow } from './sim-cluster-ledger.ts'
import {
  type SimNode as Node,
  SimProcess,
  SimWay,
  type StatementBug,
  storeWith,
  type WayFaults,
} from './sim-cluster-node.ts'
import { ClusterOperations, type JobKind, jobKinds } from './sim-cluster-operations.ts'
import { SimForeignLocks } from './sim-foreign-locks.ts'
import type { ClusterExtras, SimGuests } from './sim-guests.ts'
import { invitedGuests } from './sim-invited-guests.ts'
import { SimRandom } from './sim-random.ts'
import { SimSessions } from './sim-sessions.ts'
import { sqliteWords } from './sqlite.ts'

export interface ClusterSimulation {
  readonly seed: number
  readonly violations: readonly string[]
  readonly fingerprint: string
  readonly firings: number
  readonly recoveries: number
}

const failedAfterMs = 6000
/** A job whose row another session holds when all is calm. */
const heldJob = 'strict-1'
/** A node that is well and has free slots is not later than this, whatever else is in the tables. */
const mostLateMs = 1100
const idleWaitsMs = [1000, 5000] as const
const wayFaults: WayFaults = { delay: 0.15, failure: 0.04, lostReply: 0.02, crash: 0.0015 }

/** Runs one seed: a cluster on one database, from an empty one to the day after, also with jobs of other kinds. */
export async function simulateCluster(
  seed: number,
  bug: StatementBug = {},
  { guests = null, sessions = false }: ClusterExtras = {},
): Promise<ClusterSimulation> {
  const database = await emptyDatabase()
  const world = new ClusterWorld(seed, bug, database, { guests, sessions })
  try {
    return await world.run()
  } finally {
    database.close()
  }
}

class ClusterWorld {
  readonly #seed: number
  readonly #bug: StatementBug
  readonly #database: Database.Database
  readonly #random: SimRandom
  readonly #clock: SimClock
  readonly #runner: SqliteRunner
  readonly #nodes: Node[] = []
  readonly #operations: ClusterOperations
  /** With choices of its own, so that seeds stay what they are without it. */
  readonly #guests: SimGuests | null
  /** Nodes that claim what is due before they fire it. */
  readonly #claimFirst = new Set<string>()
  readonly #foreignLocks: SimForeignLocks
  readonly #sessions: SimSessions | null
  readonly #runs: Run[] = []
  readonly #violations: string[] = []
  readonly #hasSkew: boolean
  readonly #wakes: boolean
  readonly #durationMaxMs: number
  readonly #poolSize: number
  #faults: WayFaults | null = null
  #acting = { process: 0, lock: '' }

  constructor(seed: number, bug: StatementBug, database: Database.Database, extras: Required<ClusterExtras>) {
    const random = new SimRandom(seed)
    const ties = random.fork()
    this.#seed = seed
    this.#bug = bug
    this.#database = database
    this.#random = random
    this.#clock = new SimClock(Date.UTC(2026, 0, 15, 12), () => ties.next())
    this.#runner = runnerOf(database, this.#clock, seed)
    this.#hasSkew = random.chance(0.4)
    this.#wakes = random.chance(0.5)
    this.#durationMaxMs = random.pick([10, 1500, 5000])
    this.#poolSize = random.pick([1, 3, 10])
    this.#operations = new ClusterOperations(this.#clock, random.fork())
    this.#foreignLocks = new SimForeignLocks(this.#clock, random.fork())
    this.#sessions = extras.sessions ? new SimSessions(this.#clock, new SimRandom(seed + 2_000_000)) : null
    this.#guests = invitedGuests(extras.guests, {
      clock: this.#clock,
      random: new SimRandom(seed + 1_000_000),
      database,
      nodes: () => this.#up().flatMap(({ scheduler }) => scheduler() ?? []),
    })
  }

  async run(): Promise<ClusterSimulation> {
    const clock = this.#clock
    this.#database.function('sim_process', () => this.#acting.process)
    this.#database.function('sim_lock', () => this.#acting.lock)
    this.#database.function('sim_elapsed', () => Math.floor(clock.elapsedMs()))
    this.#database.function('sim_now', () => clock.now())
    keepLedger(this.#database)
    this.#guests?.keepLedger(this.#database)
    try {
      await clock.runUntil(this.#live(), 24 * 3_600_000)
    } catch (error) {
      this.#violations.push(error instanceof Error ? String(error.stack) : String(error))
    }
    const ledger = this.#all<LedgerRow>('SELECT * FROM ledger ORDER BY id')
    const { violations, firings, recoveries } = judge({
      ledger,
      wishes: this.#operations.wishes,
      runs: this.#runs,
      ...writtenDown(this.#database),
      isDead: (number) => this.#nodes[number]?.process.state === 'dead',
      wasTroubled: (instance, at) =>
        this.#nodes.some(
          ({ instanceId, process }) =>
            instanceId === instance &&
            process.troubles.some(({ fromMs, untilMs }) => fromMs <= at && at <= untilMs + 2 * failedAfterMs),
        ),
    })
    return {
      seed: this.#seed,
      violations: [...this.#violations, ...violations, ...(this.#guests?.judge(ledger, this.#runs) ?? [])],
      fingerprint: JSON.stringify(ledger),
      firings,
      recoveries,
    }
  }

  async #live(): Promise<void> {
    const random = this.#random
    const count = random.integer(2, 4)
    for (let index = 0; index < count; index++) this.#newNode(`n${index}`)
    await this.#clock.sleep(100)
    await this.#persist((scheduler) => this.#operations.populate(scheduler))
    const guests = this.#guests
    if (guests !== null) await this.#persist((scheduler) => guests.populate(scheduler))
    this.#setFaults(random.chance(0.8) ? wayFaults : null)
    const untilMs = this.#clock.elapsedMs() + random.integer(20_000, 60_000)
    await Promise.all([
      ...(guests?.areAlone === true ? [] : [this.#operate(untilMs), this.#operate(untilMs)]),
      ...(guests === null ? [] : [this.#operate(untilMs, guests)]),
      this.#disturb(untilMs),
      ...(this.#sessions === null ? [] : [this.#sessions.disturb(untilMs)]),
      this.#foreignLocks.disturb(untilMs, this.#database),
    ])
    await this.#calmDown()
    if (guests?.scheduleLast !== undefined) {
      await this.#persist(async (scheduler) => guests.scheduleLast?.(scheduler))
      await this.#clock.sleep(60_000)
    }
    this.#checkCalm()
    await this.#checkStrays()
    for (const node of this.#up()) await node.scheduler()?.shutdown({ waitForJobsToComplete: true })
    const left = this.#all<{ what: string }>('SELECT instance_name AS what FROM qrtz_scheduler_state')
    this.#violations.push(...left.map(({ what }) => `${what} is left in the cluster`))
  }

  #setFaults(faults: WayFaults | null): void {
    this.#faults = faults
    for (const { way } of this.#nodes) way.faults = faults
  }

  #up(): Node[] {
    return this.#nodes.filter(({ process, scheduler }) => process.state === 'up' && scheduler() !== null)
  }

  /** Starts a process with a scheduler in it. */
  #newNode(instanceId: string): Node {
    const random = this.#random
    const number = this.#nodes.length
    const skewMs = this.#hasSkew ? random.pick([0, 400, -5000, 3_600_000, -3_600_000]) : 0
    const process = new SimProcess(this.#clock, skewMs)
    const way = new SimWay({
      process,
      random: random.fork(),
      shared: this.#runner,
      bug: this.#bug,
      foreignLocks: this.#foreignLocks,
      actAs: (lock) => {
        this.#acting = { process: number, lock }
      },
    })
    const made: { scheduler: Scheduler | null; session: SqlSession | null } = {
      scheduler: null,
      session: null,
    }
    const node: Node = {
      number,
      instanceId,
      process,
      way,
      session: () => made.session,
      scheduler: () => made.scheduler,
    }
    this.#nodes.push(node)
    const engine = this.#engine(node, (session) => {
      made.session = session
    })
    void this.#startScheduler(node, engine).then((scheduler) => {
      made.scheduler = scheduler
      way.faults = this.#faults
    })
    return node
  }

  async #startScheduler({ number, instanceId, process }: Node, engine: SqlEngine): Promise<Scheduler> {
    const random = this.#random
    const scheduler = await createScheduler({
      logger: false,
      clock: process,
      ids: seededIds(this.#seed * 100 + number),
      instanceId,
      jobStore: this.#store(engine, instanceId),
      threadPool: inProcessThreadPool({ size: this.#poolSize }),
      jobs: this.#jobs(number, random.fork()),
      idleWaitMs: random.pick(idleWaitsMs),
      misfireThresholdMs: random.pick([1000, 60_000]),
      batchTimeWindowMs: random.pick([0, 0, 1000]),
    })
    this.#guests?.watch(scheduler)
    void this.#start(scheduler, process)
    return scheduler
  }

  #store(engine: SqlEngine, instanceId: string): SqlJobStore {
    const store = storeWith(this.#bug, engine)
    if (this.#guests?.claimsFirst?.() !== true) return store
    delete store.acquireAndFire
    this.#claimFirst.add(instanceId)
    return store
  }

  /** Tries until it works, as whoever supervises a process does. */
  async #start(scheduler: Scheduler, process: SimProcess): Promise<void> {
    for (;;) {
      try {
        await scheduler.start()
        return
      } catch (error) {
        const isOnPurpose = error instanceof Error && error.cause instanceof InjectedFailure
        if (!isOnPurpose) this.#violations.push(`a node did not start: ${String(error)}`)
      }
      await new Promise<void>((resolve) => {
        process.setTimer(500, resolve)
      })
    }
  }

  #engine(node: Node, onConnect: (session: SqlSession) => void): SqlEngine {
    let member: ClusterNode | null = null
    return {
      name: 'simulated',
      capabilities: { persistent: true, clustered: true },
      ...sqliteWords,
      dialect: { ...sqliteDialect, ...SimForeignLocks.dialect, ...(this.#hasSkew && { nowMs: 'sim_now()' }) },
      encoding: 'json',
      onSchema: (work) => work(node.way),
      records: resolveRecordOptions('simulated', this.#guests === null ? {} : { history: { record: 'all' } }),
      connect: (session) => {
        onConnect(session)
        return Promise.resolve({
          runner: node.way,
          start: (transactor) => {
            const times = { checkInIntervalMs: 1500, failedAfterMs, sweepIntervalMs: 3_600_000 }
            const own = this.#sessions?.driver(transactor, node.process, node.way)
            const driver = own ?? new EventLoopCheckIns(transactor)
            member = new ClusterNode(transactor, { ...times, locking: null }, driver)
            return member.start()
          },
          mayClaim: async () => member?.confirm(),
          confirmFirings: () => member?.confirmFirings(),
          mayClaimNow: () => member?.isConfirmed !== false,
          wakePeers: (earliestMs) => {
            this.#wakePeers(node, earliestMs)
          },
          close: async () => member?.stop(),
          cutOff: () => member?.cutOff(),
        })
      },
    }
  }

  #wakePeers(node: Node, earliestMs: number): void {
    if (!this.#wakes) return
    for (const peer of this.#nodes) {
      if (peer === node) continue
      this.#clock.setTimer(2, () => {
        peer.process.do(() => peer.session()?.context.signaler.schedulingChanged(earliestMs))
      })
    }
  }

  #jobs(process: number, random: SimRandom): JobSource[] {
    const work = async (context: JobExecutionContext, kind: JobKind): Promise<void> => {
      const run: Run = {
        entry: context.fireInstanceId,
        process,
        jobName: context.jobKey.name,
        hasEnded: false,
        hasFailed: false,
      }
      this.#checkStart(run)
      this.#runs.push(run)
      try {
        const durationMs = random.integer(0, this.#durationMaxMs)
        await this.#nodes[process]?.process.sleep(durationMs)
        if (kind === 'retrying' && random.chance(0.3)) {
          run.hasFailed = true
          throw new Error('the job failed')
        }
      } finally {
        run.hasEnded = true
      }
    }
    const own = this.#nodes[process]?.process
    const further = own && this.#guests?.jobs((context) => work(context, 'retrying'), own)
    return [...clusterJobs(work), further ?? []].flat()
  }

  /** A body may begin only for an execution that is its own, and beside no other one of a non-concurrent job. */
  #checkStart(run: Run): void {
    const isInFlight = ({ entry }: Run): boolean =>
      this.#all(`SELECT 1 FROM qrtz_fired_triggers WHERE state = 'EXECUTING' AND entry_id = '${entry}'`)
        .length > 0
    this.#violations.push(...stateProblems(this.#database))
    // A node that stood still may find out too late that its work was recovered.
    if (!isInFlight(run)) return
    const isStrict = Object.entries(jobKinds).some(
      ([kind, { disallowConcurrentExecution }]) =>
        disallowConcurrentExecution && run.jobName.startsWith(`${kind}-`),
    )
    const beside = this.#runs.find(
      (other) =>
        isStrict &&
        other.jobName === run.jobName &&
        !other.hasEnded &&
        this.#nodes[other.process]?.process.state === 'up' &&
        isInFlight(other),
    )
    if (beside !== undefined)
      this.#violations.push(`${run.jobName} overlaps: ${run.entry} beside ${beside.entry}`)
  }

  /** What users do, on any node that is up. */
  async #operate(untilMs: number, users: Pick<SimGuests, 'run'> = this.#operations): Promise<void> {
    const random = this.#random
    while (this.#clock.elapsedMs() < untilMs) {
      await this.#clock.sleep(random.integer(0, 2500))
      this.#violations.push(...stateProblems(this.#database))
      const up = this.#up()
      if (up.length === 0) continue
      const node = random.pick(up)
      const scheduler = node.scheduler()
      if (scheduler === null) continue
      const operation = users.run(scheduler).catch(() => false)
      // What is asked of a node that dies is never answered.
      await Promise.race([operation, this.#clock.sleep(5000)])
    }
  }

  /** What befalls processes. */
  async #disturb(untilMs: number): Promise<void> {
    const random = this.#random
    while (this.#clock.elapsedMs() < untilMs) {
      await this.#clock.sleep(random.integer(500, 12_000))
      const up = this.#up()
      const node = up.length === 0 ? null : random.pick(up)
      if (node === null) this.#newNode(`late${this.#nodes.length}`)
      else if (random.chance(0.35)) {
        node.process.kill()
        if (random.chance(0.7)) {
          await this.#clock.sleep(random.integer(0, 10_000))
          this.#newNode(random.chance(0.5) ? node.instanceId : `late${this.#nodes.length}`)
        }
      } else this.#freeze(node, random.pick([500, 4000, 9000, 14_000]))
    }
  }

  #freeze({ process }: Node, ms: number): void {
    process.freeze()
    this.#clock.setTimer(ms, () => {
      process.thaw()
    })
  }

  /** Carries something out on whichever node does it. */
  async #persist(action: (scheduler: Scheduler) => Promise<unknown>): Promise<void> {
    for (;;) {
      const [node] = this.#up()
      const scheduler = node?.scheduler() ?? null
      if (scheduler !== null) {
        const done = action(scheduler).then(
          () => true,
          () => false,
        )
        if (await Promise.race([done, this.#clock.sleep(20_000).then(() => false)])) return
      }
      await this.#clock.sleep(200)
    }
  }

  async #calmDown(): Promise<void> {
    this.#setFaults(null)
    await this.#clock.sleep(15_000)
    if (this.#up().length === 0) this.#newNode('last')
    await this.#clock.sleep(1000)
    await this.#persist(async (scheduler) => {
      await scheduler.resumeTriggers(GroupMatcher.anyGroup())
      await scheduler.resumeAll()
    })
    for (const node of this.#up()) await node.scheduler()?.start()
    const lastPlannedMs = Math.max(this.#operations.lastPlannedMs, this.#guests?.lastPlannedMs ?? 0)
    const leftMs = Math.max(0, lastPlannedMs - this.#clock.now())
    await this.#clock.sleep(leftMs + 10_000)
    // What was kept waiting by a job that allows one execution at a time, or by a small pool.
    for (let round = 0; round < 100 && hasUnfinished(this.#database); round++) {
      await this.#clock.sleep(5000)
    }
    // The last jobs end, and those who died last are recovered.
    await this.#clock.sleep(15_000)
  }

  #checkCalm(): void {
    const live = this.#up().map(({ instanceId }) => instanceId)
    this.#violations.push(...leftProblems(this.#database), ...memberProblems(this.#database, live))
  }

  /**
   * Rows that no node can do anything with, and rows that other sessions hold, must not be noticed by the others: a
   * trigger stored now fires in time, and one whose job was held fires soon after.
   */
  async #checkStrays(): Promise<void> {
    const once = this.#operations.oneShot.bind(this.#operations)
    // Later than any loop looks ahead, so that its row is held before a node claims it.
    await this.#persist((scheduler) => scheduler.scheduleJob(once('held', heldJob, 6000)))
    const release = this.#foreignLocks.holdJob(heldJob)
    await this.#clock.sleep(5600)
    addStrays(this.#database, this.#clock.now() - 500)
    await this.#persist((scheduler) => scheduler.scheduleJob(once('canary', 'plain-1', 400)))
    await this.#clock.sleep(400 + mostLateMs)
    this.#expectFired('canary', 'is late behind rows that no node can use')
    removeStrays(this.#database)
    // The canary may have the only slot until it ends.
    await this.#clock.sleep(this.#durationMaxMs)
    release()
    // A node that claims first is not told what it has left, and looks again when its idle wait is over.
    const areTold = this.#up().some(({ instanceId }) => !this.#claimFirst.has(instanceId))
    await this.#clock.sleep(areTold ? mostLateMs : Math.max(...idleWaitsMs) + mostLateMs)
    this.#expectFired('held', 'is late although its job is free again')
    // What late ones run ends, too.
    await this.#clock.sleep(15_000)
  }

  #expectFired(name: string, message: string): void {
    const [fired] = this.#all(`SELECT 1 FROM ledger WHERE kind = 'fired' AND trigger_name = '${name}'`)
    if (fired === undefined) this.#violations.push(`${name} ${message}`)
  }

  #all<Row>(query: string): Row[] {
    return this.#database.prepare<[], Row>(query).all()
  }
}
