import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { AuditCursor, AuditEntry } from '../../src/jobstore/audit.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { AuditRecord } from '../../src/server/audit.ts'
import { filledScheduler, type ServerFixture, serverFixture, tokens } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

type Entry = Readonly<Record<keyof AuditEntry, unknown>>

/** What the API lists, once everything is written. */
async function listed(fixture: ServerFixture, query = ''): Promise<readonly Entry[]> {
  await fixture.scheduler.idle()
  const { json, status } = await fixture.ask(`GET /audit${query}`)
  expect(status).toBe(200)
  return (json as { items: Entry[] }).items
}

test('has what was there before and after a change, and nothing of a dry run', async () => {
  await using fixture = await serverFixture()
  const job = { jobType: 'echo', jobDataMap: { password: 'hunter3', to: 'ops' } }
  await fixture.ask('PUT /jobs/made/one?dryRun=true', { body: job })
  await fixture.ask('PUT /jobs/made/one', { body: job })
  await fixture.ask('PUT /jobs/made/one', { body: { ...job, description: 'new words' } })
  await fixture.ask('DELETE /jobs/made/one')
  await fixture.ask('DELETE /calendars/holidays')
  const [calendar, deleted, changed, made, ...others] = await listed(fixture)
  expect(others).toEqual([])
  expect(made).toMatchObject({ by: 'admin', operation: 'jobs.put', targetGroup: 'made', targetName: 'one' })
  expect(made).toMatchObject({ beforeText: null, requestText: null, outcome: 'done', times: 1 })
  expect(changed?.beforeText).toContain('"to":"ops"')
  expect(changed?.beforeText).not.toContain('new words')
  expect(changed?.afterText).toContain('new words')
  expect(deleted?.beforeText).toContain('new words')
  expect(deleted?.afterText).toBe('{"triggers":0}')
  expect(calendar).toMatchObject({ operation: 'calendars.delete', targetGroup: null, targetName: 'holidays' })
  expect(calendar?.beforeText).toContain('2199-12-25')
  expect(JSON.stringify([made, changed, deleted])).not.toContain('hunter3')
})

test('has what was asked for, why it failed, and who has logged in', async () => {
  await using fixture = await serverFixture()
  await fixture.ask('POST /session', { who: null, body: { token: 'operator-token' } })
  await fixture.ask('POST /jobs/reports/daily/pause', { body: { reason: 'a move' } })
  await fixture.ask('POST /jobs/reports/daily/pause', { body: { reasons: 'a slip' } })
  await fixture.ask('GET /definitions?secrets=true')
  await fixture.ask('GET /jobs')
  const [exported, wrong, paused, login, ...others] = await listed(fixture)
  expect(others).toEqual([])
  expect(login).toMatchObject({ by: 'operator', operation: 'session.begin', requestText: null })
  expect(paused).toMatchObject({
    operation: 'jobs.pause',
    requestText: expect.stringContaining('a move') as string,
  })
  expect(wrong).toMatchObject({ outcome: 'failed', errorText: expect.stringContaining('reasons') as string })
  expect(exported).toMatchObject({ operation: 'definitions.export', requestText: '"secrets=true"' })
})

test('counts what was refused: to those who may not, and to all whom nobody knows', async () => {
  await using fixture = await serverFixture()
  for (let count = 0; count < 20; count++) {
    await fixture.ask(`DELETE /jobs/reports/job${count}`, { who: 'viewer' })
    await fixture.ask('GET /jobs', { who: null, headers: { authorization: 'Bearer guessed' } })
    await fixture.ask('POST /session', { who: null, body: { token: `guess${count}` } })
    await fixture.ask('POST /scheduler/standby', { who: null })
  }
  await fixture.ask('GET /jobs', { who: null })
  await fixture.ask('POST /scheduler/standby', { headers: { origin: 'https://evil.example' } })
  const entries = await listed(fixture, '?outcome=refused')
  expect(entries.map(({ by, operation, times }) => [by, operation, times])).toEqual(
    expect.arrayContaining([
      ['viewer', 'jobs.delete', 20],
      [null, 'scheduler.standby', 60],
      ['admin', 'scheduler.standby', 1],
    ]),
  )
  expect(entries).toHaveLength(3)
  expect(JSON.stringify(entries)).not.toContain('guess')
})

test('is listed by its filters, a page at a time, and as CSV, for an admin alone', async () => {
  await using fixture = await serverFixture()
  for (const name of ['daily', 'daily', 'weekly']) {
    await fixture.ask(`PUT /jobs/reports/${name}`, { body: { jobType: 'echo' } })
  }
  await fixture.ask('POST /scheduler/standby', { who: 'operator' })
  await fixture.scheduler.idle()
  expect(await listed(fixture, '?by=admin')).toHaveLength(3)
  expect(await listed(fixture, '?group=reports&name=daily')).toHaveLength(2)
  expect(await listed(fixture, '?operation=jobs.put&by=operator')).toEqual([])
  expect(await listed(fixture, '?fromMs=99999999999999')).toEqual([])
  const first = (await fixture.ask('GET /audit?take=2')).json as { items: Entry[]; next: string }
  const second = (await fixture.ask(`GET /audit?take=2&after=${first.next}`)).json as { items: Entry[] }
  expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(
    first.items.length + second.items.length,
  )
  expect((await fixture.ask('GET /audit?format=csv')).text).toContain('jobs.put')
  expect((await fixture.ask('GET /audit?after=junk')).status).toBe(400)
  expect((await fixture.ask('GET /audit', { who: 'operator' })).status).toBe(403)
})

