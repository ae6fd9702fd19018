import type Database from 'better-sqlite3'
import { seededIds } from '../../src/core/ids.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobExecutionContext } from '../../src/jobs/job-definition.ts'
import { resolveRecordOptions } from '../../src/jobstore/record-options.ts'
import type { SqlRunner } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { sharedConnection } from '../../src/jobstore/sqlite/sqlite-engine.ts'
import type { SqliteRunner } from '../../src/jobstore/sqlite/sqlite-runner.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { inProcessThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { InjectedFailure } from './intercept-job-store.ts'
import { SimClock } from './sim-clock.ts'
import {
  emptyDatabase,
  hasUnfinished,
  leftProblems,
  runnerOf,
  stateProblems,
  writtenDown,
} from './sim-cluster-database.ts'
import { clusterJobs } from './sim-cluster-jobs.ts'
import { judge, type Run } from './sim-cluster-judge.ts'
import { keepLedger, type LedgerRow } from './sim-cluster-ledger.ts'
import { SimProcess, SimWay, type StatementBug, type WayFaults } from './sim-cluster-node.ts'
import { ClusterOperations, type JobKind } from './sim-cluster-operations.ts'
import { SimForeignLocks } from './sim-foreign-locks.ts'
import { SimRandom } from './sim-random.ts'
import { sqliteWords } from './sqlite.ts'

export interface TakeOverSimulation {
  readonly seed: number
  readonly violations: readonly string[]
  /** How often another process became the holder. */
  readonly takeOvers: number
  readonly firings: number
}

const wayFaults: WayFaults = { delay: 0.15, failure: 0.02, lostReply: 0, crash: 0 }
/** Longer than a silence after which a holder is taken over, and shorter. */
const longEnoughMs = 40_000
const tooShortMs = 15_000
/** A former holder has learned by then that it is one. */
const learnsWithinMs = 7_000

/** A process with a scheduler on the file. */
interface Member {
  readonly instanceId: string
  readonly process: SimProcess
  readonly way: SimWay
  readonly scheduler: Scheduler
  /** What became of its start: null while it waits. */
  outcome: 'holds' | 'refused' | null
  wasTold: boolean
  /** When its present try to start began: one that fails has watched the holder in vain. */
  triesFromMs: number
}

/** Runs one seed: processes of other containers on one file, whose holder stands still, is killed or is deployed. */
export async function simulateTakeOvers(seed: number, bug: StatementBug = {}): Promise<TakeOverSimulation> {
  const database = await emptyDatabase()
  try {
    return await new TakeOverWorld(seed, bug, database).run()
  } finally {
    database.close()
  }
}

class TakeOverWorld {
  readonly #seed: number
  readonly #bug: StatementBug
  readonly #database: Database.Database
  readonly #random: SimRandom
  readonly #clock: SimClock
  readonly #runner: SqliteRunner
  readonly #operations: ClusterOperations
  readonly #members: Member[] = []
  readonly #runs: Run[] = []
  readonly #violations: string[] = []
  /** A process that schedules and never fires. */
  #outside: Member | null = null
  #faults: WayFaults | null = null
  #acting = { process: 0, lock: '' }

  constructor(seed: number, bug: StatementBug, database: Database.Database) {
    const random = new SimRandom(seed)
    const ties = random.fork()
    this.#seed = seed
    this.#bug = bug
    this.#database = database
    this.#random = random
    this.#clock = new SimClock(Date.UTC(2026, 0, 15, 12), () => ties.next())
    this.#runner = runnerOf(database, this.#clock, seed)
    this.#operations = new ClusterOperations(this.#clock, random.fork())
  }

