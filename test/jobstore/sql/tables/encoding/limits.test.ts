import { describe, expect, it } from 'vitest'
import { JobBuilder } from '../../../../../src/jobs/job-builder.ts'
import { calendarFromJSON } from '../../../../../src/triggers/calendars/calendar-json.ts'
import { CronScheduleBuilder } from '../../../../../src/triggers/families/cron/cron-trigger.ts'
import { TriggerBuilder } from '../../../../../src/triggers/families/trigger-builder.ts'
import { SqlTables } from '../../../../support/sql-tables.ts'

const smiles = (count: number): string => '😀'.repeat(count)

describe('what a column cannot hold is refused before the database sees it', () => {
  const trigger = (): TriggerBuilderOfTests =>
    TriggerBuilder.newTrigger().withIdentity('t').forJob('work', 'jobs')
  type TriggerBuilderOfTests = ReturnType<typeof TriggerBuilder.newTrigger>
  const list = (from: number, count: number): string =>
    Array.from({ length: count }, (_, index) => from + index).join(',')
  const longCron = `0 0 0 1 ${list(1, 12)} ? ${list(2030, 20)}`

  it.each<[string, number, () => TriggerBuilderOfTests]>([
    ['name', 201, () => trigger().withIdentity('x'.repeat(201))],
    ['group', 201, () => trigger().withIdentity('t', 'x'.repeat(201))],
    ['jobKey.name', 201, () => trigger().forJob('x'.repeat(201))],
    ['jobKey.group', 201, () => trigger().forJob('work', 'x'.repeat(201))],
    ['description', 251, () => trigger().withDescription(smiles(251))],
    ['calendarName', 201, () => trigger().modifiedByCalendar('x'.repeat(201))],
  ])('%s of a trigger', async (field, length, builder) => {
    const tables = await SqlTables.open()
    const built = builder().build()
    const refusal = expect.objectContaining({
      name: 'InvalidArgumentError',
      code: 'ERR_INVALID_ARGUMENT',
      field,
      message: expect.stringMatching(
        new RegExp(`'${field}' has ${length} characters.* ${length - 1} `),
      ) as string,
    }) as Error
    await expect(tables.run(tables.triggers.insert([{ trigger: built, state: 'WAITING' }]))).rejects.toThrow(
      refusal,
    )
    expect(tables.takeStatements()).toEqual([])
  })

  it('the expression of a cron trigger', async () => {
    const tables = await SqlTables.open()
    const built = trigger().withSchedule(CronScheduleBuilder.cronSchedule(longCron)).build()
    const refusal = expect.objectContaining({
      field: 'cronExpression',
      message: expect.stringContaining('120') as string,
    }) as Error
    const entries = [{ trigger: built, state: 'WAITING' }] as const
    await expect(tables.run(tables.triggers.put(entries))).rejects.toThrow(refusal)
    expect(tables.takeStatements()).toEqual([])
  })

  it.each([
    ['description', () => JobBuilder.newJob('work').withDescription('x'.repeat(251))],
    ['name', () => JobBuilder.newJob('work').withIdentity('x'.repeat(201))],
    ['group', () => JobBuilder.newJob('work').withIdentity('j', 'x'.repeat(201))],
    ['description', () => JobBuilder.newJob('work').withDescription('a\0b')],
    ['description', () => JobBuilder.newJob('work').withDescription('a\ud800')],
  ] as const)('%s of a job', async (field, builder) => {
    const tables = await SqlTables.open()
    const built = builder().build()
    const refusal = expect.objectContaining({ name: 'InvalidArgumentError', field }) as Error
    await expect(tables.run(tables.jobs.put([built]))).rejects.toThrow(refusal)
  })

  it('the name of a calendar', async () => {
    const tables = await SqlTables.open()
    const weekly = calendarFromJSON({ type: 'weekly', timeZone: 'UTC' })
    const refusal = expect.objectContaining({ name: 'InvalidArgumentError', field: 'name' }) as Error
    await expect(tables.run(tables.calendars.put('x'.repeat(201), weekly))).rejects.toThrow(refusal)
  })

  it('and what just fits is stored, counted in characters', async () => {
    const tables = await SqlTables.open()
    const job = JobBuilder.newJob('work')
      .withIdentity(smiles(200), 'jobs')
      .withDescription(smiles(250))
      .build()
    await tables.run(tables.jobs.insert([job]))
    const built = trigger()
      .withIdentity(smiles(200), smiles(200))
      .forJob(job)
      .withDescription(smiles(250))
      .build()
    await tables.run(tables.triggers.insert([{ trigger: built, state: 'WAITING' }]))
    const { found } = await tables.run(tables.triggers.load([built.key]))
    expect(found.get(built.key)?.trigger).toEqual(built)
  })
})
