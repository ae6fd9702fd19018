import { CalendarIntervalScheduleBuilder } from 'quartz-ts'
import { describe, expect, it } from 'vitest'
import { JobKey, TriggerKey } from '../../../../../src/core/key.ts'
import { JobBuilder } from '../../../../../src/jobs/job-builder.ts'
import type { FiredRow } from '../../../../../src/jobstore/sql/tables/firings/fired-rows.ts'
import type { StoredTrigger } from '../../../../../src/jobstore/sql/tables/triggers/trigger-table.ts'
import {
  nextTriggerState,
  type StoredTriggerState,
  storedTriggerStates,
  triggerActions,
} from '../../../../../src/jobstore/trigger-state.ts'
import { CronScheduleBuilder } from '../../../../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../../../../src/triggers/families/trigger-builder.ts'
import { jobNamed, SqlTables } from '../../../../support/sql-tables.ts'

interface Parts {
  readonly name: string
  readonly group?: string
  readonly job?: string
  readonly atMs?: number
  readonly priority?: number
  readonly state?: StoredTriggerState
  readonly calendarName?: string
}

function entry({
  name,
  group,
  job = 'work',
  atMs = 1000,
  priority = 5,
  state = 'WAITING',
  calendarName,
}: Parts): StoredTrigger {
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity(name, group)
    .forJob(job, 'jobs')
    .startAt(new Date(atMs))
    .withPriority(priority)
    .modifiedByCalendar(calendarName ?? null)
    .build()
  return { trigger: trigger.computeFirstFireTime(null), state }
}

async function tablesWith(...parts: readonly Parts[]): Promise<SqlTables> {
  const tables = await SqlTables.open()
  const concurrent = ['work', 'play', 'strange'].map((name) => jobNamed(name, name))
  const exclusive = JobBuilder.newJob('work').withIdentity('exclusive', 'jobs').disallowConcurrentExecution()
  await tables.run(tables.jobs.insert([...concurrent, exclusive.requestRecovery().build()]))
  await tables.run(tables.triggers.insert(parts.map(entry)))
  return tables
}

const due = async (
  tables: SqlTables,
  request: { untilMs?: number; limit?: number; unknownJobTypes?: readonly string[] } = {},
): Promise<string[]> => {
  const found = await tables.run(
    tables.triggers.lockDue({ untilMs: 5000, limit: 100, unknownJobTypes: [], ...request }),
  )
  return found.map(({ key }) => key.name)
}

describe('triggers that are due', () => {
  it('come by fire time, priority and key, group DEFAULT first', async () => {
    const tables = await tablesWith(
      { name: 'z' },
      { name: 'A' },
      { name: 'a', group: 'Zoo' },
      { name: 'b', group: 'zoo' },
      { name: 'c', group: 'CASE' },
      { name: 'urgent', priority: 6 },
      { name: 'early', atMs: 999, priority: 1 },
      { name: 'later', atMs: 5001 },
      { name: 'last', atMs: 5000 },
    )
    expect(await due(tables)).toEqual(['early', 'urgent', 'A', 'z', 'c', 'a', 'b', 'last'])
    expect(await due(tables, { limit: 2 })).toEqual(['early', 'urgent'])
  })

  it('wait, and no other state is found', async () => {
    const tables = await tablesWith(...storedTriggerStates.map((state) => ({ name: state, state })))
    expect(await due(tables)).toEqual(['WAITING'])
  })

  it('are told with what a claim needs', async () => {
    const tables = await tablesWith({ name: 't', job: 'exclusive' })
    const request = { untilMs: 1000, limit: 1, unknownJobTypes: [] }
    expect(await tables.run(tables.triggers.lockDue(request))).toEqual([
      {
        key: new TriggerKey('t'),
        jobKey: new JobKey('exclusive', 'jobs'),
        jobType: 'work',
        nonConcurrent: true,
        requestsRecovery: true,
        nextFireTimeMs: 1000,
        misfireIsIgnored: false,
        rowId: expect.anything() as unknown,
        row: expect.objectContaining({ trigger_name: 't', job_class_name: 'work' }) as unknown,
      },
    ])
  })

  it('are left out when their job is of a type that is not known here', async () => {
    const tables = await tablesWith({ name: 'a' }, { name: 'b', job: 'strange' }, { name: 'c', job: 'play' })
    expect(await due(tables, { unknownJobTypes: ['strange', 'other'] })).toEqual(['a', 'c'])
  })

  it('are left out where Java left a fire time of -1 or 0', async () => {
    const tables = await tablesWith({ name: 'a' }, { name: 'b' }, { name: 'c' })
    await tables.query("UPDATE qrtz_triggers SET next_fire_time = -1 WHERE trigger_name = 'a'")
    await tables.query("UPDATE qrtz_triggers SET next_fire_time = 0 WHERE trigger_name = 'b'")
    expect(await due(tables)).toEqual(['c'])
  })

  it.each(['ACQUIRED', 'EXECUTING'] as const)(
    'are left out while a firing of their non-concurrent job is %s',
    async (state) => {
      const tables = await tablesWith({ name: 'a', job: 'exclusive' }, { name: 'b' })
      const other = {
        fireInstanceId: '2',
        triggerKey: new TriggerKey('y'),
        jobKey: new JobKey('work', 'jobs'),
      }
      await tables.run(tables.firedTriggers.insert([firing(state), { ...firing(state), ...other }]))
      expect(await due(tables)).toEqual(['b'])
    },
  )

  it('are left out while a trigger of their non-concurrent job is claimed by Java, which names no job', async () => {
    const tables = await tablesWith(
      { name: 'a', job: 'exclusive' },
      { name: 'b', job: 'exclusive', state: 'ACQUIRED' },
      { name: 'c' },
    )
    await tables.run(
      tables.firedTriggers.insert([{ ...firing('ACQUIRED'), triggerKey: new TriggerKey('b'), jobKey: null }]),
    )
    expect(await due(tables)).toEqual(['c'])
  })
})

