import { afterAll, beforeAll, expect, test } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import { postgresJobStore } from '../../src/jobstore/postgres/postgres-job-store.ts'
import { storedCounts } from '../../src/testing/job-store/stored.ts'
import { completionOf, jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { SimRandom } from '../support/sim-random.ts'

const groups = ['DEFAULT', 'ga', 'gb']
const refusals = ['ERR_OBJECT_ALREADY_EXISTS', 'ERR_JOB_NOT_FOUND', 'ERR_JOB_KEY_MISMATCH']

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  const name = new URL(database.connectionString).pathname.slice(1)
  // Deadlocks are found, and counted, sooner.
  await database.query(`ALTER DATABASE ${name} SET deadlock_timeout = '50ms'`)
})
afterAll(() => database[Symbol.asyncDispose]())

/** Nodes that work on few jobs and triggers, so that they meet all the time. */
class Crowd {
  readonly beds: Testbed[] = []
  /** Non-concurrent executions between the answer of the store and the completion, by job. */
  readonly running = new Map<string, number>()
  overlaps = 0
  fired = 0
  changersAtWork = 0
  readonly random: SimRandom
  readonly #clock = new ManualClock()

  constructor(seed: number) {
    this.random = new SimRandom(seed)
  }

  async join(): Promise<Testbed> {
    // On a machine with other work a queue for rows that all of them want may take longer than the default.
    const { connectionString } = database
    const store = postgresJobStore({ connectionString, poolSize: 6, lockTimeoutMs: 60_000 })
    const bed = new Testbed(store, this.#clock, `node-${String(this.beds.length)}`)
    await store.initialize(bed.context)
    this.beds.push(bed)
    return bed
  }

  async leave(): Promise<void> {
    for (const { store } of this.beds) {
      await store.releaseAllAcquiredTriggers()
      await store.shutdown()
    }
  }

  jobKey(): JobKey {
    const index = this.random.integer(0, 4)
    return new JobKey(`j${String(index)}`, groups[index % 2])
  }
  triggerKey(): TriggerKey {
    return new TriggerKey(`t${String(this.random.integer(0, 7))}`, this.random.pick(groups))
  }
  /** Every other job forbids concurrency, unless its kind is changed. */
  job(changesKind: boolean): JobDetail {
    const key = this.jobKey()
    const index = Number(key.name.slice(1)) + (changesKind && this.random.chance(0.1) ? 1 : 0)
    return jobDetail(key.name, {
      group: key.group,
      durable: this.random.chance(0.5),
      disallowConcurrentExecution: index % 2 === 1,
    })
  }
  trigger(bed: Testbed, jobKey: JobKey): Trigger {
    const { name, group } = this.triggerKey()
    const schedule = this.random.pick([{}, { everyMs: 20 }, { everyMs: 500 }])
    const job = jobDetail(jobKey.name, { group: jobKey.group })
    return bed.trigger(name, { group, job, inMs: this.random.integer(0, 30), ...schedule })
  }
  matcher(): GroupMatcher {
    return this.random.pick([
      GroupMatcher.groupEquals(this.random.pick(groups)),
      GroupMatcher.groupStartsWith('g'),
      GroupMatcher.anyGroup(),
    ])
  }

  /** Claims, fires and completes for as long as others change something. */
  async fire(bed: Testbed): Promise<void> {
    while (this.changersAtWork > 0) {
      this.#clock.jump(this.random.integer(0, 5))
      const claims = await bed.acquire({ noLaterThanMs: bed.now() + 20, maxCount: 4, timeWindowMs: 5 })
      if (this.random.chance(0.1)) {
        await insist(claims, (left) => bed.store.releaseAcquiredTriggers(left))
        continue
      }
      if (claims.length === 0) continue
      const bundles: TriggerFiredBundle[] = []
      await insist(claims, async (left) => {
        const results = await bed.store.triggersFired(left)
        for (const result of results) if (result.kind === 'fired') bundles.push(result.bundle)
        return left.filter((_, index) => results[index]?.kind === 'locked')
      })
      for (const bundle of bundles) this.#begin(bundle)
      // Others get between the firing and its end.
      await storedCounts(bed.store)
      for (const bundle of bundles) this.#end(bundle)
      const completions = bundles.map((bundle) =>
        completionOf(bundle, bundle.nextFireTimeMs === null ? 'deleteTrigger' : 'noop', {
          jobDataMap: this.random.chance(0.3) ? { n: this.random.integer(0, 9) } : null,
          retryTrigger: this.random.chance(0.2) ? this.trigger(bed, bundle.jobDetail.key) : null,
        }),
      )
      await insist(completions, async (left) => (await bed.store.triggeredJobsComplete(left)).locked)
    }
  }

  #begin({ jobDetail: { key, disallowConcurrentExecution } }: TriggerFiredBundle): void {
    this.fired++
    if (!disallowConcurrentExecution) return
    const running = this.running.get(key.toString()) ?? 0
    if (running > 0) this.overlaps++
    this.running.set(key.toString(), running + 1)
  }

