import { describe, expect, test, vi } from 'vitest'
import { type ErrorCode, JobPersistenceError } from '../../src/core/errors.ts'
import { JobKey } from '../../src/core/key.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { filledScheduler, serverFixture } from '../support/server-fixture.ts'

const said =
  'PostgreSQL refused a statement: permission denied for table qrtz_triggers (42501). Grant the user it.'
const refusal = (code: ErrorCode): Error => new JobPersistenceError(said, { code })

/** A scheduler whose database refuses one change and then none. */
async function refusing(code: ErrorCode): Promise<Scheduler> {
  const scheduler = await filledScheduler()
  vi.spyOn(scheduler, 'pauseJob').mockRejectedValueOnce(refusal(code))
  return scheduler
}

test('a change that the database refused was not made, and may be asked for under the same key', async () => {
  await using fixture = await serverFixture({ served: await refusing('ERR_DATABASE') })
  const headers = { 'idempotency-key': 'deploy-8' }
  const ask = () => fixture.ask('POST /jobs/mail/hourly/pause', { body: {}, headers })
  const refused = await ask()
  expect([refused.status, refused.json]).toMatchObject([
    503,
    { code: 'ERR_DATABASE', status: 503, detail: said },
  ])
  expect((await ask()).json).toMatchObject({ changed: true })
})

test('a dry run says why the database refuses it', async () => {
  const scheduler = await filledScheduler()
  vi.spyOn(scheduler, 'changeDefinitions').mockRejectedValueOnce(refusal('ERR_DATABASE'))
  await using fixture = await serverFixture({ served: scheduler })
  const { status, json } = await fixture.ask('POST /jobs/mail/hourly/run?dryRun=true', { body: {} })
  expect([status, json]).toMatchObject([503, { detail: said }])
})

test('who only looks is not told what the database said', async () => {
  const scheduler = await filledScheduler()
  vi.spyOn(scheduler, 'queryJobs').mockRejectedValue(refusal('ERR_DATABASE'))
  await using fixture = await serverFixture({ served: scheduler })
  const { status, json } = await fixture.ask('GET /jobs')
  expect(status).toBe(500)
  expect(JSON.stringify(json)).not.toContain('qrtz_triggers')
})

describe('what the database refuses after a part was done may have been done', () => {
  const doubtful = { status: 500, code: 'ERR_DATABASE' }

  test('a job that is stored, and cannot be read for the answer', async () => {
    const scheduler = await filledScheduler()
    await using fixture = await serverFixture({ served: scheduler })
    const headers = { 'idempotency-key': 'deploy-9' }
    const put = () => fixture.ask('PUT /jobs/mail/new', { body: { jobType: 'echo', durable: true }, headers })
    const read = vi.spyOn(scheduler, 'getJobDetail').mockResolvedValueOnce(null)
    read.mockRejectedValueOnce(refusal('ERR_DATABASE'))
    const { status, json } = await put()
    expect(await scheduler.checkExists(new JobKey('new', 'mail'))).toBe(true)
    expect([status, json]).toMatchObject([500, doubtful])
    expect((await put()).json).toEqual(json)
  })

  test.each(['standby', 'drain'])('a node in %s, whose list cannot be read for the answer', async (verb) => {
    const scheduler = await filledScheduler()
    await scheduler.start()
    await using fixture = await serverFixture({ served: scheduler })
    vi.spyOn(scheduler.cluster, 'nodes').mockRejectedValueOnce(refusal('ERR_DATABASE'))
    const { status, json } = await fixture.ask(`POST /nodes/${scheduler.schedulerInstanceId}/${verb}`)
    expect(scheduler.isInStandbyMode).toBe(true)
    expect([status, json]).toMatchObject([500, doubtful])
  })

  test('executions of which some may have been stopped before', async () => {
    const scheduler = await filledScheduler()
    await using fixture = await serverFixture({ served: scheduler })
    vi.spyOn(scheduler, 'interrupt').mockRejectedValueOnce(refusal('ERR_DATABASE'))
    const { status, json } = await fixture.ask('POST /jobs/mail/hourly/interrupt')
    expect([status, json]).toMatchObject([500, doubtful])
  })
})
