import { describe, expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { filledScheduler, type ServerFixture, serverFixture, tokens } from '../support/server-fixture.ts'

const job = '/jobs/reports/daily'
const trigger = '/triggers/reports/daily'
const calendar = '/calendars/holidays'

/** What an edit of each thing sends. */
const bodies = {
  [job]: { jobType: 'echo', description: 'changed by an edit' },
  [trigger]: {
    type: 'simple',
    jobKey: { group: 'reports', name: 'daily' },
    repeatCount: 3,
    repeatIntervalMs: 60_000,
  },
  [calendar]: { definition: { type: 'holiday', timeZone: 'UTC', excludedDates: ['2031-01-01'] } },
}

async function tagOf(fixture: ServerFixture, path: string): Promise<string> {
  const { headers } = await fixture.ask(`GET ${path}`)
  return headers.get('etag') ?? ''
}

describe.each(Object.entries(bodies))('what changes %s', (path, body) => {
  test('is heeded as it was read, and refused when another one has changed it since', async () => {
    await using fixture = await serverFixture()
    const read = await tagOf(fixture, path)
    expect(read).toMatch(/^"[\w-]{22}"$/)
    expect(await tagOf(fixture, path)).toBe(read)
    const head = await fetch(`${fixture.address}/api${path}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${tokens.admin}`, 'if-none-match': read },
    })
    expect([head.status, head.headers.get('etag')]).toEqual([200, read])
    const edit = (tag: string): ReturnType<typeof fixture.ask> =>
      fixture.ask(`PUT ${path}`, { body, headers: { 'if-match': tag } })
    expect(await edit(`W/${read}`)).toMatchObject({ status: 200, json: { changed: true } })
    expect(await edit(read)).toMatchObject({ status: 412, json: { code: 'ERR_CHANGED_MEANWHILE' } })
    expect(await fixture.ask(`DELETE ${path}`, { headers: { 'if-match': read } })).toMatchObject({
      status: 412,
    })
    expect(
      await fixture.ask(`PUT ${path}?dryRun=true`, { body, headers: { 'if-match': read } }),
    ).toMatchObject({
      status: 412,
    })
    expect(await edit(`"other", ${await tagOf(fixture, path)}`)).toMatchObject({ status: 200 })
    expect(await edit('W/*')).toMatchObject({ status: 412 })
    expect(await edit('*')).toMatchObject({ status: 200 })
  })

  test('makes nothing where something is there', async () => {
    await using fixture = await serverFixture()
    const headers = { 'if-none-match': '*' }
    const read = await tagOf(fixture, path)
    expect(await fixture.ask(`PUT ${path}`, { body, headers })).toMatchObject({ status: 412 })
    expect(await tagOf(fixture, path)).toBe(read)
    expect(await fixture.ask(`PUT ${path}x`, { body, headers })).toMatchObject({ status: 200 })
    expect(await fixture.ask(`PUT ${path}y`, { body, headers: { 'if-match': '*' } })).toMatchObject({
      status: 412,
      json: { detail: expect.stringContaining('not there any more') as string },
    })
  })
})

test('firing and pausing a trigger leave its version as it is', async () => {
  await using fixture = await serverFixture()
  const read = await tagOf(fixture, trigger)
  await fixture.scheduler.pauseTrigger(triggerKey('daily', 'reports'))
  await fixture.scheduler.skipNextFire(triggerKey('daily', 'reports'))
  expect(await tagOf(fixture, trigger)).toBe(read)
})

test('changes by programs count as well', async () => {
  await using fixture = await serverFixture()
  const read = await tagOf(fixture, job)
  const changed = JobBuilder.newJob('echo')
    .withIdentity(jobKey('daily', 'reports'))
    .usingJobData({ by: 'program' })
  await fixture.scheduler.addJob(changed.storeDurably().build(), { replace: true })
  const body = bodies[job]
  expect(await fixture.ask(`PUT ${job}`, { body, headers: { 'if-match': read } })).toMatchObject({
    status: 412,
  })
  const ofCalendar = await tagOf(fixture, calendar)
  await fixture.scheduler.addCalendar(
    'holidays',
    new HolidayCalendar({ timeZone: 'UTC', excludedDates: [] }),
    { replace: true, updateTriggers: false },
  )
  expect(await tagOf(fixture, calendar)).not.toBe(ofCalendar)
})

test('an operation that does not heed them says so', async () => {
  await using fixture = await serverFixture()
  const headers = { 'if-match': '"abc"' }
  expect(await fixture.ask(`POST ${trigger}/pause`, { body: {}, headers })).toMatchObject({
    status: 400,
    json: { field: 'if-match' },
  })
})

