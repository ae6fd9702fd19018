import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'
import { addPlainJob, type ServerFixture, serverFixture } from '../support/server-fixture.ts'

let fixture: ServerFixture
beforeAll(async () => {
  fixture = await serverFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

test('every list has the columns of its items as CSV, also when it has none', async () => {
  await using empty = await serverFixture({ served: await createScheduler({ logger: false }) })
  const lists = catalogue.filter(({ isList, path }) => isList === true && !path.includes('{'))
  expect(lists.length).toBeGreaterThan(5)
  for (const { id, path } of lists) {
    const { status, text } = await empty.ask(`GET ${path}?format=csv`)
    const [header = ''] = text.split('\r\n')
    expect([id, status, header.split(',').length > 1]).toEqual([id, 200, true])
  }
  const before = (await fixture.ask('GET /jobs?format=csv&take=1')).text.split('\r\n')
  const none = (await fixture.ask('GET /jobs?format=csv&group=nobody')).text.split('\r\n')
  expect([none.length, none[0]]).toEqual([2, before[0]])
})

test('a list within a row is JSON where its elements are no texts', async () => {
  await using ran = await serverFixture()
  await ran.scheduler.start()
  await ran.scheduler.triggerJob(jobKey('hourly', 'mail'))
  await ran.scheduler.idle()
  const { text } = await ran.ask('GET /job-status?days=1&format=csv')
  expect(text).not.toContain('[object')
  expect(text).toContain('""succeeded"":1')
})

test('a list as CSV says where it goes on, up to its end', async () => {
  const whole = (await fixture.ask('GET /jobs?format=csv')).text.split('\r\n').slice(1, -1)
  const rows: string[] = []
  let search: string | undefined = '?format=csv&take=2'
  while (search !== undefined) {
    const { headers, text } = await fixture.ask(`GET /jobs${search}`)
    rows.push(...text.split('\r\n').slice(1, -1))
    search = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
  }
  expect(whole.length).toBeGreaterThan(2)
  expect(rows).toEqual(whole)
})

test('a log as CSV says where it goes on', async () => {
  const chatty = defineJob('chatty', ({ log }) => {
    for (const line of ['one', 'two', 'three']) log.info({}, line)
  })
  const served = await createScheduler({
    logger: false,
    jobStore: new RAMJobStore({ history: { record: 'all' } }),
    jobs: [chatty],
  })
  await using logged = await serverFixture({ served })
  await served.start()
  await served.triggerJob(await addPlainJob(served, 'chatty', 'job', 'logged'))
  await served.idle()
  const [execution] = (await served.queryExecutions()).items
  const path = `/executions/${String(execution?.fireInstanceId)}/log`
  const first = await logged.ask(`GET ${path}?take=2&format=csv`)
  const { next } = (await logged.ask(`GET ${path}?take=2`)).json as { readonly next: number }
  expect(first.headers.get('link')).toBe(`<?take=2&format=csv&after=${next}>; rel="next"`)
  const last = await logged.ask(`GET ${path}?take=2&format=csv&after=${next}`)
  expect([last.text.includes('three'), last.headers.get('link')]).toEqual([true, null])
})

test('lists come as CSV that no spreadsheet takes for formulas', async () => {
  await addPlainJob(fixture.scheduler, 'echo', '=1+1', 'csv,"odd"')
  const { status, headers, text } = await fixture.ask('GET /jobs?format=csv&group=csv&groupMatch=startsWith')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(text.split('\r\n')[0]).toMatch(/^key\.group,key\.name,jobType/)
  expect(text.split('\r\n')[1]).toMatch(/^"csv,""odd""",'=1\+1,echo/)
})
