import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'

import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { DefinitionsJson } from '../../src/server/operations/definitions-export.ts'
import { calendarFromJSON } from '../../src/triggers/calendars/calendar-json.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import {
  type Asked,
  addPlainJob,
  filledScheduler,
  operationOf,
  type ServerFixture,
  serverFixture,
} from '../support/server-fixture.ts'

let fixture: ServerFixture
beforeAll(async () => {
  fixture = await serverFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

type Answer = Record<string, unknown>

async function answer(id: string, request: string, options?: Asked): Promise<Answer> {
  const { status, json, text } = await fixture.ask(request, options)
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  return operationOf(id).answer.parse(json) as Answer
}

const holidays = (...excludedDates: string[]): object => ({ type: 'holiday', timeZone: 'UTC', excludedDates })

describe('calendars', () => {
  test('say before they are stored whose next firing they move', async () => {
    const trigger = await answer('triggers.get', 'GET /triggers/mail/monthly')
    const definition = { ...(trigger['definition'] as object), calendarName: 'holidays' }
    await answer('triggers.put', 'PUT /triggers/mail/monthly', { body: definition })
    const body = { definition: holidays('2199-01-01', '2199-12-25') }
    const dry = await answer('calendars.put', 'PUT /calendars/holidays?dryRun=true', { body })
    const moved = {
      key: { group: 'mail', name: 'monthly' },
      beforeMs: Date.UTC(2199, 0, 1),
      afterMs: Date.UTC(2199, 1, 1),
    }
    expect(dry).toMatchObject({ changed: true, result: { triggers: 1, moved: 1, first: [moved] } })
    await answer('calendars.put', 'PUT /calendars/holidays', { body })
    expect(await answer('triggers.get', 'GET /triggers/mail/monthly')).toMatchObject({
      nextFireTimeMs: moved.afterMs,
    })
    expect(await answer('calendars.put', 'PUT /calendars/holidays', { body })).toMatchObject({
      changed: false,
    })
    expect(await answer('calendars.get', 'GET /calendars/holidays')).toMatchObject({ triggers: 1 })
    const inUse = await fixture.ask('DELETE /calendars/holidays')
    expect([inUse.status, inUse.json]).toMatchObject([409, { code: 'ERR_CALENDAR_IN_USE' }])
  })

  test('show a month, are listed and deleted', async () => {
    const definition = {
      type: 'daily',
      timeZone: 'UTC',
      rangeStart: '08:00',
      rangeEnd: '10:00',
    }
    await answer('calendars.put', 'PUT /calendars/made', { body: { definition } })
    const made = await answer('calendars.days', 'GET /calendars/made/days?from=2026-03-01&days=2')
    expect(made['days']).toEqual([
      { day: '2026-03-01', is: 'partial' },
      { day: '2026-03-02', is: 'partial' },
    ])
    const month = await answer('calendars.days', 'GET /calendars/holidays/days?from=2199-12-24&days=2')
    expect(month['days']).toMatchObject([{ is: 'included' }, { is: 'excluded' }])
    expect((await answer('calendars.list', 'GET /calendars'))['items']).toHaveLength(2)
    expect(await answer('calendars.delete', 'DELETE /calendars/made')).toMatchObject({ changed: true })
    expect(await fixture.ask('GET /calendars/made')).toMatchObject({ status: 404 })
  })
})

test('a calendar with an unknown field is not stored without it', async () => {
  const definition = { ...holidays(), baseCalendar: { type: 'weekly', timeZone: 'UTC' } }
  const expected = { code: 'ERR_INVALID_CALENDAR', field: 'baseCalendar' }
  const put = await fixture.ask('PUT /calendars/layered', { body: { definition } })
  expect([put.status, put.json]).toMatchObject([400, expected])
  const exported = (await fixture.ask('GET /definitions')).json as DefinitionsJson
  const definitions = { ...exported, calendars: [{ name: 'layered', definition }] }
  const imported = await fixture.ask('POST /definitions', { body: { definitions } })
  expect([imported.status, imported.json]).toMatchObject([400, { code: 'ERR_INVALID_CALENDAR' }])
  expect(await fixture.scheduler.getCalendar('layered')).toBeNull()
})

const stores: readonly (readonly [string, () => JobStore])[] = [
  ['memory', () => new RAMJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
]
const stepByStep = (): JobStore => {
  const store = new DelegatingJobStore(new RAMJobStore())
  delete store.changeDefinitions
  return store
}
const made: DefinitionsJson['calendars'][number] = {
  name: 'made',
  definition: { type: 'holiday', timeZone: 'UTC', excludedDates: ['2199-01-01'] },
}

async function triggerOf(scheduler: Scheduler, name: string): Promise<Trigger> {
  return (await scheduler.getTrigger(triggerKey(name, 'mail'))) ?? expect.fail()
}

describe('one file of all definitions', () => {
  test('goes into an empty scheduler and makes the same of it', async () => {
    const definitions = await answer('definitions.export', 'GET /definitions?secrets=true')
    expect(definitions).toMatchObject({ jobs: { length: 4 }, triggers: { length: 4 } })
    const { scheduler } = fixture
    await scheduler.deleteJob(jobKey('hourly', 'mail'))
    await scheduler.addJob((await scheduler.getJobDetail(jobKey('daily', 'reports'))) ?? expect.fail(), {
      replace: true,
    })
    const request = { body: { definitions } }
    const dry = await answer('definitions.import', 'POST /definitions?dryRun=true', request)
    expect(dry).toMatchObject({
      dryRun: true,
      result: {
        counts: { add: 2, change: 0, remove: 0, same: 7 },
        differences: [
          { kind: 'job', change: 'add', key: { group: 'mail', name: 'hourly' } },
          { kind: 'trigger', change: 'add' },
        ],
      },
    })
    await answer('definitions.import', 'POST /definitions', request)
    const stored = await scheduler.getJobDetail(jobKey('hourly', 'mail'))
    expect(stored?.jobDataMap).toEqual({ to: 'ops@example.com', apiKey: 'k-123' })
    const again = await answer('definitions.import', 'POST /definitions', request)
    expect(again).toMatchObject({ changed: false, result: { differences: [] } })
  })

  test('removes what it does not have when it is asked to, and only then', async () => {
    const definitions = await answer('definitions.export', 'GET /definitions')
    await answer('jobs.put', 'PUT /jobs/made/more', { body: { jobType: 'echo' } })
    expect(await answer('definitions.import', 'POST /definitions', { body: { definitions } })).toMatchObject({
      changed: false,
    })
    const dry = await answer('definitions.import', 'POST /definitions?dryRun=true', {
      body: { definitions, remove: true },
    })
    expect(dry).toMatchObject({
      result: { differences: [{ kind: 'job', change: 'remove', key: { name: 'more' } }] },
    })
    await answer('definitions.import', 'POST /definitions', { body: { definitions, remove: true } })
    expect(await fixture.scheduler.checkExists(jobKey('more', 'made'))).toBe(false)
  })

  test.each([...stores, ['a store without one step for it', stepByStep] as const])(
    'with one trigger that cannot be stored stores no job and no other trigger, in %s',
    async (_, store) => {
      await using full = await serverFixture({ served: await filledScheduler({ jobStore: store() }) })
      const definitions = (await full.ask('GET /definitions?secrets=true')).json as DefinitionsJson
      const { scheduler } = full
      const [broken, ...good] = definitions.triggers
      if (broken === undefined) expect.fail()
      const unstored = { ...broken, fields: { ...broken.fields, calendarName: 'nobody has it' } }
      await scheduler.deleteJobs(await scheduler.getJobKeys(GroupMatcher.anyGroup()))
      const refused = await full.ask('POST /definitions', {
        body: { definitions: { ...definitions, calendars: [made], triggers: [...good, unstored] } },
      })
      expect(refused.json).toMatchObject({ code: 'ERR_CALENDAR_NOT_FOUND' })
      expect(await scheduler.queryJobs()).toMatchObject({ items: [] })
      expect(await scheduler.getCalendarNames()).toEqual(['holidays'])
      const whole = await full.ask('POST /definitions', { body: { definitions } })
      expect([whole.status, whole.json]).toMatchObject([
        200,
        { changed: true, result: { counts: { add: 8 } } },
      ])
      expect((await scheduler.queryTriggers()).items).toHaveLength(4)
    },
  )

  test.each(stores)('that leaves out a calendar in use changes nothing, in %s', async (_, store) => {
    await using full = await serverFixture({ served: await filledScheduler({ jobStore: store() }) })
    const { scheduler } = full
    await scheduler.addCalendar('used', calendarFromJSON(made.definition))
    const used = await triggerOf(scheduler, 'monthly')
    await scheduler.rescheduleJob(used.key, used.getTriggerBuilder().modifiedByCalendar('used').build())
    const definitions = (await full.ask('GET /definitions?secrets=true')).json as DefinitionsJson
    const [job, ...others] = definitions.jobs
    if (job === undefined) expect.fail()
    const changed = {
      ...definitions,
      calendars: [made],
      jobs: [{ ...job, fields: { ...job.fields, description: 'changed' } }, ...others],
    }
    const refused = await full.ask('POST /definitions', { body: { definitions: changed, remove: true } })
    expect([refused.status, refused.json]).toMatchObject([409, { code: 'ERR_CALENDAR_IN_USE' }])
    const after = (await full.ask('GET /definitions?secrets=true')).json as DefinitionsJson
    expect(after).toEqual({ ...definitions, exportedMs: after.exportedMs })
    await scheduler.rescheduleJob(used.key, used)
    const free = (await full.ask('GET /definitions?secrets=true')).json as DefinitionsJson
    const done = await full.ask('POST /definitions', {
      body: { definitions: { ...free, calendars: [made] }, remove: true },
    })
    expect(done.json).toMatchObject({ changed: true, result: { counts: { add: 1, change: 0, remove: 2 } } })
    expect(await scheduler.getCalendarNames()).toEqual(['made'])
  })

  test('brings the calendars of its triggers along, step by step as well', async () => {
    for (const [, store] of [...stores, ['', stepByStep] as const]) {
      await using full = await serverFixture({ served: await filledScheduler({ jobStore: store() }) })
      const definitions = (await full.ask('GET /definitions?secrets=true')).json as DefinitionsJson
      const [first, ...others] = definitions.triggers
      if (first === undefined) expect.fail()
      const withMade = { ...first, fields: { ...first.fields, calendarName: 'made' } }
      const calendars = [...definitions.calendars, made]
      const body = { definitions: { ...definitions, calendars, triggers: [withMade] }, remove: true }
      const done = await full.ask('POST /definitions', { body })
      expect(done.json).toMatchObject({ result: { counts: { add: 1, change: 1, remove: others.length } } })
      const again = await full.ask('POST /definitions', { body })
      expect(again.json).toMatchObject({ changed: false })
    }
  })

  test('does not give a trigger another job, and a dry run says so', async () => {
    const definitions = (await fixture.ask('GET /definitions?secrets=true')).json as DefinitionsJson
    const [first, ...others] = definitions.triggers
    if (first === undefined) expect.fail()
    const other =
      others.find(({ fields }) => fields.jobKey.name !== first.fields.jobKey.name) ?? expect.fail()
    const moved = { ...first, fields: { ...first.fields, jobKey: other.fields.jobKey } }
    const refused = await fixture.ask('POST /definitions?dryRun=true', {
      body: { definitions: { ...definitions, triggers: [moved, ...others] } },
    })
    expect(refused.json).toMatchObject({ code: 'ERR_JOB_KEY_MISMATCH' })
  })

  test.each([...stores, ['a store without one step for it', stepByStep] as const])(
    'is refused by a dry run as well where a trigger would not go on, in %s',
    async (_, store) => {
      await using full = await serverFixture({ served: await filledScheduler({ jobStore: store() }) })
      const { scheduler } = full
      const definitions = (await full.ask('GET /definitions?secrets=true')).json as DefinitionsJson
      const hourly = await triggerOf(scheduler, 'hourly')
      await scheduler.skipNextFire(hourly.key)
      const endTimeMs = hourly.startTimeMs + 1000
      const triggers = definitions.triggers.map((trigger) =>
        trigger.key.name === 'hourly' ? { ...trigger, fields: { ...trigger.fields, endTimeMs } } : trigger,
      )
      for (const path of ['/definitions?dryRun=true', '/definitions']) {
        const refused = await full.ask(`POST ${path}`, {
          body: { definitions: { ...definitions, triggers } },
        })
        expect([path, refused.status, refused.json]).toMatchObject([
          path,
          400,
          { code: 'ERR_TRIGGER_NEVER_FIRES' },
        ])
      }
    },
  )

  test('without its secrets is not taken where they are not stored', async () => {
    const definitions = await answer('definitions.export', 'GET /definitions')
    await fixture.scheduler.deleteJob(jobKey('hourly', 'mail'))
    const refused = await fixture.ask('POST /definitions', { body: { definitions } })
    const field = expect.stringMatching(/^definitions\.jobs\.\d\.fields\.jobDataMap\.apiKey$/) as string
    expect([refused.status, refused.json]).toMatchObject([400, { field }])
  })
})

test('a support dump has no job data', async () => {
  const dump = await answer('support.dump', 'GET /support-dump')
  expect(dump).toMatchObject({
    jobGroups: expect.arrayContaining(['reports']) as string[],
    nodes: [{ isSelf: true }],
  })
  expect(JSON.stringify(dump)).not.toMatch(/hunter2|k-123|ops@example/)
})

describe('bulk', () => {
  test.each([
    ['state', 'ERROR'],
    ['calendarName', 'holidays'],
  ])('the filter %s is of triggers alone', async (field, value) => {
    const body = { action: 'pause', of: 'jobs', filter: { [field]: value }, expected: 4 }
    const refused = await fixture.ask('POST /bulk', { body })
    expect([refused.status, refused.json]).toMatchObject([400, { field: `filter.${field}` }])
  })

  const bulk = (body: object, options: Asked = {}): Promise<Answer> =>
    answer('bulk.begin', 'POST /bulk', { ...options, body })
  const dryBulk = (body: object, options: Asked = {}): Promise<Answer> =>
    answer('bulk.begin', 'POST /bulk?dryRun=true', { ...options, body })
  const ended = async (begun: Answer): Promise<Answer> => {
    const { id } = (begun['result'] as { bulk: { id: string } }).bulk
    await vi.waitFor(
      async () => {
        expect(await answer('bulk.get', `GET /bulk/${id}`)).not.toMatchObject({ status: 'running' })
      },
      { timeout: 30_000 },
    )
    return answer('bulk.get', `GET /bulk/${id}`)
  }

  test('counts first, does it when the count still holds, and says how far it is', async () => {
    const request = { action: 'pause', of: 'triggers', filter: { group: 'mail' } }
    const { count } = (await dryBulk(request))['result'] as { count: number }
    expect(count).toBeGreaterThan(0)
    for (const expected of [undefined, null, count + 1]) {
      const refused = await fixture.ask('POST /bulk', { body: { ...request, expected } })
      expect([refused.status, refused.json]).toMatchObject([400, { field: 'expected' }])
    }
    const body = { ...request, expected: count + 1 }
    const refused = await fixture.ask('POST /bulk?dryRun=true', { body })
    expect([refused.status, refused.json]).toMatchObject([400, { field: 'expected' }])
    const done = await ended(await bulk({ ...request, expected: count }))
    expect(done).toMatchObject({
      status: 'done',
      total: count,
      done: count,
      changed: count,
      failed: 0,
      by: 'admin',
    })
    expect(await fixture.scheduler.getTriggerState(triggerKey('monthly', 'mail'))).toBe('PAUSED')
    const resume = { action: 'resume', of: 'triggers', filter: { group: 'mail' }, expected: count }
    expect(await ended(await bulk(resume))).toMatchObject({ done: count, changed: count })
    expect(await ended(await bulk(resume))).toMatchObject({ done: count, changed: 0 })
    expect((await answer('bulk.list', 'GET /bulk'))['items']).toMatchObject([
      { action: 'resume', of: 'triggers' },
      { action: 'resume', of: 'triggers' },
      { action: 'pause', of: 'triggers' },
    ])
  })

  test('does nothing where others fit by now than the dry run listed, also as many', async () => {
    const { scheduler } = fixture
    for (const name of ['a', 'b', 'c']) await addPlainJob(scheduler, 'echo', name, 'sw')
    const request = { action: 'delete', of: 'jobs', filter: { group: 'sw' } }
    const { count, digest } = (await dryBulk(request))['result'] as { count: number; digest: string }
    await scheduler.deleteJob(jobKey('a', 'sw'))
    await addPlainJob(scheduler, 'echo', 'important', 'sw')
    for (const body of [
      { ...request, expected: count, digest },
      { ...request, digest },
    ]) {
      for (const path of ['POST /bulk', 'POST /bulk?dryRun=true']) {
        const refused = await fixture.ask(path, { body })
        expect([refused.status, refused.json]).toMatchObject([412, { code: 'ERR_CHANGED_MEANWHILE' }])
      }
    }
    const left = (await scheduler.queryJobs({ search: 'sw' })).items.map(({ key }) => key.name)
    expect(left).toEqual(['b', 'c', 'important'])
    const anew = (await dryBulk(request))['result'] as { digest: string }
    expect(await ended(await bulk({ ...request, digest: anew.digest }))).toMatchObject({ changed: 3 })
  })

  test('says how many of the runs wait for what is paused', async () => {
    const { scheduler } = fixture
    await scheduler.pauseJobs(GroupMatcher.groupEquals('mail'))
    for (const of of ['jobs', 'triggers']) {
      const request = { action: 'run', of, filter: { search: 'ly' } }
      const { count, paused } = (await dryBulk(request))['result'] as { count: number; paused: number }
      // All but the one of the group reports.
      expect([paused > 0, paused]).toEqual([true, count - 1])
      expect(await ended(await bulk({ ...request, expected: count }))).toMatchObject({
        changed: count,
        paused,
      })
      await scheduler.unscheduleJobs(
        (await scheduler.queryTriggers({ search: 'MT_' })).items.map(({ key }) => key),
      )
    }
    await scheduler.resumeJobs(GroupMatcher.groupEquals('mail'))
  })

  test('is about nothing that the principal may not do it to', async () => {
    const asReports = { who: 'reports' } as const
    expect(await dryBulk({ action: 'run', of: 'jobs' }, asReports)).toMatchObject({ result: { count: 1 } })
  })

  test.each(['operator', 'reports'] as const)(
    'refuses %s an action for which it has no role',
    async (who) => {
      for (const of of ['jobs', 'triggers']) {
        for (const request of ['POST /bulk', 'POST /bulk?dryRun=true']) {
          const refused = await fixture.ask(request, { who, body: { action: 'delete', of, expected: 0 } })
          expect([refused.status, refused.json]).toMatchObject([403, { code: 'ERR_NOT_ALLOWED' }])
        }
      }
    },
  )

  test.each(['jobs', 'triggers'])('runs of %s have the name of who began them', async (of) => {
    await using served = await serverFixture()
    await served.scheduler.start()
    const ran = served.scheduler.events.next('jobWasExecuted')
    const body = { action: 'run', of, filter: { group: 'reports' }, expected: 1 }
    expect(await served.ask('POST /bulk', { who: 'operator', body })).toMatchObject({ status: 200 })
    await ran
    // The event comes before the execution is in the history.
    await served.scheduler.idle()
    expect((await served.scheduler.queryExecutions()).items).toMatchObject([{ triggeredBy: 'operator' }])
  })

  test('can be stopped', async () => {
    const { scheduler } = fixture
    const source = (await scheduler.getJobDetail(jobKey('daily', 'reports'))) ?? expect.fail()
    for (let index = 0; index < 500; index++) {
      await scheduler.addJob({ ...source, key: jobKey(`j${index}`, 'many') })
    }
    const begun = await bulk({ action: 'delete', of: 'jobs', filter: { group: 'many' }, expected: 500 })
    const { id } = (begun['result'] as { bulk: { id: string } }).bulk
    await answer('bulk.stop', `POST /bulk/${id}/stop`)
    const stopped = await ended(begun)
    expect(['stopped', 'done']).toContain(stopped['status'])
    const left = await scheduler.queryJobs({ take: 1000 })
    const many = left.items.filter(({ key }) => key.group === 'many').length
    expect(many).toBe(500 - (stopped['done'] as number))
    expect(await answer('bulk.stop', `POST /bulk/${id}/stop`)).toMatchObject({ changed: false })
  })
})