function firing(state: FiredRow['state']): FiredRow {
  return {
    fireInstanceId: '1',
    triggerKey: new TriggerKey('x'),
    jobKey: new JobKey('exclusive', 'jobs'),
    instanceId: 'node',
    state,
    firedTimeMs: 1,
    plannedTimeMs: 1,
    priority: 5,
    nonConcurrent: true,
    requestsRecovery: false,
  }
}

describe('locked triggers', () => {
  it('are told in order of keys, each once, without those that do not exist', async () => {
    const tables = await tablesWith(
      { name: 'b' },
      { name: 'a' },
      { name: 'a', group: 'A', calendarName: 'nights' },
    )
    const keys = [['b'], ['a'], ['a', 'A'], ['missing'], ['x'.repeat(201)], ['\0']] as const
    const refs = await tables.run(
      tables.triggers.lock(keys.map(([name, group]) => new TriggerKey(name, group))),
    )
    expect(refs.map(({ key }) => key.toString())).toEqual(['DEFAULT.a', 'DEFAULT.b', 'A.a'])
    expect(refs[2]).toEqual({
      key: new TriggerKey('a', 'A'),
      jobKey: new JobKey('work', 'jobs'),
      state: 'WAITING',
      nextFireTimeMs: 1000,
      calendarName: 'nights',
      storedType: 'SIMPLE',
      misfireIsIgnored: false,
    })
  })

  it('are found by job and by calendar', async () => {
    const tables = await tablesWith(
      { name: 'c', job: 'play', calendarName: 'nights' },
      { name: 'b' },
      { name: 'a', job: 'play' },
    )
    const play = new JobKey('play', 'jobs')
    const names = (refs: readonly { key: TriggerKey }[]): string[] => refs.map(({ key }) => key.name)
    expect(names(await tables.run(tables.triggers.lockOfJobs([play])))).toEqual(['a', 'c'])
    expect(names(await tables.run(tables.triggers.lockOfCalendar('nights')))).toEqual(['c'])
    const { found } = await tables.run(tables.triggers.loadOfJob(play))
    expect(names(found.keys().map((key) => ({ key })))).toEqual(['a', 'c'])
  })

  it('know that they ignore misfires', async () => {
    const tables = await tablesWith()
    const schedule = CronScheduleBuilder.dailyAtHourAndMinute(7, 0).withMisfireInstruction('ignore')
    const builder = TriggerBuilder.newTrigger()
      .withIdentity('t')
      .forJob('work', 'jobs')
      .withSchedule(schedule)
    await tables.run(tables.triggers.insert([{ trigger: builder.build(), state: 'PAUSED' }]))
    const [ref] = await tables.run(tables.triggers.lock([new TriggerKey('t')]))
    expect(ref).toMatchObject({ misfireIsIgnored: true, nextFireTimeMs: null, storedType: 'CRON' })
  })
})

