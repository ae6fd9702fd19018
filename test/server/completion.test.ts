import { afterAll, beforeAll, expect, test } from 'vitest'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { CompletionJson } from '../../src/server/operations/completion.ts'
import type { GroupsJson } from '../../src/server/operations/scheduler.ts'
import {
  addPlainJob,
  filledScheduler,
  operationOf,
  type ServerFixture,
  serverFixture,
  type Who,
} from '../support/server-fixture.ts'

let fixture: ServerFixture
beforeAll(async () => {
  fixture = await serverFixture()
  const odd = JobBuilder.newJob('echo').withIdentity('odd "one"', 'reports').storeDurably().build()
  await fixture.scheduler.addJob(odd)
  const slashed = JobBuilder.newJob('echo').withIdentity('sliced', 'team/a').storeDurably().build()
  await fixture.scheduler.addJob(slashed)
})
afterAll(() => fixture[Symbol.asyncDispose]())

async function completed(of: string, text: string, who: Who = 'viewer'): Promise<string[]> {
  const query = new URLSearchParams({ of, text })
  const answer = await fixture.ask(`GET /completion?${query.toString()}`, { who })
  expect([answer.status, answer.text]).toMatchObject([200, expect.stringContaining('items')])
  const { items } = operationOf('completion.list').answer.parse(answer.json) as { items: CompletionJson[] }
  return items.map(({ value }) => value)
}

test('knows names and groups that have what was typed in them', async () => {
  expect(await completed('jobs', 'DAY')).toEqual(['daytime'])
  expect(await completed('jobs', 'mai')).toEqual(['mail'])
  expect(await completed('triggers', 'report')).toEqual(['reports'])
  expect(await completed('triggers', 'zzz')).toEqual([])
  expect(await completed('jobs', '')).toEqual(
    expect.arrayContaining(['mail', 'reports', 'daily', 'hourly']) as string[],
  )
})

test('completes the last term of a filter, and leaves the others as they are', async () => {
  expect(await completed('executions', 'out')).toEqual(['outcome:'])
  expect(await completed('executions', 'late>5s outcome:fa')).toEqual(['late>5s outcome:failed'])
  expect(await completed('executions', 'outcome:failed,ti')).toEqual(['outcome:failed,timedOut'])
  expect(await completed('executions', 'outcome:failed job:reports/dai')).toEqual([
    'outcome:failed job:reports/daily',
  ])
  expect(await completed('executions', 'job:hour')).toEqual(['job:mail/hourly'])
  expect(await completed('executions', 'trigger:month')).toEqual(['trigger:mail/monthly'])
  expect(await completed('executions', 'group:re')).toEqual(['group:reports'])
  expect(await completed('executions', 'node:')).toEqual(['node:NON_CLUSTERED'])
  expect(await completed('executions', 'manual:')).toEqual(['manual:true', 'manual:false'])
  expect(await completed('executions', 'took>')).toContain('took>1m')
  expect(await completed('executions', 'data.to=')).toEqual([])
})

test('writes a slash in a group so that it is read as such', async () => {
  for (const typed of ['job:sliced', 'job:team%2Fa/sli'])
    expect(await completed('executions', typed)).toEqual(['job:team%2Fa/sliced'])
})

test('what it offers is what the filter reads', async () => {
  const [offered = ''] = await completed('executions', 'job:"odd')
  expect(offered).toBe(String.raw`job:"reports/odd \"one\""`)
  const query = new URLSearchParams({ filter: `outcome:failed ${offered}` })
  expect(await fixture.ask(`GET /executions?${query.toString()}`)).toMatchObject({ status: 200 })
})

test('offers what the principal may see', async () => {
  expect(await completed('jobs', 'hour', 'reports')).toEqual([])
  expect(await completed('jobs', 'dai', 'reports')).toEqual(['daily'])
  expect(await completed('triggers', 'mail', 'reports')).toEqual([])
  expect(await completed('executions', 'job:', 'reports')).toEqual([
    'job:reports/daily',
    String.raw`job:"reports/odd \"one\""`,
  ])
  expect(await completed('executions', 'group:', 'reports')).toEqual(['group:reports'])
  expect(await completed('executions', 'node:', 'reports')).toEqual([])
})

test('a job that never ran has a status without anything in it; one that is not there has none', async () => {
  const { status, json } = await fixture.ask('GET /jobs/mail/hourly/status')
  expect([status, operationOf('jobs.status').answer.parse(json)]).toMatchObject([
    200,
    { jobKey: { name: 'hourly' }, lastFireTimeMs: null, consecutiveFailures: 0, days: [] },
  ])
  expect(await fixture.ask('GET /jobs/mail/none/status')).toMatchObject({ status: 404 })
})

test('groups of jobs say how many may run at once, and how many do', async () => {
  const jobStore = sqliteJobStore({ filename: ':memory:', jobGroupLimits: { slow: 1, later: 5 } })
  const served = await filledScheduler({ jobStore })
  await using limited = await serverFixture({ served })
  await served.start()
  const key = await addPlainJob(served, 'waiting', 'long', 'slow')
  const began = served.events.next('jobToBeExecuted')
  await served.triggerJob(key)
  await began
  const { json } = await limited.ask('GET /groups')
  const { jobGroups } = operationOf('groups.list').answer.parse(json) as GroupsJson
  expect(jobGroups).toMatchObject([
    { name: 'later', isEmpty: true, limit: 5, executing: 0 },
    { name: 'mail', limit: null, executing: 0 },
    { name: 'reports', limit: null },
    { name: 'slow', count: 1, limit: 1, executing: 1 },
  ])
  await served.interrupt(key)
})
