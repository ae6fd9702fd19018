import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
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
