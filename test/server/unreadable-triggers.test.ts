import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { breakTrigger, storeOnFile } from '../support/broken-trigger.ts'
import { filledScheduler, serverFixture } from '../support/server-fixture.ts'

test.each([
  ['state', "trigger_state = 'WEIRD'"],
  ['type', "trigger_type = 'NEWKIND'"],
  ['data', "job_data = 'junk'"],
  ['start', 'start_time = 9000000000000000000'],
])('a trigger with an unreadable %s is listed with its job, and is deleted', async (_, change) => {
  const { jobStore, filename } = storeOnFile()
  const served = await filledScheduler({ jobStore })
  await using fixture = await serverFixture({ served })
  breakTrigger(filename, 'daily', change)
  const listed = await fixture.ask('GET /jobs/reports/daily/triggers')
  expect(listed).toMatchObject({
    status: 200,
    json: {
      items: [{ key: { name: 'daily' }, definition: null, problem: expect.stringMatching(/\w/) as string }],
    },
  })
  expect(await fixture.ask('GET /triggers/reports/daily')).toMatchObject({ status: 409 })
  const refused = await fixture.ask('DELETE /triggers/reports/daily', { who: 'reports' })
  expect(refused).toMatchObject({ status: 403 })
  const deleted = await fixture.ask('DELETE /triggers/reports/daily')
  expect(deleted).toMatchObject({ status: 200, json: { changed: true } })
  const after = await fixture.ask('GET /jobs/reports/daily/triggers')
  expect(after).toMatchObject({ json: { items: [] } })
  // The job is durable.
  expect(await served.checkExists(new JobKey('daily', 'reports'))).toBe(true)
})

test('a trigger and a job that cannot be read are paused and resumed, as those are that Java wrote', async () => {
  const { jobStore, filename } = storeOnFile()
  const served = await filledScheduler({ jobStore })
  await using fixture = await serverFixture({ served })
  breakTrigger(filename, 'daily', "trigger_type = 'BLOB'")
  const database = new Database(filename)
  database.exec("UPDATE qrtz_job_details SET job_data = 'junk' WHERE job_name = 'hourly'")
  database.close()
  const stateOf = async (name: string): Promise<string | undefined> =>
    (await served.queryTriggers()).items.find(({ key }) => key.name === name)?.state
  for (const [path, name] of [
    ['/triggers/reports/daily', 'daily'],
    ['/jobs/mail/hourly', 'hourly'],
  ] as const) {
    for (const [verb, state] of [
      ['pause', 'PAUSED'],
      ['resume', 'NORMAL'],
    ] as const) {
      const done = await fixture.ask(`POST ${path}/${verb}`, { body: {} })
      expect(done).toMatchObject({ status: 200, json: { changed: true } })
      expect([path, await stateOf(name)]).toEqual([path, state])
    }
  }
  expect(await fixture.ask('POST /jobs/mail/none/pause', { body: {} })).toMatchObject({ status: 404 })
  expect(await fixture.ask('POST /triggers/mail/none/pause', { body: {} })).toMatchObject({ status: 404 })
})

test('a job that cannot be read is deleted with its triggers, which are listed before', async () => {
  const { jobStore, filename } = storeOnFile()
  const served = await filledScheduler({ jobStore })
  await using fixture = await serverFixture({ served })
  const database = new Database(filename)
  database.exec("UPDATE qrtz_job_details SET job_data = 'junk' WHERE job_name = 'daily'")
  database.close()
  breakTrigger(filename, 'daily', "job_data = 'junk'")
  const isJobStored = async (): Promise<boolean> =>
    (await served.queryJobs()).items.some(({ key }) => key.name === 'daily')
  const listed = await fixture.ask('GET /jobs/reports/daily/triggers')
  expect(listed).toMatchObject({ status: 200, json: { items: [{ key: { name: 'daily' } }] } })
  const tried = await fixture.ask('DELETE /jobs/reports/daily?dryRun=true')
  expect(tried).toMatchObject({ status: 200, json: { changed: true, result: { triggers: 1 } } })
  expect(await isJobStored()).toBe(true)
  const deleted = await fixture.ask('DELETE /jobs/reports/daily')
  expect(deleted).toMatchObject({ status: 200, json: { changed: true, result: { triggers: 1 } } })
  expect(await isJobStored()).toBe(false)
  expect((await served.queryTriggers()).items.some(({ key }) => key.name === 'daily')).toBe(false)
  expect(await fixture.ask('DELETE /jobs/reports/daily')).toMatchObject({ status: 404 })
})

test('rows that cannot be read are reported once, however often they are asked for', async () => {
  const { jobStore, filename } = storeOnFile()
  const served = await filledScheduler({ jobStore })
  await using fixture = await serverFixture({ served })
  breakTrigger(filename, 'daily', "job_data = 'junk'")
  const told: string[] = []
  served.events.on('schedulerError', ({ message }) => told.push(message))
  for (let round = 0; round < 3; round++) {
    await fixture.ask('GET /jobs/reports/daily/triggers')
    await fixture.ask('GET /definitions')
  }
  expect(told).toEqual([expect.stringContaining("Trigger 'reports.daily' cannot be read") as string])
  breakTrigger(filename, 'daily', "trigger_state = 'WEIRD', job_data = NULL")
  await fixture.ask('GET /definitions')
  expect(told).toHaveLength(2)
})

test('an export names all rows that cannot be read', async () => {
  const { jobStore, filename } = storeOnFile()
  const served = await filledScheduler({ jobStore })
  await served.addCalendar('bad', new HolidayCalendar({ timeZone: 'UTC', excludedDates: ['2199-12-25'] }))
  await using fixture = await serverFixture({ served })
  const database = new Database(filename)
  database.exec("UPDATE qrtz_calendars SET calendar = 'junk' WHERE calendar_name = 'bad'")
  database.exec("UPDATE qrtz_job_details SET job_data = 'junk'")
  const { jobs } = database.prepare('SELECT count(*) AS jobs FROM qrtz_job_details').get() as { jobs: number }
  database.close()
  breakTrigger(filename, 'daily', "job_data = 'junk'")
  const { status, json } = await fixture.ask('GET /definitions')
  expect({ status, json }).toMatchObject({ status: 409, json: { code: 'ERR_BROKEN_ROW' } })
  const { detail } = json as { readonly detail: string }
  expect(detail).toMatch(
    new RegExp(`^${String(jobs + 2)} rows cannot be read; mend or delete them, unless .*\\. Calendar 'bad' `),
  )
  expect(detail).toContain("Job 'reports.daily' cannot be read")
  expect(detail).toContain("Trigger 'reports.daily' cannot be read")
})
