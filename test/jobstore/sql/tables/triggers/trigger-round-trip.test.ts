import fc from 'fast-check'
import { CalendarIntervalScheduleBuilder } from 'quartz-ts'
import { describe, expect, it } from 'vitest'
import { JobKey, TriggerKey } from '../../../../../src/core/key.ts'
import { searchesUntilAlone } from '../../../../../src/jobstore/sql/tables/triggers/searched-table.ts'
import type { StoredTrigger } from '../../../../../src/jobstore/sql/tables/triggers/trigger-table.ts'
import { storedTriggerStates } from '../../../../../src/jobstore/trigger-state.ts'
import { CronScheduleBuilder } from '../../../../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../../../../src/triggers/families/trigger-builder.ts'
import type { ScheduleBuilder } from '../../../../../src/triggers/fluent-trigger-builder.ts'
import { int32Max } from '../../../../../src/triggers/invalid-trigger.ts'
import type { Trigger } from '../../../../../src/triggers/trigger.ts'
import { SqlTables } from '../../../../support/sql-tables.ts'
import { propertySeed, triggers } from '../../../../support/trigger-arbitraries.ts'

const seed = propertySeed
const job = new JobKey('work', 'jobs')

const storable = triggers.filter(({ description }) => !/[\0\p{Surrogate}]/u.test(description ?? ''))
/** Triggers in every state of their life, some of them moved by a misfire policy. */
const storedTriggers: fc.Arbitrary<StoredTrigger> = fc
  .record({
    trigger: storable,
    times: fc.integer({ min: 0, max: 3 }),
    misfires: fc.boolean(),
    state: fc.constantFrom(...storedTriggerStates),
  })
  .map(({ trigger, times, misfires, state }) => {
    let current: Trigger = trigger.withJobKey(job).computeFirstFireTime(null)
    for (let time = 0; time < times; time++) current = current.triggered(null)
    return { trigger: misfires ? current.updateAfterMisfire(null, Date.UTC(2030, 0, 1)) : current, state }
  })
  // Tables keep no higher count than Java can read.
  .filter(({ trigger }) => trigger.timesTriggered <= int32Max)

const oneOfEach = fc
  .array(storedTriggers, { minLength: 1, maxLength: 12 })
  .map((entries) => entries.map((entry, index) => withKey(entry, `t${index}`)))

function withKey({ trigger, state }: StoredTrigger, name: string): StoredTrigger {
  const { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs } = trigger
  const renamed = trigger.getTriggerBuilder().withIdentity(name, trigger.key.group).build()
  const fireState = { nextFireTimeMs, previousFireTimeMs, timesTriggered, misfiredFireTimeMs }
  return { trigger: renamed.withFireState(fireState), state }
}

async function loadAll(tables: SqlTables, entries: readonly StoredTrigger[]): Promise<unknown[]> {
  const { found, broken } = await tables.run(tables.triggers.load(entries.map(({ trigger }) => trigger.key)))
  expect(broken).toEqual([])
  return entries.map(({ trigger }) => found.get(trigger.key))
}

describe(`triggers in tables (seed ${seed})`, () => {
  it('come back as they were inserted, whatever they are', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    await fc.assert(
      fc.asyncProperty(oneOfEach, async (entries) => {
        await tables.run(tables.triggers.insert(entries))
        expect(await loadAll(tables, entries)).toEqual(entries)
        const refs = await tables.run(tables.triggers.lock(entries.map(({ trigger }) => trigger.key)))
        await tables.run(tables.triggers.delete(refs))
        expect(await countRows(tables)).toBe(0)
      }),
      { seed, numRuns: 150 },
    )
  })

  it('come back as they were put over others of any type', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    await fc.assert(
      fc.asyncProperty(storedTriggers, async (entry) => {
        const renamed = withKey(entry, 'same')
        await tables.run(tables.triggers.put([renamed]))
        expect(await loadAll(tables, [renamed])).toEqual([renamed])
        const others = await countRows(tables)
        expect(others).toBeLessThanOrEqual(4)
      }),
      { seed, numRuns: 300 },
    )
    const groups = [new TriggerKey('same'), new TriggerKey('same', 'reports')]
    await tables.run(tables.triggers.delete(await tables.run(tables.triggers.lock(groups))))
    expect(await countRows(tables)).toBe(0)
  })

  it('have the state and fire state that advance wrote, and nothing else is changed', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    await fc.assert(
      fc.asyncProperty(oneOfEach, async (entries) => {
        await tables.run(tables.triggers.put(entries))
        const later = entries.map(({ trigger }): StoredTrigger => {
          return { trigger: trigger.triggered(null), state: 'BLOCKED' }
        })
        await tables.run(tables.triggers.advance(later))
        expect(await loadAll(tables, later)).toEqual(later)
      }),
      { seed, numRuns: 100 },
    )
  })
})

