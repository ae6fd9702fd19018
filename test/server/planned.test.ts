import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import type { LoadJson, PlannedJson } from '../../src/server/operations/planned.ts'
import { planFirings } from '../../src/server/planned-firings.ts'
import { systemClock } from '../../src/time/clock.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { addPlainJob, operationOf, type ServerFixture, serverFixture } from '../support/server-fixture.ts'

let fixture: ServerFixture
beforeAll(async () => {
  fixture = await serverFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const hourMs = 3_600_000
const firstMs = Date.UTC(2199, 0, 1)

async function planned(query: string, who: 'viewer' | 'reports' = 'viewer'): Promise<PlannedJson> {
  const { status, json, text } = await fixture.ask(`GET /planned?${query}`, { who })
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  return operationOf('planned.list').answer.parse(json) as PlannedJson
}

const aDay = `fromMs=${firstMs}&toMs=${firstMs + 24 * hourMs}`

const namesOf = ({ items }: PlannedJson): string[] => items.map(({ key }) => key.name).toSorted()

test('lists what fires between two instants, and up to when nothing is missing', async () => {
  const day = await planned(aDay)
  expect(namesOf(day)).toEqual(['daily', 'daytime', 'hourly', 'monthly'])
  const hourly = day.items.find(({ key }) => key.name === 'hourly')
  expect(hourly?.timesMs).toEqual(Array.from({ length: 25 }, (_, hour) => firstMs + hour * hourMs))
  expect(day.completeUntilMs).toBe(firstMs + 24 * hourMs)
  const short = await planned(`${aDay}&times=3&search=HOURLY`)
  expect(short.items).toMatchObject([{ isComplete: false, timesMs: { length: 3 } }])
  expect(short.completeUntilMs).toBe(firstMs + 2 * hourMs)
})

test('goes on with a trigger from where the time begins', async () => {
  const fromMs = firstMs + 100 * 24 * hourMs + 1
  const { items } = await planned(`search=hourly&fromMs=${fromMs}&toMs=${fromMs + hourMs}`)
  expect(items).toMatchObject([{ timesMs: [fromMs - 1 + hourMs] }])
})

test('shows a principal what it may see', async () => {
  expect(namesOf(await planned(aDay, 'reports'))).toEqual(['daily'])
  expect(namesOf(await planned(`${aDay}&jobGroup=mail`, 'reports'))).toEqual([])
})

test('refuses a time that is too long, or ends before it begins', async () => {
  for (const toMs of [firstMs - 1, firstMs + 500 * 24 * hourMs]) {
    const { status } = await fixture.ask(`GET /planned?fromMs=${firstMs}&toMs=${toMs}`)
    expect(status).toBe(400)
  }
})

test('says what else fires in a minute', async () => {
  const at = [firstMs + 1234, firstMs + 30 * 60_000]
  const { json } = await fixture.ask(
    `GET /planned/load?atMs=${at.join(',')}&exceptGroup=mail&exceptName=monthly`,
  )
  const { minutes } = operationOf('planned.load').answer.parse(json) as LoadJson
  expect(minutes).toMatchObject([
    { fromMs: firstMs, fires: 2, isComplete: true },
    { fromMs: firstMs + 30 * 60_000, triggers: 0, fires: 0, first: [] },
  ])
  expect(minutes[0]?.first.map(({ name }) => name).toSorted()).toEqual(['daytime', 'hourly'])
})

test('is bounded by triggers and by steps', async () => {
  const { scheduler } = fixture
  await addPlainJob(scheduler, 'echo', 'often', 'many')
  for (let index = 0; index < 5; index++) {
    await scheduler.scheduleJob(
      TriggerBuilder.newTrigger()
        .withIdentity(`often-${index}`, 'many')
        .forJob(jobKey('often', 'many'))
        .startAt(new Date(firstMs))
        .withSchedule(SimpleScheduleBuilder.repeatSecondlyForTotalCount(1_000_000))
        .build(),
    )
  }
  const windows = [{ fromMs: firstMs + 900_000_000, toMs: firstMs + 999_000_000 }]
  const request = { conditions: { search: 'often' }, windows, triggersMax: 1000, timesMax: 1000 }
  const [plan] = await planFirings(scheduler, systemClock, request)
  expect(plan?.completeUntilMs).toBe(firstMs + 900_000_000 + 999_000)
  const near = [{ fromMs: firstMs, toMs: firstMs + 999_000_000 }]
  const [few] = await planFirings(scheduler, systemClock, { ...request, windows: near, triggersMax: 2 })
  expect(few?.triggers).toHaveLength(2)
  expect(few?.completeUntilMs).toBe(firstMs - 1)
  await scheduler.scheduleJob(
    TriggerBuilder.newTrigger()
      .withIdentity('counts', 'many')
      .forJob(jobKey('often', 'many'))
      .startAt(new Date(firstMs))
      .withSchedule(
        DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
          .withIntervalInSeconds(1)
          .withRepeatCount(1_000_000),
      )
      .build(),
  )
  const [far] = await planFirings(scheduler, systemClock, { ...request, conditions: { search: 'counts' } })
  expect(far).toMatchObject({ triggers: [], completeUntilMs: firstMs + 900_000_000 - 1 })
})
