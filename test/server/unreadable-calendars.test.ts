import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { storeOnFile } from '../support/broken-trigger.ts'
import { filledScheduler, type ServerFixture, serverFixture } from '../support/server-fixture.ts'

const calendar = new HolidayCalendar({ timeZone: 'UTC', excludedDates: ['2199-12-25'] })

/** The calendars 'bad', whose row has this in place of its bytes, and 'good'. */
async function served(written: string | Buffer): Promise<{ fixture: ServerFixture; scheduler: Scheduler }> {
  const { jobStore, filename } = storeOnFile()
  const scheduler = await filledScheduler({ jobStore })
  const fixture = await serverFixture({ served: scheduler })
  for (const name of ['bad', 'good']) await scheduler.addCalendar(name, calendar)
  const database = new Database(filename)
  database.prepare("UPDATE qrtz_calendars SET calendar = ? WHERE calendar_name = 'bad'").run(written)
  database.close()
  return { fixture, scheduler }
}

async function listed(fixture: ServerFixture): Promise<readonly { readonly name: string }[]> {
  const { json } = await fixture.ask('GET /calendars')
  return (json as { readonly items: { name: string }[] }).items
}

const remedy =
  /Calendar 'bad' cannot be read from the database: .*\. Store it anew under its name, or delete it\.$/

test.each([Buffer.from('{}'), Buffer.from('junk'), 'a text'])(
  'a calendar of %s is listed with the others, and is deleted',
  async (text) => {
    await using fixture = (await served(text)).fixture
    const items = await listed(fixture)
    expect(items.find(({ name }) => name === 'bad')).toEqual({
      name: 'bad',
      definition: null,
      problem: expect.stringMatching(remedy) as string,
    })
    const good = { name: 'good', definition: calendar.toJSON(), problem: null }
    expect(items.find(({ name }) => name === 'good')).toEqual(good)
    expect(await fixture.ask('GET /calendars/bad')).toMatchObject({
      status: 409,
      json: { code: 'ERR_BROKEN_ROW', detail: expect.stringMatching(remedy) as string },
    })
    const deleted = await fixture.ask('DELETE /calendars/bad')
    expect(deleted).toMatchObject({ status: 200, json: { changed: true } })
    expect(await fixture.ask('GET /calendars/bad')).toMatchObject({ status: 404 })
  },
)

test('a calendar that cannot be read is replaced', async () => {
  const { scheduler, ...rest } = await served(Buffer.from('{}'))
  await using fixture = rest.fixture
  const body = { definition: calendar.toJSON() }
  const before = { changed: true, result: { before: null } }
  const dry = await fixture.ask('PUT /calendars/bad?dryRun=true', { body })
  expect(dry).toMatchObject({ status: 200, json: before })
  expect(await fixture.ask('PUT /calendars/bad', { body })).toMatchObject({ status: 200, json: before })
  expect((await scheduler.getCalendar('bad'))?.toJSON()).toEqual(calendar.toJSON())
})

test('an import stores a calendar in the place of one that cannot be read', async () => {
  const { scheduler, ...rest } = await served('junk')
  await using fixture = rest.fixture
  const definitions = {
    format: 'quartz-ts',
    version: 1,
    schedulerName: scheduler.schedulerName,
    exportedMs: 0,
    calendars: [{ name: 'bad', definition: calendar.toJSON() }],
    jobs: [],
    triggers: [],
  }
  expect(await fixture.ask('POST /definitions', { body: { definitions } })).toMatchObject({
    status: 200,
    json: { result: { differences: [{ kind: 'calendar', key: { name: 'bad' }, change: 'change' }] } },
  })
  expect((await scheduler.getCalendar('bad'))?.toJSON()).toEqual(calendar.toJSON())
})

test('a calendar that Java has serialized is not replaced: its nodes read it', async () => {
  await using fixture = (await served(Buffer.from([0xac, 0xed, 0, 5]))).fixture
  expect(await listed(fixture)).toContainEqual({
    name: 'bad',
    definition: null,
    problem: expect.stringContaining('Java serialized it') as string,
  })
  const put = await fixture.ask('PUT /calendars/bad', { body: { definition: calendar.toJSON() } })
  expect(put).toMatchObject({ status: 409, json: { code: 'ERR_BROKEN_ROW' } })
})