test('outlives the process, also where the scheduler never started', async () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const served = await filledScheduler({ jobStore: sqliteJobStore({ filename }) })
  {
    await using fixture = await serverFixture({ served })
    await fixture.ask('PUT /jobs/reports/weekly', { body: { jobType: 'echo' } })
  }
  const next = await createScheduler({ logger: false, jobStore: sqliteJobStore({ filename }) })
  expect((await next.queryAudit()).items).toMatchObject([{ operation: 'jobs.put', targetName: 'weekly' }])
  await next.shutdown()
})

test('onAudit hears of what was changed and what was refused, without secrets', async () => {
  const records: AuditRecord[] = []
  await using fixture = await serverFixture({ onAudit: (record) => records.push(record) })
  await fixture.ask('GET /jobs')
  await fixture.ask('PUT /jobs/made/one', { body: { jobType: 'echo', jobDataMap: { password: 'hunter3' } } })
  await fixture.ask('DELETE /jobs/made/one?dryRun=true')
  await fixture.ask('DELETE /jobs/made/one', { who: 'viewer' })
  expect(records).toMatchObject([
    {
      by: 'admin',
      operation: 'jobs.put',
      status: 200,
      dryRun: false,
      params: { group: 'made', name: 'one' },
    },
    { by: 'admin', operation: 'jobs.delete', status: 200, dryRun: true },
    { by: 'viewer', operation: 'jobs.delete', status: 403, dryRun: false },
  ])
  expect(records[0]?.address).toMatch(/127\.0\.0\.1/)
  expect(JSON.stringify(records)).not.toContain('hunter3')
})

test('onAudit hears of logins and exports, and of those whom nobody knows', async () => {
  const records: AuditRecord[] = []
  await using fixture = await serverFixture({ onAudit: (record) => records.push(record) })
  await fixture.ask('POST /session', { who: null, body: { token: 'a wrong one' } })
  await fixture.ask('POST /session', { who: null, body: { token: tokens.operator } })
  await fixture.ask('GET /jobs', { who: null })
  await fixture.ask('GET /jobs', { who: null, headers: { authorization: 'Bearer guessed' } })
  await fixture.ask('DELETE /jobs/mail/hourly', { who: null })
  await fixture.ask('GET /definitions?secrets=true')
  expect(records).toMatchObject([
    { by: '', operation: 'session.begin', status: 401, request: null },
    { by: 'operator', operation: 'session.begin', status: 200, request: null },
    { by: '', operation: 'jobs.list', status: 401 },
    { by: '', operation: 'jobs.delete', status: 401, params: { group: 'mail', name: 'hourly' } },
    { by: 'admin', operation: 'definitions.export', status: 200, request: 'secrets=true' },
  ])
  for (const secret of ['a wrong one', tokens.operator, 'guessed', 'hunter2']) {
    expect(JSON.stringify(records)).not.toContain(secret)
  }
})

test('an onAudit that throws or rejects is logged, and ends neither the request nor the process', async () => {
  const logged: string[] = []
  const error = (fields: object, message: string): void => {
    logged.push(`${message}: ${String(Reflect.get(fields, 'err'))}`)
  }
  const fails = [
    () => {
      throw new Error('no table')
    },
    () => Promise.reject(new Error('no connection')),
  ]
  for (const onAudit of fails) {
    await using fixture = await serverFixture({ onAudit, logger: { ...silentLogger, error } })
    expect(await fixture.ask('DELETE /jobs/mail/hourly')).toMatchObject({ status: 200 })
  }
  expect(logged).toEqual(['onAudit failed: Error: no table', 'onAudit failed: Error: no connection'])
})

