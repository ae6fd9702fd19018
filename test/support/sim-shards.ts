import type Database from 'better-sqlite3'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobSource } from '../../src/jobs/job-definition.ts'
import type { ShardingOptions } from '../../src/jobs/sharding.ts'
import type { EndedSharding } from '../../src/jobstore/job-store-shards.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { SimClock } from './sim-clock.ts'
import type { Run } from './sim-cluster-judge.ts'
import type { LedgerRow } from './sim-cluster-ledger.ts'
import type { SimGuests, Work } from './sim-guests.ts'
import type { SimRandom } from './sim-random.ts'
import { judgeShards } from './sim-shard-judge.ts'

/** Sharded jobs, one of each kind; users delete the last one and store it again. */
export const shardedJobs: Readonly<Record<string, ShardingOptions>> = {
  'sharded-held': { items: 4 },
  'sharded-skipping': { items: 3, misfire: 'skip' },
  'sharded-fragile': { items: 4 },
  'sharded-nodes': { items: 'nodes' },
  'sharded-changing': { items: 3, strategy: 'avgAllocation' },
  'sharded-4': { items: 2 },
}
const jobNames = Object.keys(shardedJobs)
/** Its items are lost with their node. */
const fragileJob = 'sharded-fragile'
/** Its number of items changes. */
const changingJob = 'sharded-changing'
const deletedJob = 'sharded-4'
const group = 'shards'

/** What users of sharded jobs do to a cluster, and what nodes tell them. */
export class SimShards implements SimGuests {
  /** The instants of triggers that must all become firings, and no others. */
  readonly wishes = new Map<string, readonly number[]>()
  readonly told: EndedSharding[] = []
  /** Items that were ever turned off, as `job item`. */
  readonly turnedOff = new Set<string>()
  lastPlannedMs = 0
  readonly areAlone = false
  readonly #clock: SimClock
  readonly #random: SimRandom
  #names = 0

  constructor(clock: SimClock, random: SimRandom) {
    this.#clock = clock
    this.#random = random
  }

  /** Some nodes claim also what is due, and fire it by a transaction of its own. */
  claimsFirst(): boolean {
    return this.#random.chance(0.4)
  }

  jobs(work: Work): readonly JobSource[] {
    const job = defineJob('sharded', (context) => work(context), {
      retry: { attempts: 2, backoff: { initialMs: 500 } },
    })
    return [job]
  }

  watch(scheduler: Scheduler): void {
    scheduler.events.on('allShardsDone', ({ firing }) => this.told.push(firing))
  }

  /** Lets the database itself write down what becomes of firings, in the order in which it is committed. */
  keepLedger(database: Database.Database): void {
    database.exec('ALTER TABLE ledger ADD COLUMN parts text')
    const note = (kind: string, values: Readonly<Record<string, string>>): string =>
      `BEGIN INSERT INTO ledger (kind, ${Object.keys(values).join(', ')}, process, lock, at)
        VALUES ('${kind}', ${Object.values(values).join(', ')}, sim_process(), sim_lock(), sim_elapsed()); END`
    const firing = (row: 'new' | 'old'): Record<string, string> => ({
      entry_id: `${row}.fire_id`,
      job_name: `${row}.job_name`,
      trigger_name: `${row}.trigger_name`,
      trigger_group: `${row}.trigger_group`,
      sched_time: `${row}.planned_time`,
      parts: `${row}.parts`,
    })
    database.exec(`CREATE TRIGGER s1 AFTER INSERT ON qrtz_split_firings ${note('split', firing('new'))}`)
    database.exec(`CREATE TRIGGER s2 AFTER UPDATE ON qrtz_split_firings ${note('parts', firing('new'))}`)
    database.exec(`CREATE TRIGGER s3 AFTER DELETE ON qrtz_split_firings ${note('joined', firing('old'))}`)
    const line = {
      entry_id: 'new.fire_instance_id',
      job_name: 'new.job_name',
      trigger_name: 'new.trigger_name',
      trigger_group: 'new.trigger_group',
      sched_time: 'new.planned_time',
      state: 'new.outcome',
    }
    database.exec(`CREATE TRIGGER s4 AFTER INSERT ON qrtz_execution_history
      WHEN new.job_name LIKE 'sharded-%' AND new.firing_id IS NULL ${note('line', line)}`)
  }

  async populate(scheduler: Scheduler): Promise<void> {
    for (const name of jobNames) await this.#store(scheduler, name)
  }

  /** One of them, at random. */
  async run(scheduler: Scheduler): Promise<unknown> {
    const random = this.#random
    const action = random.weighted({ schedule: 6, trigger: 3, turn: 2, change: 1, remove: 1 })
    const name = random.pick(jobNames)
    const { key } = JobBuilder.newJob('sharded').withIdentity(name).build()
    switch (action) {
      case 'schedule':
        return this.schedule(scheduler, name)
      case 'trigger':
        return scheduler.triggerJob(key)
      case 'turn': {
        const item = random.integer(0, 3)
        if (random.chance(0.6)) return scheduler.enableShard(key, item)
        this.turnedOff.add(`${name} ${item}`)
        return scheduler.disableShard(key, item)
      }
      case 'change':
        return this.#store(scheduler, changingJob, random.integer(1, 6))
      case 'remove':
        await scheduler.deleteJob(JobBuilder.newJob('sharded').withIdentity(deletedJob).build().key)
        return this.#store(scheduler, deletedJob)
    }
  }

  /** Stores a trigger all instants of which must become firings. */
  async schedule(scheduler: Scheduler, jobName: string): Promise<void> {
    const random = this.#random
    const count = random.pick([1, 1, random.integer(2, 8)])
    const intervalMs = random.integer(500, 6000)
    const startMs = this.#clock.now() + random.integer(0, 8000)
    const name = `s${this.#names++}`
    this.lastPlannedMs = Math.max(this.lastPlannedMs, startMs + count * intervalMs)
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name, group)
      .forJob(jobName)
      .startAt(new Date(startMs))
      .withSchedule(
        SimpleScheduleBuilder.simpleSchedule()
          .withIntervalInMilliseconds(intervalMs)
          .withRepeatCount(count - 1)
          .withMisfireInstruction('ignore'),
      )
      .build()
    if (jobName !== deletedJob) {
      const instants = Array.from({ length: count }, (_, index) => startMs + index * intervalMs)
      this.wishes.set(`${group}.${name}`, instants)
    }
    await scheduler.scheduleJob(trigger)
  }

  /** When all is calm each firing is told once: of one that nothing disturbs nothing gets lost. */
  async scheduleLast(scheduler: Scheduler): Promise<void> {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity('last', group)
      .forJob('sharded-held')
      .startAt(new Date(this.#clock.now()))
    await scheduler.scheduleJob(trigger.build())
  }

  judge(ledger: readonly LedgerRow[], runs: readonly Run[]): string[] {
    const { told, turnedOff, wishes } = this
    const last = told.filter(({ triggerKey }) => triggerKey.name === 'last').length
    return [
      ...judgeShards({ ledger, runs, told, turnedOff, wishes }),
      ...(last === 1 ? [] : [`the firing of a calm cluster was told ${last} times`]),
    ]
  }

  async #store(scheduler: Scheduler, name: string, items?: number): Promise<void> {
    const sharding = shardedJobs[name] ?? { items: 1 }
    const job = JobBuilder.newJob('sharded')
      .withIdentity(name)
      .storeDurably()
      .withSharding({ ...sharding, ...(items !== undefined && { items }) })
      .requestRecovery(name !== fragileJob && sharding.items !== 'nodes')
    await scheduler.addJob(job.build(), { replace: true })
  }
}
