import { describe, expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import type { Misfire, MisfireCursor, MisfireQuery } from '../../src/jobstore/misfires.ts'
import type { Page } from '../../src/jobstore/queries.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'

const minute = 60_000

interface Ledger extends AsyncDisposable {
  readonly clock: ManualClock
  readonly scheduler: Scheduler
  readonly store: FaultyJobStore
  /** Planned instants of runs, in minutes since the start. */
  readonly ran: number[]
  /** Lets the runs of the job `held` end. */
  readonly letGo: () => void
  /** Schedules a job every so many minutes. */
  readonly every: (minutes: number, job?: string) => Promise<void>
  readonly misfires: (query?: MisfireQuery) => Promise<readonly Misfire[]>
}

async function ledger(jobStore: JobStore, options: SchedulerOptions = {}): Promise<Ledger> {
  const clock = new ManualClock()
  const startMs = clock.now()
  const ran: number[] = []
  let letGo = (): void => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const noteRun = ({ scheduledFireTime }: { readonly scheduledFireTime: Date }): void => {
    ran.push((scheduledFireTime.getTime() - startMs) / minute)
  }
  const jobs = [
    defineJob('work', noteRun),
    defineJob('held', async (context) => {
      noteRun(context)
      await held
    }),
    defineJob(
      'alone',
      async (context) => {
        noteRun(context)
        await held
      },
      { disallowConcurrentExecution: true },
    ),
  ]
  const store = new FaultyJobStore(jobStore)
  const scheduler = await createScheduler({ clock, logger: false, jobStore: store, jobs, ...options })
  return {
    clock,
    scheduler,
    store,
    ran,
    letGo,
    async every(minutes, job = 'work') {
      await scheduler.scheduleJob(
        JobBuilder.newJob(job).withIdentity(job).build(),
        TriggerBuilder.newTrigger({ clock })
          .withIdentity(job)
          .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever(minutes))
          .build(),
      )
    },
    async misfires(query) {
      await clock.advance(1000)
      return (await scheduler.queryMisfires(query)).items
    },
    async [Symbol.asyncDispose]() {
      letGo()
      await scheduler.shutdown()
    },
  }
}

/** The instants of misfires that are a minute apart, in minutes since the start. */
function minutesOf(misfires: readonly Misfire[], startMs: number): number[] {
  return misfires.flatMap(({ fromMs, count }) =>
    Array.from({ length: count ?? 0 }, (_, index) => (fromMs - startMs) / minute + index),
  )
}

const stores: readonly { readonly name: string; readonly make: () => JobStore }[] = [
  { name: 'RAM', make: () => ramJobStore() },
  { name: 'SQLite', make: () => sqliteJobStore({ filename: ':memory:' }) },
]