  async run(): Promise<TakeOverSimulation> {
    const clock = this.#clock
    this.#database.function('sim_process', () => this.#acting.process)
    this.#database.function('sim_lock', () => this.#acting.lock)
    this.#database.function('sim_elapsed', () => Math.floor(clock.elapsedMs()))
    keepLedger(this.#database)
    this.#database.exec(`CREATE TABLE holders (ledger_id integer, process integer);
      CREATE TRIGGER h1 AFTER INSERT ON qrtz_scheduler_state BEGIN
        INSERT INTO holders VALUES ((SELECT COALESCE(max(id), 0) FROM ledger), sim_process()); END`)
    try {
      await clock.runUntil(this.#live(), 24 * 3_600_000)
    } catch (error) {
      this.#violations.push(error instanceof Error ? String(error.stack) : String(error))
    }
    const { violations, firings } = judge({
      ledger: this.#all<LedgerRow>('SELECT * FROM ledger ORDER BY id'),
      wishes: this.#operations.wishes,
      runs: this.#runs,
      ...writtenDown(this.#database),
      isDead: (number) => this.#members[number]?.process.state === 'dead',
      wasTroubled: () => true,
    })
    return {
      seed: this.#seed,
      violations: [...this.#violations, ...this.#unfenced(), ...violations],
      takeOvers: this.#all('SELECT 1 FROM holders').length - 1,
      firings,
    }
  }

  /** Firings that a process claimed, began or ended after another one had become the holder. */
  #unfenced(): string[] {
    return this.#all<{ what: string }>(
      `SELECT l.kind || ' ' || l.entry_id AS what FROM ledger l WHERE l.kind <> 'stored' AND l.process <>
        (SELECT h.process FROM holders h WHERE h.ledger_id < l.id ORDER BY h.rowid DESC LIMIT 1)`,
    ).map(({ what }) => `${what} by one that is not the holder any more`)
  }

  async #live(): Promise<void> {
    const random = this.#random
    this.#outside = await this.#join('outside')
    let holder = await this.#firstHolder()
    await this.#operations.populate(holder.scheduler)
    this.#setFaults(random.chance(0.7) ? wayFaults : null)
    for (let round = random.integer(1, 3); round > 0; round--) {
      await this.#operate(holder, this.#clock.elapsedMs() + random.integer(3000, 10_000))
      holder = await this.#succeed(holder)
    }
    await this.#calmDown(holder)
    this.#violations.push(...leftProblems(this.#database))
    await holder.scheduler.shutdown({ waitForJobsToComplete: true })
    const rows = this.#all<{ what: string }>('SELECT instance_name AS what FROM qrtz_scheduler_state')
    this.#violations.push(...rows.map(({ what }) => `${what} still holds the file`))
  }

  async #firstHolder(): Promise<Member> {
    const first = await this.#join('n0')
    await this.#start(first)
    return first
  }

  /** Something becomes of the holder, and another process starts in the meantime; answers who has the file then. */
  async #succeed(holder: Member): Promise<Member> {
    const random = this.#random
    const fate = random.weighted({ standsStill: 5, standsStillForShort: 2, isKilled: 1, isDeployed: 1 })
    if (fate === 'isDeployed') await holder.scheduler.shutdown({ waitForJobsToComplete: true })
    else if (fate === 'isKilled') holder.process.kill()
    else holder.process.freeze()
    await this.#clock.sleep(random.integer(0, 2000))
    const heir = await this.#join(random.chance(0.5) ? holder.instanceId : `n${this.#members.length}`)
    const started = this.#start(heir)
    if (fate === 'isKilled' || fate === 'isDeployed') {
      await started
      return heir
    }
    const isShort = fate === 'standsStillForShort'
    if (isShort) await this.#clock.sleep(random.integer(0, tooShortMs))
    else await this.#watchedFor(heir, longEnoughMs)
    if (!isShort && heir.outcome !== 'holds') this.#violations.push('a silent holder was not taken over')
    // What no holder has seen yet, so that one that goes on finds something to do.
    if (!isShort) for (let count = 0; count < 10; count++) await this.#scheduleOutside()
    holder.process.thaw()
    await this.#clock.sleep(random.integer(0, 3000))
    await started
    if (heir.outcome === 'refused') {
      await heir.scheduler.shutdown()
      return holder
    }
    await this.#clock.sleep(learnsWithinMs)
    if (!holder.wasTold) this.#violations.push('a former holder does not know that it was taken over')
    await holder.scheduler.shutdown()
    return heir
  }

  /** Waits until one try of `heir` to start has had `forMs`. */
  async #watchedFor(heir: Member, forMs: number): Promise<void> {
    for (let leftMs = forMs; leftMs > 0; ) {
      await this.#clock.sleep(leftMs)
      leftMs = heir.outcome === 'holds' ? 0 : heir.triesFromMs + forMs - this.#clock.elapsedMs()
    }
  }

  /** Tries until it holds the file or is refused, as one does who has an eye on a process. */
  async #start(member: Member): Promise<void> {
    for (;;) {
      member.triesFromMs = this.#clock.elapsedMs()
      try {
        await member.scheduler.start()
        member.outcome = 'holds'
        return
      } catch (error) {
        const { cause, code } = error as { cause?: unknown; code?: string }
        if (code === 'ERR_STORE_IN_USE') {
          member.outcome = 'refused'
          return
        }
        if (!(cause instanceof InjectedFailure)) {
          this.#violations.push(`a process did not start: ${String(error)}`)
          return
        }
      }
      await member.process.sleep(500)
    }
  }