describe('states', () => {
  const states = async (tables: SqlTables): Promise<unknown> =>
    Object.fromEntries(
      (await tables.query('SELECT trigger_name, trigger_state FROM qrtz_triggers')).map((row) => [
        row['trigger_name'],
        row['trigger_state'],
      ]),
    )

  it.each(triggerActions)("of the triggers of a job change as the table says on '%s'", async (action) => {
    const parts = storedTriggerStates.map(
      (state, index): Parts => ({ name: state, state, atMs: 1000 + index }),
    )
    const tables = await tablesWith(...parts, { name: 'other', job: 'play', atMs: 1 })
    const earliest = await tables.run(tables.triggers.applyToJobs(action, [new JobKey('work', 'jobs')]))
    const after = (state: StoredTriggerState): StoredTriggerState => nextTriggerState(state, action) ?? state
    expect(await states(tables)).toEqual({
      ...Object.fromEntries(storedTriggerStates.map((state) => [state, after(state)])),
      other: 'WAITING',
    })
    const released = parts.filter(({ state = 'WAITING' }) => nextTriggerState(state, action) === 'WAITING')
    const earliestMs = released.length === 0 ? null : Math.min(...released.map(({ atMs = 0 }) => atMs))
    expect(earliest).toBe(earliestMs)
  })

  it('are set one by one', async () => {
    const tables = await tablesWith({ name: 'a' }, { name: 'b' }, { name: 'c' })
    const changes = [
      { key: new TriggerKey('a'), state: 'ERROR' },
      { key: new TriggerKey('b'), state: 'PAUSED' },
    ] as const
    await tables.run(tables.triggers.setStates(changes))
    expect(await states(tables)).toEqual({ a: 'ERROR', b: 'PAUSED', c: 'WAITING' })
  })
})

describe('many triggers', () => {
  it('take as many statements as one', async () => {
    const tables = await tablesWith()
    const counts: number[][] = []
    for (const count of [1, 2000]) {
      const entries = Array.from({ length: count }, (_, index) => entry({ name: `${count}-${index}` }))
      const keys = entries.map(({ trigger }) => trigger.key)
      tables.takeStatements()
      const steps = [
        () => tables.run(tables.triggers.insert(entries)),
        () => tables.run(tables.triggers.put(entries)),
        () => tables.run(tables.triggers.advance(entries)),
        () => tables.run(tables.triggers.load(keys)),
        () => tables.run(tables.triggers.setStates(keys.map((key) => ({ key, state: 'PAUSED' })))),
        () => tables.run(tables.triggers.delete(keys.map((key) => ({ key, storedType: 'SIMPLE' })))),
      ]
      const taken: number[] = []
      for (const step of steps) {
        await step()
        taken.push(tables.takeStatements().length)
      }
      counts.push(taken)
    }
    expect(counts).toEqual([
      [2, 3, 2, 1, 1, 2],
      [2, 3, 2, 1, 1, 2],
    ])
  })

  it('beyond what one statement takes are stored all the same', async () => {
    const tables = await tablesWith()
    const entries = Array.from({ length: 5001 }, (_, index) => entry({ name: `t${index}` }))
    await tables.run(tables.triggers.insert(entries))
    const { found } = await tables.run(tables.triggers.load(entries.map(({ trigger }) => trigger.key)))
    expect(found.size).toBe(5001)
  })

  it('of one key are stored as the last of them, in one call', async () => {
    const tables = await tablesWith()
    const interval = CalendarIntervalScheduleBuilder.calendarIntervalSchedule().inTimeZone('UTC')
    const last = TriggerBuilder.newTrigger()
      .withIdentity('t')
      .forJob('work', 'jobs')
      .withSchedule(interval)
      .build()
    await tables.run(tables.triggers.put([entry({ name: 't' }), { trigger: last, state: 'ERROR' }]))
    const { found } = await tables.run(tables.triggers.load([last.key]))
    expect(found.get(last.key)).toEqual({ trigger: last, state: 'ERROR' })
  })
})