describe.each(stores)('what a scheduler on $name remembers of fires that were missed', ({ make }) => {
  test('was missed while it stood by: an outage', async () => {
    await using fixture = await ledger(make())
    const { clock, scheduler, every, misfires, ran } = fixture
    const startMs = clock.now()
    await every(1)
    await scheduler.start()
    await clock.advance(2 * minute)
    await scheduler.standby()
    await clock.advance(10 * minute)
    await scheduler.start()
    await clock.advance(2 * minute)
    const found = await misfires()
    expect(found).toMatchObject([
      {
        triggerKey: triggerKey('work'),
        jobKey: jobKey('work'),
        cause: 'outage',
        policy: 'skipped',
        fromMs: startMs + 3 * minute,
        toMs: startMs + 12 * minute,
        count: 10,
        node: scheduler.schedulerInstanceId,
      },
    ])
    expect([...ran, ...minutesOf(found, startMs)].sort((a, b) => a - b)).toEqual(
      Array.from({ length: 15 }, (_, index) => index),
    )
    expect(await misfires({ cause: 'late' })).toEqual([])
  })

  test('was missed while its store was away: an outage', async () => {
    await using fixture = await ledger(make())
    const { clock, scheduler, store, every, misfires } = fixture
    await every(1)
    await scheduler.start()
    await clock.advance(minute)
    store.failOn({ operation: 'acquireAndFire', times: 1_000_000 })
    store.failOn({ operation: 'acquireNextTriggers', times: 1_000_000 })
    await clock.advance(10 * minute)
    store.heal()
    await clock.advance(2 * minute)
    expect(await misfires()).toMatchObject([{ cause: 'outage', policy: 'skipped' }])
  })

  test('was missed because no thread was free', async () => {
    await using fixture = await ledger(make(), { threadPool: { size: 1 } })
    const { clock, scheduler, every, letGo, misfires } = fixture
    await every(60, 'held')
    await scheduler.start()
    await clock.advance(minute)
    await every(1)
    await clock.advance(10 * minute)
    letGo()
    await clock.advance(minute)
    expect(await misfires()).toMatchObject([{ cause: 'poolFull', triggerKey: triggerKey('work') }])
  })

  test('was missed because its job was still running', async () => {
    await using fixture = await ledger(make())
    const { clock, scheduler, every, letGo, misfires } = fixture
    await every(1, 'alone')
    await scheduler.start()
    await clock.advance(10 * minute)
    letGo()
    await clock.advance(minute)
    expect(await misfires()).toMatchObject([{ cause: 'blocked', policy: 'skipped', count: 10 }])
  })

  test('was missed while it was paused, left out by hand, or vetoed', async () => {
    await using fixture = await ledger(make())
    const { clock, scheduler, every, misfires, ran } = fixture
    const startMs = clock.now()
    scheduler.listenerManager.addTriggerListener({
      name: 'veto',
      vetoJobExecution: (_, { scheduledFireTime }) => scheduledFireTime.getTime() === startMs + 9 * minute,
    })
    await every(1)
    await scheduler.start()
    await clock.advance(minute)
    await scheduler.pauseTrigger(triggerKey('work'))
    await clock.advance(5 * minute)
    await scheduler.resumeTrigger(triggerKey('work'), { withoutMissed: true })
    await scheduler.skipNextFire(triggerKey('work'))
    await clock.advance(4 * minute)
    const found = await misfires()
    expect(found.map(({ cause, policy, count }) => [cause, policy, count])).toEqual([
      ['vetoed', null, 1],
      ['skippedByHand', null, 1],
      ['paused', null, 5],
    ])
    expect([...ran, ...minutesOf(found, startMs)].sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ])
  })

  test('is not remembered of what nobody planned', async () => {
    await using fixture = await ledger(make())
    const { clock, scheduler, every, misfires } = fixture
    scheduler.listenerManager.addTriggerListener({ name: 'veto', vetoJobExecution: () => true })
    await every(1)
    await scheduler.triggerJob(jobKey('work'))
    await scheduler.start()
    await clock.advance(1)
    expect(await misfires()).toMatchObject([{ cause: 'vetoed', triggerKey: triggerKey('work') }])
  })
})

test('a store that is told not to remembers none', async () => {
  await using fixture = await ledger(ramJobStore({ misfires: false }))
  const { clock, scheduler, every, misfires } = fixture
  await every(1)
  await clock.advance(10 * minute)
  await scheduler.start()
  expect(await misfires()).toEqual([])
})

test.each(stores)(
  'a flood of late triggers on $name leaves a bounded rest and fires on',
  async ({ make }) => {
    await using fixture = await ledger(make())
    const { clock, scheduler, misfires, ran } = fixture
    const startMs = clock.now()
    const minutely = CronScheduleBuilder.cronSchedule('0 * * ? * *').withMisfireInstruction('doNothing')
    const trigger = (name: string): Trigger =>
      TriggerBuilder.newTrigger({ clock })
        .withIdentity(name)
        .forJob('work')
        .startAt(new Date(startMs))
        .withSchedule(minutely)
        .build()
    await scheduler.addJob(JobBuilder.newJob('work').withIdentity('work').storeDurably().build())
    const job = (await scheduler.getJobDetail(jobKey('work'))) ?? expect.fail('it was stored')
    const count = 50_000
    await scheduler.scheduleJob(
      job,
      Array.from({ length: count }, (_, index) => trigger(String(index))),
      { replace: true },
    )
    await clock.advance(8 * 60 * minute + 30_000)
    await scheduler.start()
    // The loop sleeps when it has treated all of them.
    await scheduler.idle()
    expect(ran).toEqual([])
    const found = await misfires({ take: 1000 })
    expect(found).toHaveLength(1000)
    expect(new Set(found.map(({ cause }) => cause))).toEqual(new Set(['outage']))
    const rows = await rowsOf(scheduler)
    expect(rows).toBeGreaterThanOrEqual(10_000)
    expect(rows).toBeLessThanOrEqual(count)
    await scheduler.standby()
  },
)

async function rowsOf(scheduler: Scheduler): Promise<number> {
  let rows = 0
  let after: MisfireCursor | null = null
  do {
    const page: Page<Misfire, MisfireCursor> = await scheduler.queryMisfires({
      take: 1000,
      ...(after !== null && { after }),
    })
    rows += page.items.length
    after = page.next
  } while (after !== null)
  return rows
}