describe('a trigger in tables', () => {
  it.each(['0 7 * * 1', '@daily'])('keeps the Unix cron expression %s', async (expression) => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity('t')
      .forJob(job)
      .withSchedule(CronScheduleBuilder.unixCron(expression).inTimeZone('Europe/Paris'))
      .build()
    const entry: StoredTrigger = { trigger: trigger.computeFirstFireTime(null), state: 'WAITING' }
    await tables.run(tables.triggers.insert([entry]))
    expect(await loadAll(tables, [entry])).toEqual([entry])
  })

  it('that has fired once and for the last time has its count, which is in no column', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    const once = TriggerBuilder.newTrigger().withIdentity('once').forJob(job).startAt(new Date(1000)).build()
    const fired = once.computeFirstFireTime(null).triggered(null)
    await tables.run(tables.triggers.insert([{ trigger: once, state: 'WAITING' }]))
    await tables.run(tables.triggers.advance([{ trigger: fired, state: 'COMPLETE' }]))
    expect(await loadAll(tables, [{ trigger: fired, state: 'COMPLETE' }])).toEqual([
      { trigger: fired, state: 'COMPLETE' },
    ])
    const [row] = await tables.query('SELECT times_triggered AS n FROM qrtz_simple_triggers')
    expect(Number(row?.['n'])).toBe(0)
  })

  it('that is due before 1970 is due at the first instant that the column can hold', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    const trigger = TriggerBuilder.newTrigger().withIdentity('t').forJob(job).startAt(new Date(0)).build()
    await tables.run(
      tables.triggers.insert([{ trigger: trigger.computeFirstFireTime(null), state: 'WAITING' }]),
    )
    const [due] = await tables.run(tables.triggers.lockDue({ untilMs: 5, limit: 1, unknownJobTypes: [] }))
    expect(due?.nextFireTimeMs).toBe(1)
  })

  it('has its schedule when it comes due after many of another kind', async () => {
    const tables = await SqlTables.open()
    await tables.addJobs('work')
    const dueAtOnce = (name: string, schedule?: ScheduleBuilder<Trigger>): Trigger => {
      const builder = TriggerBuilder.newTrigger().withIdentity(name).forJob(job).startAt(new Date(1000))
      return (schedule === undefined ? builder : builder.withSchedule(schedule))
        .build()
        .computeFirstFireTime(null)
    }
    const search = async (): Promise<readonly Trigger[]> => {
      const untilMs = Date.UTC(1980, 0, 1)
      const due = await tables.run(tables.triggers.lockDue({ untilMs, limit: 10, unknownJobTypes: [] }))
      return due.map((each) => tables.triggers.triggerOf(each))
    }
    const once = dueAtOnce('a')
    const daily = dueAtOnce('b', CronScheduleBuilder.unixCron('0 7 * * *').inTimeZone('Europe/Paris'))
    const monthly = dueAtOnce(
      'c',
      CalendarIntervalScheduleBuilder.calendarIntervalSchedule().withIntervalInMonths(1),
    )
    await tables.run(tables.triggers.insert([{ trigger: once, state: 'WAITING' }]))
    for (let each = 0; each <= searchesUntilAlone; each++) expect(await search()).toEqual([once])
    await tables.run(
      tables.triggers.insert([daily, monthly].map((trigger) => ({ trigger, state: 'WAITING' as const }))),
    )
    const found = await search()
    expect(found).toHaveLength(3)
    expect(found).toEqual(expect.arrayContaining([once, daily, monthly]))
  })
})

async function countRows(tables: SqlTables): Promise<number> {
  const names = ['triggers', 'simple_triggers', 'cron_triggers', 'simprop_triggers', 'blob_triggers']
  const counts = names.map((name) => `(SELECT count(*) FROM qrtz_${name})`)
  return Number((await tables.query(`SELECT ${counts.join(' + ')} AS n`))[0]?.['n'])
}
