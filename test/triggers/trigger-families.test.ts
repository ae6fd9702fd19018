import { createScheduler, defineJob, JobBuilder, type Trigger, TriggerBuilder, TriggerUtils } from 'quartz-ts'
import { TriggerFamilies, type TriggerFamily } from 'quartz-ts/spi'
import { describe, expect, it } from 'vitest'
import { triggerFromJSON, triggerToJSON } from '../../src/triggers/families/trigger-json.ts'
import { type SlowingFields, slowingFamily, slowingSchedule } from '../support/slowing-trigger.ts'

const startMs = Date.UTC(2026, 0, 1)

function slowing(changes: Partial<SlowingFields> = {}): Trigger {
  const schedule: SlowingFields = {
    firstGapMs: 1000,
    growthMs: 500,
    repeatCount: 4,
    misfireInstruction: 'ignore',
    ...changes,
  }
  return TriggerBuilder.newTrigger()
    .withIdentity('s')
    .forJob('j')
    .startAt(new Date(startMs))
    .withSchedule(slowingSchedule(schedule))
    .build()
    .computeFirstFireTime(null)
}

describe('a trigger of another family', () => {
  const families = new TriggerFamilies([slowingFamily])

  it('fires by its own rule, also for those who look ahead', () => {
    const times = TriggerUtils.computeFireTimes(slowing(), null, 10)
    expect(times.map((time) => time.getTime() - startMs)).toEqual([0, 1000, 2500, 4500, 7000])
  })

  it('is the same after a round trip through JSON', () => {
    const trigger = slowing().triggered(null)
    const json: unknown = JSON.parse(JSON.stringify(families.toJSON(trigger)))
    expect(json).toMatchObject({ type: 'slowing', timesTriggered: 1, firstGapMs: 1000, growthMs: 500 })
    expect(families.fromJSON(json)).toEqual(trigger)
  })

  it('can be built anew from what it is', () => {
    expect(slowing().getTriggerBuilder().build().computeFirstFireTime(null)).toEqual(slowing())
  })

  it('is refused in JSON where its family is not named', () => {
    const refused = { code: 'ERR_INVALID_TRIGGER', field: 'type' }
    expect(() => triggerToJSON(slowing())).toThrow(expect.objectContaining(refused))
    expect(() => triggerFromJSON(families.toJSON(slowing()))).toThrow(expect.objectContaining(refused))
  })

  it('is refused by a scheduler that was not given its family, whatever its store', async () => {
    const work = defineJob('work', () => {})
    const job = JobBuilder.newJob(work).withIdentity('j').build()
    await using without = await createScheduler({ jobs: [work], logger: false })
    await expect(without.scheduleJob(job, slowing())).rejects.toMatchObject({
      code: 'ERR_INVALID_TRIGGER',
      message: expect.stringContaining('triggerFamilies') as string,
    })
    await using knowing = await createScheduler({
      jobs: [work],
      logger: false,
      triggerFamilies: [slowingFamily],
    })
    await knowing.scheduleJob(job, slowing())
    expect((await knowing.queryTriggers()).items.map(({ type }) => type)).toEqual(['slowing'])
  })
})

describe('a family is refused', () => {
  it.each<[string, Partial<Record<keyof TriggerFamily, unknown>>, string]>([
    ['without a type', { type: '' }, "'type'"],
    ['with the type that listings show for what they do not know', { type: 'unknown' }, "'type'"],
    ['with the type of another', { type: 'cron' }, "'cron' is taken"],
    ['with a stored type that its column cannot hold', { storedType: 'SLOWING_DOWN' }, "'storedType'"],
    ['with a stored type that is no plain word', { storedType: "X'" }, "'storedType'"],
    ['with the stored type of another', { storedType: 'CAL_INT' }, "'CAL_INT' is taken"],
    ["with the stored type of Java's objects", { storedType: 'BLOB' }, "'BLOB' is taken"],
    ['with a table that is none', { table: 'blob_triggers' }, "'table'"],
    ['with a column that its table lacks', { columns: { repeat_count: 'x' } }, "'repeat_count'"],
    ['with the column that counts firings', { columns: { int_prop_2: 'x' } }, "'int_prop_2'"],
    ['without a way back', { fromColumns: undefined }, "'fromColumns'"],
    ['without instructions', { misfireInstructions: [] }, "'misfireInstructions'"],
    ['with an instruction that is none', { misfireInstructions: ['smart', 'sulk'] }, "'sulk'"],
    [
      'with two instructions of one number',
      { misfireInstructions: ['smart', 'fireNow', 'fireOnceNow'] },
      "'misfireInstructions'",
    ],
  ])('%s', (_what, changes, words) => {
    const family = { ...slowingFamily, ...changes } as unknown as TriggerFamily
    expect(() => new TriggerFamilies([family])).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        message: expect.stringContaining(words) as string,
      }),
    )
  })

  it('when it is named twice', async () => {
    await expect(createScheduler({ triggerFamilies: [slowingFamily, slowingFamily] })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
    })
  })
})