test('one key with another version is another request', async () => {
  await using fixture = await serverFixture()
  const edit = (tag: string): ReturnType<typeof fixture.ask> =>
    fixture.ask(`PUT ${job}`, { body: bodies[job], headers: { 'if-match': tag, 'idempotency-key': 'k' } })
  expect(await edit('"old"')).toMatchObject({ status: 412 })
  expect(await edit(await tagOf(fixture, job))).toMatchObject({ status: 422 })
})

/** As many turns of the event loop as a request needs that nothing holds up. */
async function severalTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
}

test.each([job, trigger, calendar])(
  'of two edits at once with one version of %s, one is refused',
  async (path) => {
    const scheduler = await filledScheduler()
    await using fixture = await serverFixture({ served: scheduler })
    const read = await tagOf(fixture, path)
    let reading = 0
    let bothRead = (): void => {}
    const both = new Promise<void>((resolve) => {
      bothRead = resolve
    })
    const delayed = async <Answer>(look: () => Promise<Answer>): Promise<Answer> => {
      const found = await look()
      if (++reading === 2) bothRead()
      await Promise.race([both, severalTurns()])
      return found
    }
    const getJobDetail = scheduler.getJobDetail.bind(scheduler)
    const getTrigger = scheduler.getTrigger.bind(scheduler)
    const getCalendar = scheduler.getCalendar.bind(scheduler)
    if (path === job) scheduler.getJobDetail = (key) => delayed(() => getJobDetail(key))
    if (path === trigger) scheduler.getTrigger = (key) => delayed(() => getTrigger(key))
    if (path === calendar) scheduler.getCalendar = (name) => delayed(() => getCalendar(name))
    const edit = (body: unknown): ReturnType<typeof fixture.ask> =>
      fixture.ask(`PUT ${path}`, { body, headers: { 'if-match': read } })
    const other = {
      ...bodies[path as keyof typeof bodies],
      ...(path === calendar
        ? { definition: { type: 'holiday', timeZone: 'UTC', excludedDates: ['2032-02-02'] } }
        : { description: 'changed by another edit' }),
    }
    const answers = await Promise.all([edit(bodies[path as keyof typeof bodies]), edit(other)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
  },
)

describe('between the look and the change at another node', () => {
  /** What another node does just before `method` of this one reaches the store. */
  function meanwhile(
    scheduler: Scheduler,
    method: 'addJob' | 'deleteJob' | 'rescheduleJob' | 'unscheduleJob',
    change: () => Promise<unknown>,
  ): void {
    const proceed = scheduler[method].bind(scheduler) as (...call: unknown[]) => Promise<unknown>
    const once = async (...call: unknown[]): Promise<unknown> => {
      Object.assign(scheduler, { [method]: proceed })
      await change()
      return proceed(...call)
    }
    Object.assign(scheduler, { [method]: once })
  }
  const edited = JobBuilder.newJob('echo').withIdentity(jobKey('daily', 'reports')).storeDurably()
  const editJob = (scheduler: Scheduler): Promise<void> =>
    scheduler.addJob(edited.usingJobData({ by: 'another' }).build(), { replace: true })
  const editTrigger = async (scheduler: Scheduler): Promise<void> => {
    const key = triggerKey('daily', 'reports')
    const next = TriggerBuilder.newTrigger().withIdentity(key).forJob(jobKey('daily', 'reports'))
    await scheduler.rescheduleJob(key, next.startAt(new Date(Date.UTC(2199, 5, 1))).build())
  }
  test.each([
    ['PUT', job, 'addJob', editJob],
    ['DELETE', job, 'deleteJob', editJob],
    ['PUT', trigger, 'rescheduleJob', editTrigger],
    ['DELETE', trigger, 'unscheduleJob', editTrigger],
  ] as const)('%s %s is refused when %s finds something else', async (verb, path, method, edit) => {
    const scheduler = await filledScheduler()
    await using fixture = await serverFixture({ served: scheduler })
    const ask = (headers: Record<string, string>): ReturnType<typeof fixture.ask> =>
      fixture.ask(`${verb} ${path}`, { headers, ...(verb === 'PUT' && { body: bodies[path] }) })
    meanwhile(scheduler, method, () => edit(scheduler))
    const refused = await ask({ 'if-match': await tagOf(fixture, path) })
    expect(refused).toMatchObject({ status: 412, json: { code: 'ERR_CHANGED_MEANWHILE' } })
    expect(await fixture.ask(`GET ${path}`)).toMatchObject({ status: 200 })
    expect(JSON.stringify(await fixture.ask(`GET ${path}`))).not.toContain('changed by an edit')
    meanwhile(scheduler, method, () => edit(scheduler))
    expect(await ask({ 'if-match': '*' })).toMatchObject({ status: 200, json: { changed: true } })
  })
})
