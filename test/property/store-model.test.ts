import assert from 'node:assert/strict'
import fc from 'fast-check'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { describe, test } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import { asSeen } from '../../src/jobstore/ended-trigger.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type {
  AcquiredTrigger,
  CompletedExecutionInstruction,
  JobStore,
} from '../../src/jobstore/job-store.ts'
import { completedExecutionInstructions } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { reportedTriggerState } from '../../src/jobstore/trigger-state.ts'
import { pausedJobGroups, pausedTriggerGroups, storedCounts } from '../../src/testing/job-store/stored.ts'
import { completionOf, jobDetail, misfireThresholdMs, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { simpleMisfireInstructions } from '../../src/triggers/misfire-instruction.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { Refusal, StoreModel } from '../support/store-model.ts'

/** One random step: a name and numbers that the step makes its choices from. */
interface Step {
  readonly operation: keyof typeof operations
  readonly dice: readonly number[]
}

const day = 86_400_000
const groups = ['DEFAULT', 'ga', 'gb']

/** The store, the model, and everything the steps so far were handed. */
class Walk {
  readonly bed: Testbed
  readonly model = new StoreModel(misfireThresholdMs)
  readonly claims: AcquiredTrigger[] = []
  readonly bundles: TriggerFiredBundle[] = []
  #dice: readonly number[] = []
  #rolls = 0

  constructor(store: JobStore, treatsLateTogether: boolean) {
    this.model.treatsLateTogether = treatsLateTogether
    this.bed = new Testbed(store, new ManualClock(), 'node')
  }

  begin(dice: readonly number[]): void {
    this.#dice = dice
    this.#rolls = 0
    this.model.nowMs = this.bed.now()
    this.model.told = []
    this.bed.signals.clear()
  }

  roll(sides: number): number {
    const value = this.#dice[this.#rolls % this.#dice.length] ?? 0
    this.#rolls++
    return Math.floor(value / (this.#rolls > this.#dice.length ? 7 : 1)) % sides
  }
  pick<Choice>(choices: readonly Choice[]): Choice {
    const choice = choices[this.roll(choices.length)]
    assert.ok(choice !== undefined)
    return choice
  }
  some<Choice>(choices: readonly Choice[], most: number): Choice[] {
    if (choices.length === 0) return []
    return Array.from({ length: 1 + this.roll(most) }, () => this.pick(choices))
  }

  jobKey(): JobKey {
    const index = this.roll(5)
    return new JobKey(`j${String(index)}`, groups[index % 2])
  }
  triggerKey(): TriggerKey {
    return new TriggerKey(`t${String(this.roll(4))}`, this.pick(groups))
  }
  job(key: JobKey = this.jobKey()): JobDetail {
    const index = Number(key.name.slice(1))
    return jobDetail(key.name, {
      group: key.group,
      durable: index % 3 === 0 || this.roll(4) === 0,
      // Most jobs keep their kind; some change it when they are stored again.
      disallowConcurrentExecution: (index + (this.roll(8) === 0 ? 1 : 0)) % 2 === 1,
      jobType: index === 4 ? 'foreign' : 'noop',
    })
  }
  trigger(key: TriggerKey = this.triggerKey(), jobKey: JobKey = this.jobKey()): Trigger {
    const every = [
      {},
      { everyMs: 20_000 },
      { everyMs: 50_000 },
      { everyMs: day / 2 },
      { everyMs: 1000, times: 3 },
    ]
    return this.bed.trigger(key.name, {
      group: key.group,
      job: jobDetail(jobKey.name, { group: jobKey.group }),
      inMs: this.pick([0, 0, 0, 10, 1000, 30_000, day, -90_000]),
      priority: this.pick([5, 5, 1, 9]),
      misfire: this.pick(simpleMisfireInstructions),
      ...(this.roll(3) === 0 ? { calendar: this.#calendarName() } : {}),
      ...this.pick(every),
    })
  }
  /** Seldom one that is not there. */
  #calendarName(): string {
    const [known] = this.model.calendars
    const named = `c${String(this.roll(2))}`
    return known === undefined || this.roll(4) === 0 ? named : known.name
  }
  matcher(): GroupMatcher {
    return this.pick([
      GroupMatcher.groupEquals(this.pick(groups)),
      GroupMatcher.groupEquals('never used'),
      GroupMatcher.groupStartsWith('g'),
      GroupMatcher.groupEndsWith('b'),
      GroupMatcher.groupContains('a'),
      GroupMatcher.anyGroup(),
    ])
  }
}

/** What an operation answered; of two reasons to refuse one either may be named, so the reason is left out. */
async function outcome(action: () => unknown): Promise<unknown> {
  try {
    return normalized(await action())
  } catch (error) {
    if (error instanceof Refusal || (error instanceof Error && 'code' in error)) return 'refused'
    throw error
  }
}

function normalized(answer: unknown): unknown {
  return Array.isArray(answer) ? answer.map(String).sort() : (answer ?? null)
}

async function same(inStore: () => unknown, inModel: () => unknown): Promise<void> {
  assert.deepEqual(await outcome(inStore), await outcome(inModel))
}

const operations = {
  schedule: (walk: Walk) => {
    const job = walk.roll(4) === 0 ? null : walk.job()
    const jobKey = job?.key ?? walk.jobKey()
    const triggers = walk
      .some([0, 1, 2], 3)
      .map(() => walk.trigger(walk.triggerKey(), walk.roll(6) === 0 ? walk.jobKey() : jobKey))
    const replace = walk.roll(4) > 0
    return same(
      () => walk.bed.store.scheduleJobs([{ job, triggers }], { replace }),
      () => {
        walk.model.scheduleJobs([{ job, triggers }], replace)
      },
    )
  },
  addJob: (walk: Walk) => {
    const [job, replace] = [walk.job(), walk.roll(2) === 0]
    return same(
      () => walk.bed.store.addJob(job, { replace }),
      () => {
        walk.model.addJob(job, replace)
      },
    )
  },
  reschedule: (walk: Walk) => {
    const key = walk.triggerKey()
    const jobKey = walk.model.find(key.toString())?.trigger.jobKey ?? walk.jobKey()
    const trigger = walk.trigger(
      walk.roll(2) === 0 ? key : walk.triggerKey(),
      walk.roll(6) === 0 ? walk.jobKey() : jobKey,
    )
    return same(
      () => walk.bed.store.rescheduleTrigger(key, trigger),
      () => walk.model.reschedule(key.toString(), trigger),
    )
  },
  deleteJobs: (walk: Walk) => {
    const keys = [walk.jobKey(), walk.jobKey()]
    return same(
      () => walk.bed.store.deleteJobs(keys),
      () => walk.model.deleteJobs(keys.map(String)),
    )
  },
  deleteTriggers: (walk: Walk) => {
    const keys = [walk.triggerKey(), walk.triggerKey()]
    return same(
      () => walk.bed.store.deleteTriggers(keys),
      () => walk.model.deleteTriggers(keys.map(String)),
    )
  },
  clear: async (walk: Walk) => {
    if (walk.roll(8) > 0) return
    await walk.bed.store.clear()
    walk.model.clear()
  },
  pauseTrigger: (walk: Walk) => {
    const key = walk.triggerKey()
    return same(
      () => walk.bed.store.pauseTrigger(key),
      () => walk.model.pauseTrigger(key.toString()),
    )
  },
  skip: (walk: Walk) => {
    const key = walk.triggerKey()
    return same(
      () => walk.bed.store.skipNextFire(key, null),
      () => walk.model.skip(key.toString()),
    )
  },
  resumeTrigger: (walk: Walk) => {
    const key = walk.triggerKey()
    return same(
      () => walk.bed.store.resumeTrigger(key),
      () => walk.model.resumeTrigger(key.toString()),
    )
  },
  pauseJob: (walk: Walk) => {
    const key = walk.jobKey()
    return same(
      () => walk.bed.store.pauseJob(key),
      () => walk.model.pauseJob(key.toString()),
    )
  },
  resumeJob: (walk: Walk) => {
    const key = walk.jobKey()
    return same(
      () => walk.bed.store.resumeJob(key),
      () => walk.model.resumeJob(key.toString()),
    )
  },
  pauseTriggers: (walk: Walk) => {
    const matcher = walk.matcher()
    return same(
      () => walk.bed.store.pauseTriggers(matcher),
      () => walk.model.pauseTriggers(matcher),
    )
  },
  resumeTriggers: (walk: Walk) => {
    const matcher = walk.matcher()
    return same(
      () => walk.bed.store.resumeTriggers(matcher),
      () => walk.model.resumeTriggers(matcher),
    )
  },
  pauseJobs: (walk: Walk) => {
    const matcher = walk.matcher()
    return same(
      () => walk.bed.store.pauseJobs(matcher),
      () => walk.model.pauseJobs(matcher),
    )
  },
  resumeJobs: (walk: Walk) => {
    const matcher = walk.matcher()
    return same(
      () => walk.bed.store.resumeJobs(matcher),
      () => walk.model.resumeJobs(matcher),
    )
  },
  pauseAll: async (walk: Walk) => {
    await walk.bed.store.pauseAll()
    walk.model.pauseAll()
  },
  resumeAll: async (walk: Walk) => {
    await walk.bed.store.resumeAll()
    walk.model.resumeAll()
  },
  reset: (walk: Walk) => {
    const key = walk.triggerKey()
    return same(
      () => walk.bed.store.resetTriggerFromErrorState(key),
      () => walk.model.reset(key.toString()),
    )
  },
  addCalendar: (walk: Walk) => {
    const name = `c${String(walk.roll(2))}`
    const excludedDates = walk.pick([[], ['2026-01-01'], ['2026-01-02'], ['2026-01-01', '2026-01-03']])
    const calendar = new HolidayCalendar({ excludedDates, timeZone: 'UTC' })
    const options = { replace: walk.roll(4) > 0, updateTriggers: walk.roll(2) === 0 }
    return same(
      () => walk.bed.store.addCalendar(name, calendar, options),
      () => {
        walk.model.addCalendar(name, calendar, options)
      },
    )
  },
  deleteCalendar: (walk: Walk) => {
    const name = `c${String(walk.roll(2))}`
    return same(
      () => walk.bed.store.deleteCalendar(name),
      () => walk.model.deleteCalendar(name),
    )
  },
  acquire: async (walk: Walk) => {
    const request = {
      noLaterThanMs: walk.bed.now() + walk.pick([0, 0, 30_000]),
      maxCount: 1 + walk.roll(4),
      timeWindowMs: walk.pick([0, 0, 10, 60_000]),
    }
    const expected = walk.model.acquire(request)
    const acquired = await walk.bed.store.acquireNextTriggers(request)
    assert.deepEqual(
      acquired.map(({ trigger }) => trigger),
      expected,
    )
    walk.model.claim(acquired)
    walk.claims.push(...acquired)
  },
  release: async (walk: Walk) => {
    const claims = walk.some(walk.claims.slice(-6), 2)
    await walk.bed.store.releaseAcquiredTriggers(claims)
    walk.model.release(claims)
  },
  releaseAll: async (walk: Walk) => {
    await walk.bed.store.releaseAllAcquiredTriggers()
    walk.model.releaseAll()
  },
  fire: async (walk: Walk) => {
    // Mostly the last batch as it was claimed, else any of the claims so far, also void ones.
    const claims = walk.roll(3) > 0 ? walk.claims.slice(-2) : walk.some(walk.claims.slice(-8), 3)
    const expected = walk.model.fire(claims)
    const results = await walk.bed.store.triggersFired(claims)
    const bundles = results.map((result) => (result.kind === 'fired' ? result.bundle : null))
    assert.deepEqual(bundles, expected)
    for (const bundle of bundles) if (bundle !== null) walk.bundles.push(bundle)
  },
  complete: async (walk: Walk) => {
    const completions = walk.some(walk.bundles.slice(-6), 2).map((bundle) => {
      const isLast = bundle.nextFireTimeMs === null
      const instruction: CompletedExecutionInstruction =
        walk.roll(3) > 0 ? (isLast ? 'deleteTrigger' : 'noop') : walk.pick(completedExecutionInstructions)
      const run = walk.bundles.indexOf(bundle)
      const kept = run % 2 === 0 ? bundle.jobDetail.jobDataMap : {}
      return completionOf(bundle, instruction, {
        jobDataMap: walk.roll(4) === 0 ? { ...kept, [`run${run % 3}`]: run } : null,
        retryTrigger: walk.roll(4) === 0 ? walk.trigger(walk.triggerKey(), bundle.jobDetail.key) : null,
      })
    })
    for (const completion of completions) walk.model.complete(completion)
    await walk.bed.store.triggeredJobsComplete(completions)
  },
  learnTypes: (walk: Walk) => {
    const isKnown = walk.roll(2) === 0
    walk.model.unknownJobTypes = isKnown ? [] : ['foreign']
    if (isKnown) walk.bed.unknownJobTypes.delete('foreign')
    else walk.bed.unknownJobTypes.add('foreign')
  },
  wait: (walk: Walk) => {
    walk.bed.clock.jump(walk.pick([1, 10, 1000, 20_000, misfireThresholdMs, 100_000, day / 2, day, -30_000]))
  },
} satisfies Record<string, (walk: Walk) => unknown>

/** After these the scheduler looks at the store again by itself. */
const looksAgain: readonly string[] = ['acquire', 'release', 'releaseAll', 'fire', 'learnTypes', 'wait']

async function assertSame({ bed, model }: Walk): Promise<void> {
  const { store, signals } = bed
  for (const { trigger, state } of model.triggers) {
    const name = trigger.key.toString()
    assert.deepEqual(await store.getTrigger(trigger.key), asSeen(trigger, state))
    assert.equal(await store.getTriggerState(trigger.key), reportedTriggerState(state), `state of ${name}`)
  }
  for (const job of model.jobs) assert.deepEqual(await store.getJob(job.key), job)
  assert.deepEqual(await storedCounts(store), {
    jobs: model.jobs.length,
    triggers: model.triggers.length,
    calendars: model.calendars.length,
  })
  assert.deepEqual(normalized(await pausedTriggerGroups(store)), normalized(model.pausedTriggerGroups))
  assert.deepEqual(normalized(await pausedJobGroups(store)), normalized(model.pausedJobGroups))
  const told = [
    ...signals.misfired.map(({ key }) => `misfired ${key.toString()}`),
    ...signals.finalized.map(({ key }) => `finalized ${key.toString()}`),
    ...signals.deletedJobs.map((key) => `job deleted ${key}`),
    ...signals.inError.map(({ key }) => `in error ${key}`),
  ]
  assert.deepEqual(told.sort(), model.told.sort())
}

async function take(walk: Walk, { operation, dice }: Step): Promise<void> {
  walk.begin(dice)
  const beforeMs = walk.model.acquirable()[0]?.trigger.nextFireTimeMs ?? Number.POSITIVE_INFINITY
  await operations[operation](walk)
  await assertSame(walk)
  const afterMs = walk.model.acquirable()[0]?.trigger.nextFireTimeMs ?? Number.POSITIVE_INFINITY
  if (afterMs < beforeMs && !looksAgain.includes(operation)) {
    assert.ok(walk.bed.signals.announced(afterMs), 'what may fire earlier than before is announced')
  }
}

/** How often each operation comes: what makes triggers fire most, or little would ever run between the pauses. */
const weights: Readonly<Record<keyof typeof operations, number>> = {
  schedule: 30,
  addJob: 3,
  reschedule: 4,
  deleteJobs: 2,
  deleteTriggers: 1,
  clear: 1,
  pauseTrigger: 2,
  skip: 4,
  resumeTrigger: 3,
  pauseJob: 2,
  resumeJob: 3,
  pauseTriggers: 1,
  resumeTriggers: 3,
  pauseJobs: 1,
  resumeJobs: 3,
  pauseAll: 1,
  resumeAll: 5,
  reset: 3,
  addCalendar: 4,
  deleteCalendar: 2,
  acquire: 20,
  release: 2,
  releaseAll: 1,
  fire: 24,
  complete: 16,
  learnTypes: 2,
  wait: 12,
}
const step: fc.Arbitrary<Step> = fc.record({
  operation: fc.oneof(
    ...Object.entries(weights).map(([operation, weight]) => ({
      arbitrary: fc.constant(operation as keyof typeof operations),
      weight,
    })),
  ),
  dice: fc.noBias(fc.array(fc.nat(1_000_000), { minLength: 12, maxLength: 12 })),
})

const stores: readonly {
  readonly name: string
  readonly create: () => JobStore
  readonly runs: number
  readonly treatsLateTogether: boolean
}[] = [
  { name: 'RAM', create: () => new RAMJobStore(), runs: 300, treatsLateTogether: false },
  {
    name: 'SQLite',
    create: () => sqliteJobStore({ filename: ':memory:' }),
    runs: 15,
    treatsLateTogether: true,
  },
]

describe.each(stores)(
  'the $name store behaves as the naive model',
  ({ create, runs, treatsLateTogether }) => {
    test.each([1, 2, 3, 4])('in random walks of up to 150 steps (seed %i)', async (seed) => {
      const property = fc.asyncProperty(
        fc.noBias(fc.array(step, { minLength: 1, maxLength: 150, size: 'max' })),
        async (steps) => {
          const walk = new Walk(create(), treatsLateTogether)
          await walk.bed.store.initialize(walk.bed.context)
          try {
            for (const each of steps) await take(walk, each)
          } finally {
            await walk.bed.store.shutdown()
          }
        },
      )
      // Time enough to report the shortest failing walk found so far before the test itself times out.
      await fc.assert(property, { seed, numRuns: runs, interruptAfterTimeLimit: 40_000 })
    })
  },
)
