import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test, vi } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import type { JobKey, TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import type {
  ExecutionCursor,
  ExecutionSummary,
  FirePlace,
  JobSummary,
  TriggerSummary,
} from '../../src/jobstore/queries.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import { newestTables } from '../../src/jobstore/sql/migrations/plan-migrations.ts'
import { pausedJobGroups, pausedTriggerGroups, storedCounts } from '../../src/testing/job-store/stored.ts'
import { completionOf, jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

/** Empty tables of an engine, and a way to write into them what no store would. */
export interface JunkGround {
  readonly store: () => JobStore
  readonly sql: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>
  readonly bytes: (hex: string) => string
  /** What check-ins and waits of the store go by; default the system's. */
  readonly clock?: Clock
}

const names = sqlNames('test', {})
const tables = [
  ...newestTables.map(({ name, columns, additions }) => ({
    name,
    columns: Object.keys({ ...columns, ...additions }),
  })),
  { name: 'schemaVersion' as const, columns: ['version', 'breaking', 'applied_time'] },
]

/** Values that mean nothing in most columns; an engine refuses those that its types or its constraints exclude. */
function junkValues(bytes: JunkGround['bytes']): readonly string[] {
  const blob = (name: string): string =>
    bytes(readFileSync(new URL(`../fixtures/interop/${name}`, import.meta.url)).toString('hex'))
  const asBytes = (text: string): string => bytes(Buffer.from(text).toString('hex'))
  return [
    'NULL',
    "''",
    "'   '",
    "'junk'",
    "'NaN'",
    `'a''b"\\%_ \u2702 {}[]'`,
    `'${'long'.repeat(60)}'`,
    `'{"a":'`,
    `'[true]'`,
    '0',
    '-1',
    // Not of so few milliseconds that a trigger with it fires all the time.
    '4321.5',
    '2147483648',
    '9007199254740991',
    '9223372036854775807',
    '-9223372036854775808',
    '1e300',
    asBytes(''),
    asBytes('{"n":'),
    asBytes('[1]'),
    asBytes('\\u12'),
    bytes('ff00fe'),
    blob('SER-job-job1.bin').slice(0, 40) + (bytes('').endsWith("'") ? "'" : ''),
    blob('SER-job-job1.bin'),
    blob('SER-calendar-holiday.bin'),
    blob('SER-blobtrigger-blob.bin'),
  ]
}

type TableName = (typeof tables)[number]['name']

const base: Partial<Record<TableName, Readonly<Record<string, string>>>> = {
  calendars: { calendar_name: "'calendar-#'", calendar: '@calendar' },
  pausedGroups: { trigger_group: "'group-#'" },
  pausedJobGroups: { job_group: "'group-#'" },
  schedulerState: {
    instance_name: "'node-#'",
    last_checkin_time: '1',
    checkin_interval: '1000',
    boot_id: "'boot-#'",
  },
  locks: { lock_name: "'lock-#'" },
  blobTriggers: { trigger_name: "'sick-#'", trigger_group: "'sick'", blob_data: 'NULL' },
  history: {
    fire_instance_id: "'id-#'",
    trigger_name: "'t-#'",
    trigger_group: "'g'",
    job_name: "'j'",
    job_group: "'g'",
    job_type: "'noop'",
    instance_name: "'node'",
    planned_time: '1',
    fired_time: '1',
    attempt: '1',
    outcome: "'failed'",
    recovering: 'false',
  },
  pauses: {
    pause_scope: "'trigger'",
    pause_group: "'g'",
    pause_name: "'t-#'",
    reason: "'why'",
    since_time: '1',
    until_time: '1',
  },
  splitFirings: {
    fire_id: "'fire-#'",
    job_name: "'sick-#'",
    job_group: "'sick'",
    trigger_name: "'t-#'",
    trigger_group: "'g'",
    instance_name: "'node'",
    planned_time: '1',
    fired_time: '1',
    parts: `'{"jobType":"noop","isBroadcast":false,"priority":5,"triggerData":{},"items":[{"item":0,"owner":"node",
      "parameter":null,"state":"given","triggerKey":{"name":"fire-#_0","group":"SHARDED_JOBS"},"outcome":null,
      "errorText":null}]}'`,
  },
  awaitedResults: {
    reference: "'reference-#'",
    fire_id: "'fire-#'",
    job_name: "'sick-#'",
    job_group: "'sick'",
    deadline: '1',
    details: `'{}'`,
  },
  schemaVersion: { version: '-100 - #', breaking: 'false', applied_time: '0' },
}

/** Tables without which nothing fires. */
const vital: readonly TableName[] = ['jobs', 'triggers', 'firedTriggers']

/**
 * Every column of every table, each with junk in many rows at once, beside triggers that are well. With `sample` it is
 * every third column of the tables that are not vital.
 */
export function describeJunkRows(
  engine: string,
  prepare: () => Promise<JunkGround>,
  { sample = false } = {},
): void {
  let columnsBefore = 0
  for (const { name, columns } of tables) {
    describe(`junk in ${name} on ${engine} stops nothing else`, () => {
      for (const column of columns) {
        const isLeftOut = sample && !vital.includes(name) && columnsBefore++ % 3 !== 0
        const play = async () => new JunkScene(await prepare(), name, column).play()
        test.skipIf(isLeftOut)(column, play) // reason: all of these columns would take minutes
      }
    })
  }
}

const healthy = ['well', 'well-alone']
const schedules: Readonly<Record<string, () => ScheduleBuilder<Trigger>>> = {
  simple: () => SimpleScheduleBuilder.repeatSecondlyForever(),
  cron: () => CronScheduleBuilder.cronSchedule('* * * * * ?', { timeZone: 'UTC' }),
  interval: () =>
    CalendarIntervalScheduleBuilder.calendarIntervalSchedule().withIntervalInSeconds(1).inTimeZone('UTC'),
  daily: () =>
    DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule().withIntervalInSeconds(1).inTimeZone('UTC'),
}

/** One column with junk, from the first firing to the start of the next node. */
class JunkScene {
  readonly #ground: JunkGround
  readonly #table: TableName
  readonly #column: string
  readonly #clock = new ManualClock(Date.UTC(2026, 0, 5, 12))
  #bed: Testbed
  #junked = 0
  #starts = 0

  constructor(ground: JunkGround, table: TableName, column: string) {
    this.#ground = ground
    this.#table = table
    this.#column = column
    this.#bed = new Testbed(ground.store(), this.#clock, 'node')
  }

  async play(): Promise<void> {
    await this.#initialize()
    try {
      const values = junkValues(this.#ground.bytes)
      await this.#schedule(values.length)
      if (this.#table === 'firedTriggers') await this.#disturbFirings(values)
      else await this.#spoil(values)
      // Constraints of the engine may keep all of it out.
      if (this.#junked === 0) return
      await this.#live()
      // The firing that such a row stood for is taken for one under way until the node starts again.
      if (this.#table !== 'firedTriggers') await this.#expectNothingLeft()
      await this.#fireAll()
      if (this.#table === 'firedTriggers') await this.#spoil(values)
      await this.#bed.store.shutdown()
      await this.#restart()
      await this.#live()
      // Instances that are nowhere are recovered a little later.
      const settle = () => this.#runDue().then(() => this.#expectNothingLeft())
      await vi.waitFor(settle, { timeout: 20_000 })
      await this.#bed.store.clear()
      assert.deepEqual(await this.#bed.store.getTriggerKeys(GroupMatcher.groupEquals('DEFAULT')), [])
    } finally {
      await this.#bed.store.shutdown()
    }
  }

  async #restart(): Promise<void> {
    this.#bed = new Testbed(this.#ground.store(), this.#clock, 'node')
    await this.#initialize()
    await this.#bed.store.schedulerStarted()
  }

  /** Only the wall's time is moved: check-ins go on by the system's. */
  async #initialize(): Promise<void> {
    const clock = { ...(this.#ground.clock ?? systemClock), now: () => this.#clock.now() }
    await this.#bed.store.initialize({ ...this.#bed.context, clock, ids: seededIds(++this.#starts) })
  }

  async #schedule(count: number): Promise<void> {
    const { store } = this.#bed
    await store.addCalendar('calendar', new HolidayCalendar({ excludedDates: [], timeZone: 'UTC' }), {
      replace: false,
      updateTriggers: false,
    })
    const jobs = [
      this.#job('well', {}),
      this.#job('well-alone', { disallowConcurrentExecution: true, persistJobDataAfterExecution: true }),
    ]
    const sick = Array.from({ length: count }, (_, index) =>
      this.#job(`sick-${index}`, {
        group: 'sick',
        disallowConcurrentExecution: index % 3 === 0,
        persistJobDataAfterExecution: index % 2 === 0,
      }),
    )
    const schedule = this.#scheduleOfTable()
    const entries = [...jobs, ...sick].map((job) => {
      const isSick = job.key.group === 'sick'
      let builder = TriggerBuilder.newTrigger({ clock: this.#clock })
        .withIdentity(job.key.name, isSick ? 'sick' : undefined)
        .forJob(job)
        .startAt(new Date(this.#clock.now()))
        .usingJobData({ text: 'kept' })
        // Junk stands in front of what is well.
        .withPriority(isSick ? 9 : 5)
      if (isSick && this.#column === 'calendar_name') builder = builder.modifiedByCalendar('calendar')
      const trigger = builder
        .withSchedule(isSick ? schedule() : SimpleScheduleBuilder.repeatSecondlyForever())
        .build()
        .computeFirstFireTime(null)
      return { job, triggers: [trigger] }
    })
    await store.scheduleJobs(entries, { replace: false })
  }

  #scheduleOfTable(): () => ScheduleBuilder<Trigger> {
    const { simple, cron, interval, daily } = schedules
    assert.ok(simple && cron && interval && daily)
    if (this.#table === 'cronTriggers') return cron
    if (this.#table !== 'simpropTriggers') return simple
    const isOfInterval = ['bool_prop_1', 'bool_prop_2'].includes(this.#column)
    return isOfInterval ? interval : daily
  }

  #job(name: string, changes: Partial<JobDetail> & { group?: string }): JobDetail {
    return jobDetail(name, {
      durable: true,
      requestsRecovery: true,
      jobDataMap: { text: 'kept' },
      ...changes,
    })
  }

  /** Writes one junk value into each of the sick rows, as far as the database takes it. */
  async #spoil(values: readonly string[]): Promise<void> {
    const inserted = base[this.#table]
    for (const [index, value] of values.entries()) {
      const statements =
        inserted === undefined ? this.#updates(index, value) : this.#insert(inserted, index, value)
      try {
        for (const statement of statements) await this.#ground.sql(statement)
        this.#junked++
      } catch {
        // The types and constraints of this engine keep that value out.
      }
    }
  }

  #insert(row: Readonly<Record<string, string>>, index: number, value: string): string[] {
    const isGlobal = this.#table === 'schemaVersion'
    const columns: Record<string, string> = isGlobal ? {} : { sched_name: "'conformance'" }
    for (const [name, literal] of Object.entries({ ...row, [this.#column]: value })) {
      const of = literal === '@calendar' ? this.#ground.bytes(Buffer.from('{}').toString('hex')) : literal
      columns[name] = of.replaceAll('#', String(index))
    }
    const insert = `INSERT INTO ${names[this.#table]} (${Object.keys(columns).join(', ')})
      VALUES (${Object.values(columns).join(', ')})`
    if (this.#table !== 'calendars') return [insert]
    const name = columns['calendar_name'] ?? ''
    return [
      insert,
      `UPDATE ${names.triggers} SET calendar_name = ${name} WHERE trigger_name = 'sick-${index}'`,
    ]
  }

  #updates(index: number, value: string): string[] {
    const set = (table: string, column: string = this.#column): string =>
      `UPDATE ${table} SET ${column} = ${value} WHERE ${this.#nameColumn(table)} = 'sick-${index}'`
    if (this.#table === 'jobs' && ['job_name', 'job_group'].includes(this.#column)) {
      return [...this.#jobUnderAnotherKey(index, value), set(names.triggers)]
    }
    if (this.#table === 'triggers' && ['trigger_name', 'trigger_group'].includes(this.#column)) {
      return [set(names.simpleTriggers), set(names.triggers)]
    }
    return [set(names[this.#table])]
  }

  /** Its triggers hold on to the key that a job has. */
  #jobUnderAnotherKey(index: number, value: string): string[] {
    const columns = tables.find(({ name }) => name === 'jobs')?.columns ?? []
    const selected = columns.map((column) => (column === this.#column ? value : column))
    return [
      `INSERT INTO ${names.jobs} (${columns.join(', ')})
        SELECT ${selected.join(', ')} FROM ${names.jobs} WHERE job_name = 'sick-${index}'`,
    ]
  }

  #nameColumn(table: string): string {
    return table === names.jobs ? 'job_name' : 'trigger_name'
  }

  /** Junk in the rows of firings that are under way, which then end. */
  async #disturbFirings(values: readonly string[]): Promise<void> {
    const bundles = await this.#fireAll()
    await this.#spoil(values)
    await this.#complete(bundles)
    // And in those of claims.
    await this.#clock.advance(1000)
    const claims = await this.#bed.acquire({ maxCount: 100 })
    await this.#spoil(values)
    const results = await this.#bed.store.triggersFired(claims)
    await this.#complete(results.flatMap((result) => (result.kind === 'fired' ? [result.bundle] : [])))
    await this.#bed.store.releaseAllAcquiredTriggers()
    for (const name of healthy)
      assert.ok(
        results.some(({ kind }) => kind === 'fired'),
        name,
      )
  }

  /** What is well fires on time, late and after a pause; everything can be listed; a fault is told once. */
  async #live(): Promise<void> {
    // At first a few at a time, so that junk stands in front of what is well.
    await this.#expectWellFires(8)
    await this.#expectWellFires()
    // Time enough for misfires.
    await this.#clock.advance(90_000)
    await this.#runDue()
    await this.#expectWellFires()
    await this.#list()
    const { store } = this.#bed
    await store.pauseAll()
    await this.#clock.advance(90_000)
    await store.resumeAll()
    await this.#expectWellFires()
    const inError = this.#bed.signals.inError.map(({ key }) => key)
    assert.equal(new Set(inError).size, inError.length, 'each is told of once')
  }

  async #expectWellFires(batchSize?: number): Promise<void> {
    await this.#clock.advance(1000)
    const fired = await this.#runDue(batchSize)
    for (const name of healthy) assert.ok(fired.includes(name), `'${name}' fires`)
  }

  async #runDue(batchSize = 100): Promise<string[]> {
    const fired: string[] = []
    for (let turn = 0; turn < 1000; turn++) {
      const bundles = await this.#fireSome(batchSize)
      if (bundles.length === 0) return fired
      fired.push(...bundles.map(({ trigger }) => trigger.key.name))
      await this.#complete(bundles)
    }
    throw new Error('the same triggers are due for ever')
  }

  async #fireSome(maxCount: number): Promise<TriggerFiredBundle[]> {
    const { fired, acquired } = await this.#bed.acquireAndFire({ maxCount })
    const results = acquired.length === 0 ? [] : await this.#bed.store.triggersFired(acquired)
    return [...fired, ...results.flatMap((result) => (result.kind === 'fired' ? [result.bundle] : []))]
  }

  /** Begins all that is due, and lets it run. */
  async #fireAll(): Promise<TriggerFiredBundle[]> {
    await this.#clock.advance(1000)
    const bundles: TriggerFiredBundle[] = []
    for (;;) {
      const some = await this.#fireSome(100)
      if (some.length === 0) return bundles
      bundles.push(...some)
    }
  }

  async #complete(bundles: readonly TriggerFiredBundle[]): Promise<void> {
    await this.#bed.store.triggeredJobsComplete(
      bundles.map((bundle) => {
        const persists = bundle.jobDetail.persistJobDataAfterExecution
        return completionOf(bundle, 'noop', { jobDataMap: persists ? { text: 'changed' } : null })
      }),
    )
  }

  async #list(): Promise<void> {
    const { store } = this.#bed
    const triggers = await pagesOf<TriggerSummary, TriggerKey>((after) =>
      store.queryTriggers({ take: 7, ...after }),
    )
    const jobs = await pagesOf<JobSummary, JobKey>((after) => store.queryJobs({ take: 7, ...after }))
    for (const name of healthy) {
      assert.ok(triggers.some(({ key }) => key.name === name))
      assert.ok(jobs.some(({ key }) => key.name === name))
    }
    const states = await Promise.all(triggers.map(({ key }) => store.getTriggerState(key)))
    assert.ok(!states.includes('NONE'))
    await pagesOf<ExecutionSummary, ExecutionCursor>((after) => store.queryExecutions({ take: 7, ...after }))
    await pagesOf<TriggerSummary, FirePlace>((after) => store.queryNextTriggers({ take: 7, ...after }))
    await store.queryTriggers({
      search: 'a',
      jobType: 'b',
      dueBefore: new Date(),
      state: ['ERROR', 'NORMAL'],
    })
    await store.getJobs(jobs.map(({ key }) => key))
    await store.getTriggers(triggers.map(({ key }) => key))
    await store.getTriggerCounts()
    await store.getGroupCounts('jobs')
    await store.getGroupCounts('triggers')
    await storedCounts(store)
    await Promise.all(jobs.map(({ key }) => store.getTriggersOfJob(key)))
    await store.getJobKeys(GroupMatcher.anyGroup())
    await store.getTriggerKeys(GroupMatcher.anyGroup())
    await store.getJobGroupNames()
    await store.getTriggerGroupNames()
    await pausedTriggerGroups(store)
    await pausedJobGroups(store)
    await store.getPausedGroups()
    await store.endPauses()
    await store.getCalendarNames()
    await store.cluster?.executing()
    await store.cluster?.nodes()
  }

  /** Nothing that is due is passed over in silence, and nothing hangs. */
  async #expectNothingLeft(): Promise<void> {
    const left = await this.#ground.sql(
      `SELECT trigger_name, trigger_state, next_fire_time FROM ${names.triggers}
       WHERE sched_name = 'conformance' AND (trigger_state IN ('ACQUIRED', 'BLOCKED', 'PAUSED_BLOCKED')
         OR (trigger_state = 'WAITING' AND next_fire_time > 0 AND next_fire_time <= ${this.#clock.now()}))`,
    )
    assert.deepEqual(left, [])
  }
}

async function pagesOf<Item, Cursor>(
  page: (after: { after?: Cursor }) => Promise<{ items: readonly Item[]; next: Cursor | null }>,
): Promise<Item[]> {
  const items: Item[] = []
  let after: { after?: Cursor } = {}
  for (let turn = 0; turn < 100; turn++) {
    const { items: more, next } = await page(after)
    items.push(...more)
    if (next === null) return items
    after = { after: next }
  }
  throw new Error('the pages have no end')
}
