import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import {
  type Answered,
  type Asked,
  addPlainJob,
  echo,
  operationOf,
  type ServerFixture,
  serverFixture,
} from '../support/server-fixture.ts'

let fixture: ServerFixture
beforeAll(async () => {
  fixture = await serverFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

/** What the API answers, held against the schema that the document gives for it. */
async function answer(id: string, request: string, options?: Asked): Promise<Record<string, unknown>> {
  const { status, json, text } = await fixture.ask(request, options)
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  return operationOf(id).answer.parse(json) as Record<string, unknown>
}

async function problem(request: string, options?: Asked): Promise<Record<string, unknown> & Answered> {
  const answered = await fixture.ask(request, options)
  expect(answered.headers.get('content-type')).toBe('application/problem+json')
  return { ...(answered.json as Record<string, unknown>), ...answered }
}

/** Whose token the fixture sends. */
const by = 'admin'
const anyNumber = expect.any(Number) as number
const landed = { scope: 'node', node: 'NON_CLUSTERED' }
const itemsOf = (page: Record<string, unknown>): { key: { name: string } }[] => page['items'] as never

describe('jobs', () => {
  test('are listed a page at a time, by group and by what is sought', async () => {
    const names: string[] = []
    for (let after = ''; ; ) {
      const page = await answer('jobs.list', `GET /jobs?take=3${after}`)
      names.push(...itemsOf(page).map(({ key }) => key.name))
      if (page['next'] === null) break
      after = `&after=${page['next'] as string}`
    }
    expect(names.slice(0, 4)).toEqual(['daytime', 'hourly', 'monthly', 'daily'])
    expect(itemsOf(await answer('jobs.list', 'GET /jobs?group=rep&groupMatch=startsWith'))).toHaveLength(1)
    expect(itemsOf(await answer('jobs.list', 'GET /jobs?search=HOUR'))).toMatchObject([
      { key: { name: 'hourly' } },
    ])
    expect(itemsOf(await answer('jobs.list', 'GET /jobs?jobType=none'))).toEqual([])
  })

  test('show their data without what looks secret', async () => {
    const job = await answer('jobs.get', 'GET /jobs/mail/hourly')
    expect(job['jobDataMap']).toEqual({ to: 'ops@example.com', apiKey: '***' })
  })

  test('keep what was said to be none, and take what was left out from the definition', async () => {
    const strict = defineJob('strict', () => undefined, {
      timeoutMs: 5000,
      disallowConcurrentExecution: true,
    })
    const served = await createScheduler({ logger: false, jobs: [strict, echo] })
    await using other = await serverFixture({ served })
    const put = async (body: object): Promise<unknown> =>
      (await other.ask('PUT /jobs/made/one', { body })).json
    const stored = async (): Promise<object | null> => served.getJobDetail(jobKey('one', 'made'))
    const settings = { timeoutMs: 5000, disallowConcurrentExecution: true }
    expect(await put({ jobType: 'strict' })).toMatchObject({ changed: true, result: { after: settings } })
    expect(await stored()).toMatchObject(settings)
    expect(await put({ jobType: 'strict' })).toMatchObject({ changed: false, result: { after: settings } })
    const none = { ...settings, timeoutMs: null }
    const sent = { jobType: 'strict', timeoutMs: null }
    expect(await put(sent)).toMatchObject({ changed: true, result: { after: none } })
    expect(await stored()).toMatchObject(none)
    const split = { items: 4, strategy: 'sticky', parameters: {}, misfire: 'runOnce' }
    const lost = { jobType: 'echo', requestsRecovery: false, sharding: split }
    expect(await put(lost)).toMatchObject({ result: { after: { requestsRecovery: false } } })
    expect(await put({ jobType: 'echo', sharding: split })).toMatchObject({
      result: { after: { requestsRecovery: true } },
    })
    const broadcast = { jobType: 'echo', requestsRecovery: true, sharding: { ...split, items: 'nodes' } }
    expect(await put(broadcast)).toMatchObject({ result: { after: { requestsRecovery: false } } })
    expect(await stored()).toMatchObject({ requestsRecovery: false })
  })

  test('are stored, changed and deleted; a masked value stands for the stored one', async () => {
    const made = { jobType: 'echo', jobDataMap: { token: 'abc', to: 'a' } }
    const dry = await answer('jobs.put', 'PUT /jobs/made/one?dryRun=true', { body: made })
    expect(dry).toMatchObject({ dryRun: true, changed: true, result: { before: null } })
    expect(await fixture.scheduler.checkExists(jobKey('one', 'made'))).toBe(false)
    expect(await answer('jobs.put', 'PUT /jobs/made/one', { body: made })).toMatchObject({
      changed: true,
      landed,
    })
    const again = { jobType: 'echo', jobDataMap: { token: '***', to: 'b' } }
    const changed = await answer('jobs.put', 'PUT /jobs/made/one', { body: again })
    expect(changed).toMatchObject({
      changed: true,
      result: { before: { jobDataMap: { token: '***', to: 'a' } } },
    })
    const stored = await fixture.scheduler.getJobDetail(jobKey('one', 'made'))
    expect(stored?.jobDataMap).toEqual({ token: 'abc', to: 'b' })
    expect(await answer('jobs.put', 'PUT /jobs/made/one', { body: again })).toMatchObject({ changed: false })
    expect(await answer('jobs.delete', 'DELETE /jobs/made/one')).toMatchObject({
      changed: true,
      result: { triggers: 0 },
    })
    expect(await problem('DELETE /jobs/made/one')).toMatchObject({ status: 404, code: 'ERR_JOB_NOT_FOUND' })
  })

  test('pause and resume with all their triggers', async () => {
    const paused = await answer('jobs.pause', 'POST /jobs/mail/hourly/pause?dryRun=true')
    expect(paused).toEqual({ dryRun: true, changed: true, landed, result: null })
    await answer('jobs.pause', 'POST /jobs/mail/hourly/pause')
    expect(await fixture.scheduler.getTriggerState(triggerKey('hourly', 'mail'))).toBe('PAUSED')
    // What is paused is paused again for another reason, and otherwise keeps what was said of it.
    const again = 'POST /jobs/mail/hourly/pause?dryRun=true'
    expect(await answer('jobs.pause', again)).toMatchObject({ changed: false })
    expect(await answer('jobs.pause', again, { body: { reason: 'a holiday' } })).toMatchObject({
      changed: true,
    })
    await answer('jobs.resume', 'POST /jobs/mail/hourly/resume')
    expect(await fixture.scheduler.getTriggerState(triggerKey('hourly', 'mail'))).toBe('NORMAL')
  })

  test('have names that no URL would keep', async () => {
    for (const name of ['..', '.', '~a', 'a/b', 'ä %2F', '<script>alert(1)</script>', '日本']) {
      await addPlainJob(fixture.scheduler, 'echo', name, 'odd')
      const part = encodeURIComponent(/^[.~]/.test(name) ? `~${name}` : name)
      expect(await answer('jobs.get', `GET /jobs/odd/${part}`)).toMatchObject({ key: { name, group: 'odd' } })
    }
    expect(await problem('GET /jobs/~/~')).toMatchObject({ status: 404 })
  })
})

describe('triggers', () => {
  const cron = (expression: string): object => ({
    type: 'cron',
    jobKey: { group: 'mail', name: 'hourly' },
    cronExpression: { expression, timeZone: 'UTC' },
  })

  test('are listed by job, state and what is sought', async () => {
    expect(itemsOf(await answer('triggers.list', 'GET /triggers?jobGroup=mail&jobName=hourly'))).toHaveLength(
      1,
    )
    expect(itemsOf(await answer('triggers.list', 'GET /triggers?state=ERROR'))).toEqual([])
    expect(itemsOf(await answer('triggers.list', 'GET /triggers?search=month'))).toHaveLength(1)
    expect(itemsOf(await answer('triggers.list', 'GET /triggers?jobGroup=mail'))).toHaveLength(3)
    expect(
      itemsOf(await answer('triggers.list', 'GET /triggers?jobType=echo&state=ERROR,NORMAL')),
    ).toHaveLength(4)
    expect(itemsOf(await answer('triggers.list', 'GET /triggers?dueBeforeMs=1000'))).toEqual([])
    expect(await problem('GET /triggers?jobName=hourly')).toMatchObject({ status: 400 })
    for (const state of ['ERROR,', 'paused']) {
      expect(await problem(`GET /triggers?state=${state}`)).toMatchObject({
        status: 400,
        detail: expect.stringMatching(/must be one of NONE, NORMAL, .* with commas between them/) as string,
      })
    }
  })

  test('are listed in the order in which they fire, a page at a time', async () => {
    const times: number[] = []
    for (let after = ''; ; ) {
      const page = await answer('triggers.list', `GET /triggers?order=nextFireTime&take=1${after}`)
      times.push(
        ...(page['items'] as { nextFireTimeMs: number }[]).map(({ nextFireTimeMs }) => nextFireTimeMs),
      )
      if (page['next'] === null) break
      after = `&after=${page['next'] as string}`
    }
    expect(times).toHaveLength(4)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(await problem('GET /triggers?order=nextFireTime&state=ERROR')).toMatchObject({ status: 400 })
    expect(await problem('GET /triggers?order=nextFireTime&after=e30')).toMatchObject({ status: 400 })
  })

  test.each(['reports/daily', 'mail/hourly', 'mail/monthly', 'mail/daytime'])(
    '%s goes out and comes back as it is',
    async (key) => {
      const { definition } = await answer('triggers.get', `GET /triggers/${key}`)
      const same = await answer('triggers.put', `PUT /triggers/${key}`, { body: definition })
      expect(same).toMatchObject({ changed: false, result: { before: definition, after: definition } })
      const later = await answer('triggers.put', `PUT /triggers/${key}?dryRun=true`, {
        body: { ...(definition as object), priority: 7 },
      })
      expect(later).toMatchObject({ dryRun: true, changed: true })
    },
  )

  test('say their fire times before and after an edit', async () => {
    await answer('triggers.put', 'PUT /triggers/made/two', { body: cron('0 0 8 * * ?') })
    const edit = await answer('triggers.put', 'PUT /triggers/made/two', { body: cron('0 0 9 * * ?') })
    const { beforeMs, afterMs } = edit['result'] as { beforeMs: number[]; afterMs: number[] }
    expect([beforeMs.length, afterMs.length]).toEqual([10, 10])
    expect(beforeMs.map((ms) => new Date(ms).getUTCHours())).toEqual(Array<number>(10).fill(8))
    expect(afterMs.map((ms) => new Date(ms).getUTCHours())).toEqual(Array<number>(10).fill(9))
    const times = await answer('triggers.fireTimes', 'GET /triggers/made/two/fire-times?count=3')
    expect(times['fireTimesMs']).toEqual(afterMs.slice(0, 3))
    await answer('triggers.delete', 'DELETE /triggers/made/two')
    expect(await fixture.scheduler.checkExists(triggerKey('two', 'made'))).toBe(false)
  })

  test('that are over have no fire times', async () => {
    const { scheduler } = fixture
    const options = { key: jobKey('over', 'made'), every: '1h' } as const
    await scheduler.schedule('echo', { ...options, startAt: new Date(Date.now() + 3_600_000) })
    const path = 'GET /triggers/made/over/fire-times'
    expect((await answer('triggers.fireTimes', path))['fireTimesMs']).toHaveLength(20)
    await scheduler.pauseTrigger(triggerKey('over', 'made'))
    await scheduler.schedule('echo', { ...options, endAt: new Date(1) })
    expect(await answer('triggers.fireTimes', path)).toEqual({ fireTimesMs: [] })
    await scheduler.deleteJob(options.key)
  })

  test('refuse what is wrong in words', async () => {
    const put = (body: object): Promise<Record<string, unknown>> =>
      problem('PUT /triggers/made/bad', { body })
    expect(await put(cron('0 0 25 * * ?'))).toMatchObject({
      status: 400,
      code: 'ERR_INVALID_CRON_EXPRESSION',
      position: 4,
    })
    expect(await put({ ...cron('0 0 8 * * ?'), calendarName: 'none' })).toMatchObject({
      code: 'ERR_CALENDAR_NOT_FOUND',
    })
    expect(await put({ ...cron('0 0 8 * * ?'), jobKey: { group: 'a', name: 'b' } })).toMatchObject({
      status: 404,
    })
    expect(await put({ ...cron('0 0 8 * * ?'), priorty: 1 })).toMatchObject({
      status: 400,
      code: 'ERR_INVALID_ARGUMENT',
      problems: [{ message: expect.stringContaining('priorty') as string }],
    })
  })

  test('pause, resume, and reset from an error', async () => {
    await answer('triggers.pause', 'POST /triggers/reports/daily/pause')
    expect(await answer('triggers.get', 'GET /triggers/reports/daily')).toMatchObject({ state: 'PAUSED' })
    await answer('triggers.resume', 'POST /triggers/reports/daily/resume')
    expect(await answer('triggers.get', 'GET /triggers/reports/daily')).toMatchObject({ state: 'NORMAL' })
    const reset = await answer('triggers.resetError', 'POST /triggers/reports/daily/reset-error')
    expect(reset).toMatchObject({ changed: false })
    expect(await problem('POST /triggers/reports/none/pause')).toMatchObject({
      status: 404,
      code: 'ERR_TRIGGER_NOT_FOUND',
    })
  })

  test('pause with a reason and an end, listed with who it was; resume without what was missed', async () => {
    const untilMs = Date.now() + 3_600_000
    const body = { reason: 'broken', untilMs }
    await answer('triggers.pause', 'POST /triggers/reports/daily/pause', { body })
    const pause = { scope: 'trigger', reason: 'broken', by, sinceMs: anyNumber, untilMs }
    expect(await answer('triggers.get', 'GET /triggers/reports/daily')).toMatchObject({ pause })
    const { items } = await answer('triggers.list', 'GET /triggers?group=reports')
    expect(items).toContainEqual(expect.objectContaining({ pause }))
    await answer('triggers.resume', 'POST /triggers/reports/daily/resume', {
      body: { withoutMissed: true },
    })
    expect(await answer('triggers.get', 'GET /triggers/reports/daily')).toMatchObject({ pause: null })
    const past = await problem('POST /triggers/reports/daily/pause', { body: { untilMs: 1 } })
    expect(past).toMatchObject({ status: 400, code: 'ERR_INVALID_OPTION' })
  })

  test('skip the next fire, after a look at what that does', async () => {
    const before = await answer('triggers.get', 'GET /triggers/reports/daily')
    const dry = await answer('triggers.skipNext', 'POST /triggers/reports/daily/skip-next?dryRun=true')
    const done = await answer('triggers.skipNext', 'POST /triggers/reports/daily/skip-next')
    expect(done['result']).toEqual(dry['result'])
    expect(done['result']).toMatchObject({ skippedMs: before['nextFireTimeMs'] })
    const after = await answer('triggers.get', 'GET /triggers/reports/daily')
    expect(done['result']).toMatchObject({ nextMs: after['nextFireTimeMs'] })
  })

  test('skip no other fire than the one that was shown', async () => {
    const path = 'POST /triggers/reports/daily/skip-next'
    const { nextFireTimeMs: expectedMs } = await answer('triggers.get', 'GET /triggers/reports/daily')
    const skipped = await answer('triggers.skipNext', path, { body: { expectedMs } })
    expect(skipped['result']).toMatchObject({ skippedMs: expectedMs })
    const refusal = { status: 412, code: 'ERR_CHANGED_MEANWHILE' }
    expect(await problem(path, { body: { expectedMs } })).toMatchObject(refusal)
    expect(await problem(`${path}?dryRun=true`, { body: { expectedMs } })).toMatchObject(refusal)
    const after = await answer('triggers.get', 'GET /triggers/reports/daily')
    expect(skipped['result']).toMatchObject({ nextMs: after['nextFireTimeMs'] })
  })
})

describe('groups and the scheduler', () => {
  test('groups pause and resume, and are listed while they are paused and empty', async () => {
    await answer('triggerGroups.pause', 'POST /trigger-groups/later/pause')
    await answer('jobGroups.pause', 'POST /job-groups/mail/pause')
    const groups = await answer('groups.list', 'GET /groups')
    const pause = { reason: null, by, sinceMs: anyNumber, untilMs: null }
    expect(groups['triggerGroups']).toContainEqual({
      name: 'later',
      isPaused: true,
      isEmpty: true,
      pause: { scope: 'triggerGroup', ...pause },
      count: 0,
    })
    expect(groups['jobGroups']).toContainEqual({
      name: 'mail',
      isPaused: true,
      isEmpty: false,
      pause: { scope: 'jobGroup', ...pause },
      count: 3,
      limit: null,
      executing: 0,
    })
    await answer('triggerGroups.resume', 'POST /trigger-groups/later/resume')
    await answer('jobGroups.resume', 'POST /job-groups/mail/resume')
    expect(await answer('jobGroups.resume', 'POST /job-groups/mail/resume?dryRun=true')).toMatchObject({
      changed: false,
    })
  })

  test('everything pauses and resumes', async () => {
    await answer('scheduler.pauseAll', 'POST /scheduler/pause-all')
    const overview = await answer('scheduler.overview', 'GET /overview')
    expect(overview['byState']).not.toHaveProperty('NORMAL')
    await answer('scheduler.resumeAll', 'POST /scheduler/resume-all')
    expect(await answer('scheduler.overview', 'GET /overview')).toMatchObject({
      byState: { NORMAL: 4 },
      triggers: 4,
    })
  })

  test('the node starts and stands by, and says so', async () => {
    expect(await answer('scheduler.get', 'GET /scheduler')).toMatchObject({
      status: 'standby',
      runningSinceMs: null,
    })
    expect(await answer('scheduler.start', 'POST /scheduler/start')).toMatchObject({ changed: true, landed })
    expect(await answer('scheduler.start', 'POST /scheduler/start')).toMatchObject({ changed: false })
    expect(await answer('scheduler.get', 'GET /scheduler')).toMatchObject({ status: 'started' })
    await answer('scheduler.standby', 'POST /scheduler/standby')
    expect(fixture.scheduler.isInStandbyMode).toBe(true)
    await answer('scheduler.start', 'POST /scheduler/start')
    expect(itemsOf(await answer('nodes.list', 'GET /nodes'))).toMatchObject([
      { isSelf: true, lastCheckInTimeMs: null, status: 'started', executing: 0 },
    ])
  })

  test('the node is steered by its id, and is not removed while it checks in', async () => {
    const id = fixture.scheduler.schedulerInstanceId
    const there = { scope: 'node', node: id }
    await answer('nodes.start', `POST /nodes/${id}/start`)
    expect(await answer('nodes.drain', `POST /nodes/${id}/drain?dryRun=true`)).toMatchObject({
      dryRun: true,
      changed: true,
      landed: there,
      result: { confirmed: false, node: { status: 'started' } },
    })
    expect(await answer('nodes.drain', `POST /nodes/${id}/drain`)).toMatchObject({
      dryRun: false,
      changed: true,
      landed: there,
      result: { confirmed: true, node: { instanceId: id, status: 'draining', executing: 0 } },
    })
    expect(await answer('nodes.standby', `POST /nodes/${id}/standby?dryRun=true`)).toMatchObject({
      changed: false,
    })
    expect(await answer('nodes.start', `POST /nodes/${id}/start`)).toMatchObject({
      changed: true,
      result: { node: { status: 'started' } },
    })
    for (const dryRun of ['', '?dryRun=true']) {
      const alive = await fixture.ask(`POST /nodes/${id}/remove${dryRun}`)
      expect([alive.status, alive.json]).toMatchObject([409, { code: 'ERR_NODE_ALIVE' }])
      const gone = await fixture.ask(`POST /nodes/gone/drain${dryRun}`)
      expect([gone.status, gone.json]).toMatchObject([404, { code: 'ERR_NOT_FOUND' }])
    }
  })
})

describe('runs', () => {
  test('a job runs now with other data, is seen while it runs, and can be stopped', async () => {
    await fixture.scheduler.start()
    await addPlainJob(fixture.scheduler, 'waiting', 'slow', 'made')
    const begun = fixture.scheduler.events.next(
      'jobToBeExecuted',
      ({ context }) => context.jobKey.name === 'slow',
    )
    const run = await answer('jobs.run', 'POST /jobs/made/slow/run', { body: { jobDataMap: { to: 'me' } } })
    expect(run).toMatchObject({ changed: true, result: { triggerKey: { group: 'DEFAULT' } } })
    const { context } = await begun
    expect(context.mergedJobDataMap).toEqual({ to: 'me' })
    const executing = await answer('executing.list', 'GET /executing')
    expect(executing['items']).toMatchObject([
      { jobKey: { name: 'slow' }, fireInstanceId: context.fireInstanceId },
    ])
    const ended = fixture.scheduler.events.next('jobWasExecuted')
    const path = `POST /executing/${encodeURIComponent(context.fireInstanceId)}/interrupt`
    expect(await answer('executing.interrupt', path)).toMatchObject({ changed: true })
    await ended
    await fixture.scheduler.idle()
    expect(await problem(path)).toMatchObject({ status: 404 })
    expect(await answer('jobs.interrupt', 'POST /jobs/made/slow/interrupt')).toMatchObject({ changed: false })
  })

  test('a trigger lends its data to a run', async () => {
    await fixture.scheduler.start()
    const begun = fixture.scheduler.events.next('jobToBeExecuted')
    await answer('triggers.run', 'POST /triggers/reports/daily/run', {
      body: { jobDataMap: { extra: 1, apiKey: '***' } },
    })
    const { context } = await begun
    expect(context.mergedJobDataMap).toMatchObject({
      password: 'hunter2',
      to: 'ops@example.com',
      extra: 1,
      apiKey: 'k-123',
    })
  })

  test('the filter of executions is read, and refused in words', async () => {
    const filter = encodeURIComponent('job:reports/daily outcome:failed late>5s took>=1m group:"a b" node:n1')
    const page = await answer('executions.list', `GET /executions?filter=${filter}`)
    expect(page).toEqual({ items: [], next: null })
    for (const wrong of ['colour:red', 'late>soon', 'job>5s', 'outcome:fine', 'job:/', '"', 'late:5s']) {
      const found = await problem(`GET /executions?filter=${encodeURIComponent(wrong)}`)
      expect([wrong, found.status, found['field']]).toEqual([wrong, 400, 'filter'])
    }
  })

  test.each([
    '/executions?toMs=',
    '/planned?toMs=',
    '/triggers?dueBeforeMs=',
    '/jobs?take=1e1',
    '/jobs?take=+5',
  ])('a number in a query is in digits: %s', async (path) => {
    const found = await problem(`GET ${path}`)
    expect(found).toMatchObject({ status: 400, field: path.replace(/.*\?(.*)=.*/, 'query.$1') })
    expect(found['detail']).toMatch(/must be a whole number in digits( from 1 to 1000)?, or be left out/)
  })

  test.each(['/jobs?take=0', '/jobs?take=1001'])('a number out of bounds is told them: %s', async (path) => {
    expect((await problem(`GET ${path}`))['detail']).toContain('from 1 to 1000')
  })

  test('of two terms of one kind both hold, or they are refused', async () => {
    const twice = ['data.x=1 data.y=2', 'outcome:failed outcome:succeeded', 'job:zz/none job:reports/daily']
    for (const wrong of twice) {
      const found = await problem(`GET /executions?filter=${encodeURIComponent(wrong)}`)
      expect(found).toMatchObject({ status: 400, field: 'filter' })
      expect(found['detail']).toMatch(/'(data|outcome|job)' twice/)
    }
    const misfires = await problem('GET /misfires?filter=group:a+group:b')
    expect(misfires).toMatchObject({ status: 400, field: 'filter' })
    const listed = async (filter: string): Promise<number> =>
      itemsOf(await answer('executions.list', `GET /executions?filter=${encodeURIComponent(filter)}`)).length
    expect(await listed('took>=0ms took<1h')).toBeGreaterThan(0)
    expect(await listed('took>1h took>=0ms')).toBe(0)
    expect(await listed('late>1h late>0ms')).toBe(0)
  })
})

test('cron.preview marks what daylight saving time and calendars do', async () => {
  const at = (from: string, query: string): string =>
    `GET /cron/preview?timeZone=Europe/Paris&fromMs=${Date.parse(from)}&${query}`
  const spring = await answer('cron.preview', at('2026-03-28T12:00Z', 'expression=0+30+2+*+*+%3F&count=2'))
  expect(spring).toMatchObject({
    words: 'At 02:30',
    isComplete: false,
    fires: [{ dst: 'afterGap', offsetMs: 7_200_000 }, { dst: null }],
  })
  const autumn = await answer('cron.preview', at('2026-10-24T23:00Z', 'expression=0+30+*+*+*+%3F&count=4'))
  const marks = (autumn['fires'] as { dst: string | null }[]).map(({ dst }) => dst)
  expect(marks).toEqual([null, 'firstPass', 'secondPass', null])
  const christmas = at('2199-12-23T12:00Z', 'expression=0+0+8+*+*+%3F&calendarName=holidays&count=2')
  const fires = (await answer('cron.preview', christmas))['fires'] as { isExcluded: boolean }[]
  expect(fires.map(({ isExcluded }) => isExcluded)).toEqual([false, true, false])
  const fiveFields = await answer('cron.preview', at('2026-03-28T12:00Z', 'expression=0+7+*+*+1-5&count=1'))
  expect(fiveFields).toMatchObject({ fires: [{ atMs: Date.parse('2026-03-30T05:00Z') }] })
  expect(await problem('GET /cron/preview?expression=0+7+*+*+1-5&dialect=quartz')).toMatchObject({
    status: 400,
  })
  expect(await problem('GET /cron/preview?expression=0+0+0+31+2+%3F')).toMatchObject({
    status: 400,
    code: 'ERR_INVALID_CRON_EXPRESSION',
  })
})
