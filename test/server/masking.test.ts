import { describe, expect, test } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { createScheduler, defineJob, ramJobStore } from '../../src/index.ts'
import type { DefinitionsJson } from '../../src/server/operations/definitions-export.ts'
import { addPlainJob, type ServerFixture, serverFixture } from '../support/server-fixture.ts'

const repeating = {
  type: 'simple',
  jobKey: { group: 'mail', name: 'hourly' },
  repeatCount: -1,
  repeatIntervalMs: 3_600_000,
}

describe('what was shown masked and is sent back', () => {
  const stored = {
    hosts: [
      { host: 'a', password: 'A' },
      { host: 'b', password: 'B' },
    ],
    twins: [{ token: '1' }, { token: '2' }],
    db: 'postgres://u:pw@h/db',
    note: 'plain',
  }
  const shownHosts = [
    { host: 'a', password: '***' },
    { host: 'b', password: '***' },
  ]

  async function withData(): Promise<ServerFixture> {
    const fixture = await serverFixture()
    const body = { jobType: 'echo', jobDataMap: stored }
    expect(await fixture.ask('PUT /jobs/made/j', { body })).toMatchObject({ status: 200 })
    return fixture
  }

  test('is shown so that what is hidden can be seen', async () => {
    await using fixture = await withData()
    expect((await fixture.ask('GET /jobs/made/j')).json).toMatchObject({
      jobDataMap: { hosts: shownHosts, db: 'postgres://***@h/db', note: 'plain' },
    })
  })

  test.each<readonly [string, object, object]>([
    ['as a whole', { hosts: shownHosts, twins: [{ token: '***' }, { token: '***' }] }, {}],
    ['without an element of a list', { hosts: shownHosts.slice(1) }, { hosts: stored.hosts.slice(1) }],
    ['in another order', { hosts: shownHosts.toReversed() }, { hosts: stored.hosts.toReversed() }],
    [
      'beside new elements',
      {
        hosts: [
          { password: 'C', host: 'c' },
          { password: '***', host: 'b' },
        ],
      },
      { hosts: [{ host: 'c', password: 'C' }, stored.hosts[1]] },
    ],
    ['beside a new address', { db: 'postgres://v:other@h2/db' }, { db: 'postgres://v:other@h2/db' }],
    ['with stars that hide nothing', { note: '*** three stars' }, { note: '*** three stars' }],
  ])('stands for what is stored: %s', async (_, changes, expected) => {
    await using fixture = await withData()
    const { jobDataMap } = (await fixture.ask('GET /jobs/made/j')).json as { jobDataMap: object }
    const body = { jobType: 'echo', jobDataMap: { ...jobDataMap, ...changes } }
    expect(await fixture.ask('PUT /jobs/made/j', { body })).toMatchObject({ status: 200 })
    const after = await fixture.scheduler.getJobDetail(jobKey('j', 'made'))
    expect(after?.jobDataMap).toEqual({ ...stored, ...expected })
  })

  test.each<readonly [string, object]>([
    ['jobDataMap.apiPassword', { apiPassword: '***' }],
    ['jobDataMap.db', { db: 'postgres://***@h2/db' }],
    ['jobDataMap.queue', { queue: 'https://x/?token=***' }],
    ['jobDataMap.hosts[0].password', { hosts: [{ host: 'c', password: '***' }] }],
    ['jobDataMap.twins[0].token', { twins: [{ token: '***' }] }],
    ['jobDataMap.tokens[0]', { tokens: ['***'] }],
  ])('and stands for nothing is refused: %s', async (field, jobDataMap) => {
    await using fixture = await withData()
    const refusal = { status: 400, json: { code: 'ERR_INVALID_ARGUMENT', field } }
    const body = { jobType: 'echo', jobDataMap }
    for (const request of ['PUT /jobs/made/j', 'PUT /jobs/made/copy', 'PUT /jobs/made/j?dryRun=true']) {
      expect(await fixture.ask(request, { body })).toMatchObject(refusal)
    }
    expect(await fixture.ask('POST /jobs/made/j/run', { body: { jobDataMap } })).toMatchObject(refusal)
    expect(await fixture.ask('POST /triggers/mail/hourly/run', { body: { jobDataMap } })).toMatchObject(
      refusal,
    )
    const trigger = { ...repeating, jobDataMap }
    expect(await fixture.ask('PUT /triggers/made/t', { body: trigger })).toMatchObject(refusal)
    expect((await fixture.scheduler.getJobDetail(jobKey('j', 'made')))?.jobDataMap).toEqual(stored)
    expect(await fixture.scheduler.checkExists(jobKey('copy', 'made'))).toBe(false)
  })

  test('does not go with a file to a scheduler that has not got it', async () => {
    await using fixture = await withData()
    await using other = await serverFixture()
    await addPlainJob(other.scheduler, 'echo', 'j', 'made')
    const definitions = (await fixture.ask('GET /definitions')).json as DefinitionsJson
    const jobs = definitions.jobs.map(({ key, fields }) => ({
      key,
      fields: key.group === 'made' ? { ...fields, jobDataMap: { db: fields.jobDataMap['db'] } } : fields,
    }))
    const refused = await other.ask('POST /definitions', { body: { definitions: { ...definitions, jobs } } })
    const field = expect.stringMatching(/^definitions\.jobs\.\d\.fields\.jobDataMap\.db$/) as string
    expect([refused.status, refused.json]).toMatchObject([400, { field }])
  })
})

test('what a job logs, and its error, are shown without users and passwords', async () => {
  const job = defineJob('chatty', ({ log }) => {
    log.info('to postgres://u:pw@h/db password=hunter2')
    throw new Error('no postgres://u:pw@h/db')
  })
  const served = await createScheduler({ logger: false, jobStore: ramJobStore(), jobs: [job] })
  await using fixture = await serverFixture({ served })
  await served.start()
  await served.triggerJob(await addPlainJob(served, 'chatty', 'job', 'logged'))
  await served.idle()
  const { json } = await fixture.ask('GET /executions')
  expect(json).toMatchObject({ items: [{ errorText: 'Job logged.job threw: no postgres://h/db' }] })
  const { fireInstanceId } = (json as { items: { fireInstanceId: string }[] }).items[0] ?? {}
  expect((await fixture.ask(`GET /executions/${String(fireInstanceId)}/log`)).json).toMatchObject({
    items: [{ message: 'to postgres://h/db password=***' }],
  })
  const guess = encodeURIComponent('error:"u:pw"')
  expect((await fixture.ask(`GET /executions?filter=${guess}`)).json).toMatchObject({ items: [] })
})