  async #operate({ scheduler }: Member, untilMs: number): Promise<void> {
    while (this.#clock.elapsedMs() < untilMs) {
      await this.#clock.sleep(this.#random.integer(0, 1000))
      this.#violations.push(...stateProblems(this.#database))
      await this.#operations.run(scheduler).catch(() => false)
      if (this.#random.chance(0.2)) await this.#scheduleOutside()
    }
  }

  async #scheduleOutside(): Promise<void> {
    if (this.#outside !== null) await this.#operations.schedule(this.#outside.scheduler).catch(() => {})
  }

  async #calmDown({ scheduler }: Member): Promise<void> {
    this.#setFaults(null)
    await this.#clock.sleep(10_000)
    await scheduler.resumeTriggers(GroupMatcher.anyGroup())
    await scheduler.resumeAll()
    await scheduler.start()
    const leftMs = Math.max(0, this.#operations.lastPlannedMs - this.#clock.now())
    await this.#clock.sleep(leftMs + 10_000)
    for (let round = 0; round < 100 && hasUnfinished(this.#database); round++) await this.#clock.sleep(5000)
    await this.#clock.sleep(10_000)
  }

  #setFaults(faults: WayFaults | null): void {
    this.#faults = faults
    for (const { way } of this.#members) way.faults = faults
  }

  /** A process of a container of its own, with a scheduler that is not started. */
  async #join(instanceId: string): Promise<Member> {
    const random = this.#random
    const number = this.#members.length
    const process = new SimProcess(this.#clock, 0)
    const way = new SimWay({
      process,
      random: random.fork(),
      shared: this.#runner,
      bug: {
        ...this.#bug,
        statement: (statement, lock) =>
          inContainer(number, this.#bug.statement?.(statement, lock) ?? statement),
      },
      foreignLocks: new SimForeignLocks(this.#clock, random.fork()),
      actAs: (lock) => {
        this.#acting = { process: number, lock }
      },
    })
    const scheduler = await createScheduler({
      logger: false,
      clock: process,
      ids: seededIds(this.#seed * 100 + number),
      instanceId,
      jobStore: new SqlJobStore(engineOn(way)),
      threadPool: inProcessThreadPool({ size: random.pick([1, 3, 10]) }),
      jobs: clusterJobs((context, kind) => this.#work(number, context, kind)),
      idleWaitMs: 1000,
      misfireThresholdMs: random.pick([1000, 60_000]),
      batchTimeWindowMs: random.pick([0, 0, 1000]),
    })
    const member: Member = {
      instanceId,
      process,
      way,
      scheduler,
      outcome: null,
      wasTold: false,
      triesFromMs: 0,
    }
    scheduler.events.on('recoveredByPeer', () => {
      member.wasTold = true
    })
    way.faults = this.#faults
    this.#members.push(member)
    return member
  }

  async #work(process: number, context: JobExecutionContext, kind: JobKind): Promise<void> {
    const { fireInstanceId: entry, jobKey } = context
    const run: Run = { entry, process, jobName: jobKey.name, hasEnded: false, hasFailed: false }
    this.#runs.push(run)
    try {
      await this.#members[process]?.process.sleep(this.#random.integer(0, 1500))
      if (kind === 'retrying' && this.#random.chance(0.3)) {
        run.hasFailed = true
        throw new Error('the job failed')
      }
    } finally {
      run.hasEnded = true
    }
  }

  #all<Row>(query: string): Row[] {
    return this.#database.prepare<[], Row>(query).all()
  }
}

/** What a process says of itself, as one of another container says it: no other one can see whether it lives. */
function inContainer(number: number, statement: SqlStatement): SqlStatement {
  const values = statement.values.map((value) =>
    typeof value === 'string' && value.startsWith('{"version":')
      ? JSON.stringify({ ...(JSON.parse(value) as object), space: `container ${number}` })
      : value,
  )
  return { ...statement, values }
}

/** The engine of SQLite files, whose statements go the way of one process. */
function engineOn(way: SqlRunner): SqlEngine {
  return {
    name: 'simulated',
    capabilities: { persistent: true, clustered: false },
    ...sqliteWords,
    encoding: 'json',
    onSchema: (work) => work(way),
    records: resolveRecordOptions('simulated'),
    connect: (session) => {
      const runner = {
        transact: way.transact.bind(way),
        read: way.read.bind(way),
        close: () => way.close(),
        connections: 1,
        isCutOff: () => false,
        cutOff: () => {},
      }
      const { names } = sqliteWords
      return Promise.resolve(sharedConnection(session, runner, { filename: 'a.db', database: null, names }))
    },
  }
}
