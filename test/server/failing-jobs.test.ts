import { expect, test } from 'vitest'
import { addPlainJob, filledScheduler, serverFixture } from '../support/server-fixture.ts'

test('a job that failed and was deleted is not among those that fail', async () => {
  const served = await filledScheduler()
  await using fixture = await serverFixture({ served })
  const keys = [
    await addPlainJob(served, 'failing', 'gone', 'mail'),
    await addPlainJob(served, 'failing', 'here', 'mail'),
  ] as const
  await served.start()
  for (const key of keys) await served.triggerJob(key)
  await served.idle()
  const [gone] = keys
  await served.deleteJob(gone)
  const failing = await fixture.ask('GET /job-status?minConsecutiveFailures=1')
  expect(failing.json).toMatchObject({ items: [{ jobKey: { name: 'here' } }], next: null })
  const all = await fixture.ask('GET /job-status')
  expect(all.json).toMatchObject({ items: [{ jobKey: { name: 'gone' } }, { jobKey: { name: 'here' } }] })
})