  #end({ jobDetail: { key, disallowConcurrentExecution } }: TriggerFiredBundle): void {
    if (!disallowConcurrentExecution) return
    this.running.set(key.toString(), (this.running.get(key.toString()) ?? 0) - 1)
  }

  /** Takes steps, one after the other; what the store refuses by its contract is no fault. */
  async change(
    bed: Testbed,
    steps: readonly ((bed: Testbed) => Promise<unknown>)[],
    count: number,
  ): Promise<void> {
    this.changersAtWork++
    try {
      for (let done = 0; done < count; done++) {
        await this.random
          .pick(steps)(bed)
          .catch((error: unknown) => {
            if (!refusals.includes((error as { code?: string }).code ?? '')) throw error
          })
      }
    } finally {
      this.changersAtWork--
    }
  }

  scheduleNew = (bed: Testbed): Promise<unknown> => this.#schedule(bed, false)
  scheduleOver = (bed: Testbed): Promise<unknown> => this.#schedule(bed, true)

  #schedule(bed: Testbed, replace: boolean): Promise<unknown> {
    const job = this.random.chance(0.3) ? null : this.job(replace)
    const key = job?.key ?? this.jobKey()
    const triggers = Array.from({ length: this.random.integer(1, 2) }, () => this.trigger(bed, key))
    return bed.store.scheduleJobs([{ job, triggers }], { replace })
  }
}

/** Tries again what was locked, as the scheduler does. */
async function insist<Item>(
  items: readonly Item[],
  attempt: (items: readonly Item[]) => Promise<readonly Item[]>,
): Promise<void> {
  for (let left = items; left.length > 0; ) left = await attempt(left)
}

/** What no moment without anything under way may show. */
async function brokenInvariants(): Promise<Record<string, unknown>> {
  const count = async (from: string): Promise<unknown> =>
    (await database.query(`SELECT CAST(count(*) AS integer) AS n FROM ${from}`))[0]?.['n']
  const sameKey = 's.trigger_name = t.trigger_name AND s.trigger_group = t.trigger_group'
  return {
    claimsAndExecutions: await count('qrtz_fired_triggers'),
    claimedOrBlocked: await count(
      `qrtz_triggers WHERE trigger_state IN ('ACQUIRED', 'BLOCKED', 'PAUSED_BLOCKED')`,
    ),
    withoutDetails: await count(
      `qrtz_triggers t WHERE NOT EXISTS (SELECT 1 FROM qrtz_simple_triggers s WHERE ${sameKey})`,
    ),
    detailsAlone: await count(
      `qrtz_simple_triggers s WHERE NOT EXISTS (SELECT 1 FROM qrtz_triggers t WHERE ${sameKey})`,
    ),
  }
}

const intact = { claimsAndExecutions: 0, claimedOrBlocked: 0, withoutDetails: 0, detailsAlone: 0 }

async function run(crowd: Crowd, steps: readonly ((bed: Testbed) => Promise<unknown>)[]): Promise<void> {
  for (let node = 0; node < 3; node++) await crowd.join()
  const changers = crowd.beds.flatMap((bed) => [crowd.change(bed, steps, 60), crowd.change(bed, steps, 60)])
  await Promise.all([...changers, ...crowd.beds.flatMap((bed) => [crowd.fire(bed), crowd.fire(bed)])])
  await crowd.leave()
}

test('three nodes schedule, fire and complete side by side without a deadlock', async () => {
  const crowd = new Crowd(1)
  await run(crowd, [crowd.scheduleNew])
  expect(crowd.fired).toBeGreaterThan(50)
  expect(crowd.overlaps).toBe(0)
  expect(await brokenInvariants()).toEqual(intact)
  // Sessions report what they counted when they end, at the latest.
  const [counted] = await database.query(
    'SELECT CAST(deadlocks AS integer) AS n FROM pg_stat_database WHERE datname = current_database()',
  )
  expect(counted).toEqual({ n: 0 })
})

test('three nodes change everything at once and leave nothing claimed, blocked or torn', async () => {
  const crowd = new Crowd(2)
  const { random } = crowd
  await run(crowd, [
    crowd.scheduleNew,
    crowd.scheduleOver,
    crowd.scheduleOver,
    ({ store }) => store.addJob(crowd.job(true), { replace: true }),
    (bed) => bed.store.rescheduleTrigger(crowd.triggerKey(), crowd.trigger(bed, crowd.jobKey())),
    ({ store }) => store.deleteTriggers([crowd.triggerKey(), crowd.triggerKey()]),
    ({ store }) => (random.chance(0.3) ? store.deleteJobs([crowd.jobKey()]) : store.resumeAll()),
    ({ store }) => store.pauseTrigger(crowd.triggerKey()),
    ({ store }) => store.resumeTrigger(crowd.triggerKey()),
    ({ store }) => (random.chance(0.5) ? store.pauseJob(crowd.jobKey()) : store.resumeJob(crowd.jobKey())),
    ({ store }) =>
      random.chance(0.3) ? store.pauseTriggers(crowd.matcher()) : store.resumeTriggers(crowd.matcher()),
    ({ store }) =>
      random.chance(0.3) ? store.pauseJobs(crowd.matcher()) : store.resumeJobs(crowd.matcher()),
  ])
  expect(crowd.fired).toBeGreaterThan(20)
  expect(crowd.overlaps).toBe(0)
  expect(await brokenInvariants()).toEqual(intact)
})