describe('an action on many', () => {
  /** Does it, and resolves with its end as it stands in the audit. */
  const carriedOut = async (fixture: ServerFixture, body: object): Promise<Record<string, unknown>> => {
    const { json, text } = await fixture.ask('POST /bulk', { body })
    expect(text).toContain('"status":"running"')
    const { result } = json as { result: { bulk: { id: string } } }
    await vi.waitFor(
      async () => {
        expect(await listed(fixture, `?operation=bulk.end&name=${result.bulk.id}`)).toHaveLength(1)
      },
      { timeout: 30_000 },
    )
    const [end] = await listed(fixture, `?operation=bulk.end&name=${result.bulk.id}`)
    return { id: result.bulk.id, by: end?.by, ...(JSON.parse(String(end?.afterText)) as object) }
  }

  test('is at each object that it changed, with what was there before a deletion, and says how it ended', async () => {
    await using fixture = await serverFixture()
    const mail = { of: 'jobs', filter: { group: 'mail' }, expected: 3 }
    await fixture.ask('POST /jobs/mail/hourly/pause', { body: {} })
    const pause = { ...mail, action: 'pause', pause: { reason: null, untilMs: null } }
    const paused = await carriedOut(fixture, pause)
    expect(paused).toMatchObject({ by: 'admin', status: 'done', total: 3, done: 3, changed: 2, failed: 0 })
    const run = await carriedOut(fixture, { ...mail, action: 'run' })
    await carriedOut(fixture, { ...mail, action: 'delete', of: 'triggers' })
    const deleted = await carriedOut(fixture, { ...mail, action: 'delete' })
    const of = (name: string): Promise<readonly Entry[]> => listed(fixture, `?group=mail&name=${name}`)
    const [job, trigger, ran, stopped, ...none] = await of('monthly')
    expect(none).toEqual([])
    expect(stopped).toMatchObject({ operation: 'jobs.pause', by: 'admin', beforeText: null })
    expect(stopped?.requestText).toContain(paused['id'])
    expect(ran).toMatchObject({ operation: 'jobs.run', requestText: JSON.stringify({ bulk: run['id'] }) })
    expect(ran?.afterText).toContain('MT_')
    expect(trigger).toMatchObject({ operation: 'triggers.delete' })
    expect(trigger?.beforeText).toMatch(
      /"jobKey".*"type":"calendarInterval"|"type":"calendarInterval".*"jobKey"/,
    )
    expect(job).toMatchObject({
      operation: 'jobs.delete',
      requestText: JSON.stringify({ bulk: deleted['id'] }),
      beforeText: expect.stringContaining('monthly of mail') as string,
    })
    expect(JSON.stringify([job, trigger])).not.toMatch(/hunter2|k-123/)
    // It was paused already, by the request that has an entry of its own.
    expect((await of('hourly')).filter(({ operation }) => operation === 'jobs.pause')).toHaveLength(1)
    const operations = (await listed(fixture, '?take=1000')).map(({ operation }) => operation)
    expect(operations.lastIndexOf('bulk.begin')).toBeGreaterThan(operations.lastIndexOf('bulk.end'))
  })

  test('of thousands leaves an entry of each', async () => {
    await using fixture = await serverFixture()
    const source = (await fixture.scheduler.getJobDetail(jobKey('daily', 'reports'))) ?? expect.fail()
    const count = 4500
    const jobs = Array.from({ length: count }, (_, index) => ({
      ...source,
      key: jobKey(`j${index}`, 'many'),
    }))
    for (const job of jobs) await fixture.scheduler.addJob(job)
    const request = { action: 'delete', of: 'jobs', filter: { group: 'many' }, expected: count }
    expect(await carriedOut(fixture, request)).toMatchObject({ status: 'done', changed: count })
    const { items } = await fixture.scheduler.queryAudit({ targetGroup: 'many', take: 1000 })
    expect(items).toHaveLength(1000)
    let all = 0
    for (let after: AuditCursor | null = null; ; ) {
      const page = await fixture.scheduler.queryAudit({ take: 1000, ...(after !== null && { after }) })
      all += page.items.filter(({ targetGroup }) => targetGroup === 'many').length
      after = page.next
      if (after === null) break
    }
    expect(all).toBe(count)
  })

  test.each(['the server', 'the scheduler'])('that is cut off by the end of %s says so', async (what) => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const scheduler = await filledScheduler({ jobStore: sqliteJobStore({ filename }) })
    await using fixture = await serverFixture({ served: scheduler })
    const source = (await scheduler.getJobDetail(jobKey('daily', 'reports'))) ?? expect.fail()
    for (let index = 0; index < 500; index++) {
      await scheduler.addJob({ ...source, key: jobKey(`j${index}`, 'many') })
    }
    const body = { action: 'delete', of: 'jobs', filter: { group: 'many' }, expected: 500 }
    expect(await fixture.ask('POST /bulk', { body })).toMatchObject({ status: 200 })
    if (what === 'the server') await fixture.server.close()
    await scheduler.shutdown()
    const again = await createScheduler({ logger: false, jobStore: sqliteJobStore({ filename }) })
    const { items } = await again.queryAudit({ take: 1000 })
    const left = (await again.queryJobs({ group: GroupMatcher.groupEquals('many'), take: 1000 })).items
    await again.shutdown()
    const [end] = items.filter(({ operation }) => operation === 'bulk.end')
    const deleted = items.filter(({ operation }) => operation === 'jobs.delete')
    expect(JSON.parse(end?.afterText ?? '{}')).toMatchObject({ status: 'stopped', done: deleted.length })
    expect(left).toHaveLength(500 - deleted.length)
  })
})
