import { describe, expect, test } from 'vitest'
import { JobExecutionError } from '../../src/core/errors.ts'
import { triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { DefinitionsJson } from '../../src/server/operations/definitions-export.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { filledScheduler, type ServerFixture, serverFixture } from '../support/server-fixture.ts'

const hour = 3_600_000
const hourly = triggerKey('hourly', 'mail')
const path = '/triggers/mail/hourly'
const repeating = {
  type: 'simple',
  jobKey: { group: 'mail', name: 'hourly' },
  repeatCount: -1,
  repeatIntervalMs: hour,
}

const stores = [
  ['memory', () => new RAMJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
  [
    'a store without one step for definitions',
    () => {
      const store = new DelegatingJobStore(new RAMJobStore())
      delete store.changeDefinitions
      return store
    },
  ],
] as const

async function definitionOf(fixture: ServerFixture): Promise<object> {
  return ((await fixture.ask(`GET ${path}`)).json as { definition: object }).definition
}

async function exportOf(fixture: ServerFixture): Promise<DefinitionsJson> {
  return (await fixture.ask('GET /definitions?secrets=true')).json as DefinitionsJson
}

describe.each(stores)('an edited trigger, in %s,', (_, store) => {
  const paused = { state: 'PAUSED', pause: { reason: 'incident 4711', by: 'ann' } }

  test('stays paused', async () => {
    await using fixture = await serverFixture({ served: await filledScheduler({ jobStore: store() }) })
    await fixture.scheduler.pauseTrigger(hourly, { reason: 'incident 4711', by: 'ann' })
    const body = { ...(await definitionOf(fixture)), description: 'corrected' }
    expect(await fixture.ask(`PUT ${path}`, { body })).toMatchObject({ json: { changed: true } })
    const edited = { ...paused, definition: { description: 'corrected' } }
    expect((await fixture.ask(`GET ${path}`)).json).toMatchObject(edited)
  })

  test('stays paused when it comes in a file', async () => {
    await using fixture = await serverFixture({ served: await filledScheduler({ jobStore: store() }) })
    const definitions = await exportOf(fixture)
    await fixture.scheduler.pauseTrigger(hourly, { reason: 'incident 4711', by: 'ann' })
    const triggers = definitions.triggers.map(({ key, fields }) => ({
      key,
      fields: { ...fields, priority: 9 },
    }))
    const body = { definitions: { ...definitions, triggers } }
    expect((await fixture.ask('POST /definitions', { body })).json).toMatchObject({
      result: { counts: { change: triggers.length } },
    })
    expect((await fixture.ask(`GET ${path}`)).json).toMatchObject({ ...paused, definition: { priority: 9 } })
  })
})

test('a definition that comes again after a misfire is the same, and does not repeat what has fired', async () => {
  await using fixture = await serverFixture()
  const defined = TriggerBuilder.newTrigger()
    .withIdentity('t', 'made')
    .forJob('hourly', 'mail')
    .startAt(new Date(Date.UTC(2026, 0, 1)))
    .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInHours(1).withRepeatCount(9))
    .build()
  const startMs = Date.UTC(2199, 5, 1)
  const fired = defined.computeFirstFireTime(null).triggered(null).triggered(null)
  await fixture.scheduler.scheduleJob(fired.updateAfterMisfire(null, startMs))
  const ask = async (): Promise<object> =>
    ((await fixture.ask('GET /triggers/made/t')).json as { definition: object }).definition
  const definition = await ask()
  expect(definition).toMatchObject({ startTimeMs: defined.startTimeMs, repeatCount: 9 })
  expect(await fixture.ask('PUT /triggers/made/t', { body: definition })).toMatchObject({
    json: { changed: false },
  })
  const body = { definitions: await exportOf(fixture) }
  expect(await fixture.ask('POST /definitions', { body })).toMatchObject({
    json: { result: { counts: { change: 0 } } },
  })
  const edited = { ...definition, priority: 9 }
  expect(await fixture.ask('PUT /triggers/made/t', { body: edited })).toMatchObject({
    json: { changed: true, result: { afterMs: { 0: startMs, 7: startMs + 7 * 3_600_000, length: 8 } } },
  })
  expect(await fixture.scheduler.getTrigger(triggerKey('t', 'made'))).toMatchObject({
    nextFireTimeMs: startMs,
    repeatCount: 7,
  })
  expect(await ask()).toEqual(edited)
})

test('the same edit again changes nothing, whenever it began', async () => {
  await using fixture = await serverFixture()
  const put = (body: object): ReturnType<ServerFixture['ask']> =>
    fixture.ask('PUT /triggers/made/t', { body })
  expect(await put(repeating)).toMatchObject({ json: { changed: true } })
  const stored = await fixture.scheduler.getTrigger(triggerKey('t', 'made'))
  await expect.poll(() => Date.now()).toBeGreaterThan(stored?.startTimeMs ?? Number.NaN)
  expect(await put(repeating)).toMatchObject({ json: { changed: false } })
  const later = { ...repeating, startTimeMs: Date.UTC(2199, 5, 1) }
  expect(await put(later)).toMatchObject({
    json: { changed: true, result: { afterMs: { 0: later.startTimeMs } } },
  })
  expect((await fixture.scheduler.getTrigger(triggerKey('t', 'made')))?.nextFireTimeMs).toBe(
    later.startTimeMs,
  )
})

/** Deletes a trigger just before it is replaced, as its last fire does. */
class VanishingStore extends DelegatingJobStore {
  override async rescheduleTrigger(
    ...call: Parameters<DelegatingJobStore['rescheduleTrigger']>
  ): Promise<boolean> {
    await this.inner.deleteTriggers([call[0]])
    return super.rescheduleTrigger(...call)
  }
}

test('an edit of a trigger that has ended meanwhile stores it, or says so to who wants it as it was', async () => {
  const served = await filledScheduler({ jobStore: new VanishingStore(new RAMJobStore()) })
  await using fixture = await serverFixture({ served })
  const tag = (await fixture.ask(`GET ${path}`)).headers.get('etag') ?? ''
  const refused = await fixture.ask(`PUT ${path}`, { body: repeating, headers: { 'if-match': tag } })
  expect(refused).toMatchObject({ status: 412, json: { code: 'ERR_CHANGED_MEANWHILE' } })
  expect(await served.getTrigger(hourly)).toBeNull()
  const monthly = { ...repeating, jobKey: { group: 'mail', name: 'monthly' } }
  const stored = await fixture.ask('PUT /triggers/mail/monthly', { body: monthly })
  expect(stored).toMatchObject({ status: 200, json: { changed: true } })
  expect(await served.getTrigger(triggerKey('monthly', 'mail'))).toMatchObject({ type: 'simple' })
})

describe.each(stores)('a trigger that its job ended, edited later, in %s,', (_, store) => {
  const key = triggerKey('nightly')

  async function ended(): Promise<{ fixture: ServerFixture; clock: ManualClock; ran: number[] }> {
    const clock = new ManualClock(new Date(Date.UTC(2026, 2, 2, 12)))
    const ran: number[] = []
    const work = defineJob('work', () => {
      ran.push(clock.now())
      throw new JobExecutionError('enough', { unscheduleAllTriggers: true })
    })
    const served = await createScheduler({ jobs: [work], jobStore: store(), clock, logger: false })
    const job = JobBuilder.newJob('work').withIdentity('nightly').storeDurably().build()
    const cron = CronScheduleBuilder.cronSchedule('0 0 18 * * ?').inTimeZone('UTC')
    const trigger = TriggerBuilder.newTrigger({ clock }).withIdentity(key).withSchedule(cron)
    await served.scheduleJob(job, trigger.build())
    const later = new Date(Date.UTC(2026, 2, 9))
    await served.scheduleJob(
      TriggerBuilder.newTrigger().withIdentity('once').forJob('nightly').startAt(later).build(),
    )
    await served.start()
    await clock.advance(7 * hour)
    await served.idle()
    await clock.advance(48 * hour)
    await served.idle()
    return { fixture: await serverFixture({ served, clock }), clock, ran }
  }

  const next = Date.UTC(2026, 2, 5, 18)

  test('goes on with its next time after now, as the dry run says', async () => {
    const { clock, ran, ...made } = await ended()
    await using fixture = made.fixture
    const found = (await exportOf(fixture)).triggers.find(({ key: { name } }) => name === 'nightly')
    const body = { ...found?.fields, description: 'edited' }
    for (const dryRun of [true, false]) {
      const { json } = await fixture.ask(`PUT /triggers/DEFAULT/nightly?dryRun=${dryRun}`, { body })
      expect((json as { result: { afterMs: number[] } }).result.afterMs[0]).toBe(next)
    }
    expect((await fixture.scheduler.getTrigger(key))?.nextFireTimeMs).toBe(next)
    await clock.advance(hour)
    await fixture.scheduler.idle()
    expect(ran).toHaveLength(1)
  })

  test('goes on where it comes in a file, whose dry run is not refused', async () => {
    await using fixture = (await ended()).fixture
    const definitions = await exportOf(fixture)
    const triggers = definitions.triggers.map((each) => ({
      ...each,
      fields: { ...each.fields, description: 'edited' },
    }))
    for (const dryRun of [true, false]) {
      const body = { definitions: { ...definitions, triggers } }
      expect(await fixture.ask(`POST /definitions?dryRun=${dryRun}`, { body })).toMatchObject({ status: 200 })
    }
    const times = await Promise.all(
      [key, triggerKey('once')].map((each) => fixture.scheduler.getTrigger(each)),
    )
    expect(times.map((each) => each?.nextFireTimeMs)).toEqual([next, Date.UTC(2026, 2, 9)])
  })
})

describe('a dry run is refused as the request itself is', () => {
  const cron = { expression: '0 0 7 * * ?', timeZone: 'UTC' }
  const trigger = (fields: object): object => ({
    key: { group: 'made', name: 't' },
    fields: { type: 'cron', jobKey: { group: 'mail', name: 'hourly' }, cronExpression: cron, ...fields },
  })
  const job = (fields: object): object => ({ key: { group: 'made', name: 'j' }, fields })
  const over = { startTimeMs: 1_000_000, endTimeMs: 2_000_000 }

  test.each<readonly [string, object]>([
    ['ERR_CALENDAR_NOT_FOUND', { triggers: [trigger({ calendarName: 'nowhere' })] }],
    ['ERR_JOB_NOT_FOUND', { triggers: [trigger({ jobKey: { group: 'mail', name: 'nobody' } })] }],
    ['ERR_TRIGGER_NEVER_FIRES', { triggers: [trigger(over)] }],
    ['ERR_UNKNOWN_JOB_TYPE', { jobs: [job({ jobType: 'unknown' })] }],
    ['ERR_INVALID_ARGUMENT', { triggers: [trigger({}), trigger({ priority: 7 })] }],
    ['ERR_INVALID_ARGUMENT', { jobs: [job({ jobType: 'echo' }), job({ jobType: 'failing' })] }],
  ])('with %s by a file', async (code, changes) => {
    await using fixture = await serverFixture()
    const empty = { ...(await exportOf(fixture)), calendars: [], jobs: [], triggers: [] }
    const body = { definitions: { ...empty, ...changes } }
    for (const dryRun of [true, false]) {
      const { json } = await fixture.ask(`POST /definitions?dryRun=${dryRun}`, { body })
      expect([dryRun, json]).toMatchObject([dryRun, { code }])
    }
    expect(
      (await fixture.scheduler.queryTriggers({ group: GroupMatcher.groupEquals('made') })).items,
    ).toEqual([])
  })

  test('with a calendar in use that a file leaves out, or that is to be deleted', async () => {
    await using fixture = await serverFixture()
    const body = { ...(await definitionOf(fixture)), calendarName: 'holidays' }
    expect(await fixture.ask(`PUT ${path}`, { body })).toMatchObject({ status: 200 })
    const definitions = { ...(await exportOf(fixture)), calendars: [] }
    for (const dryRun of [true, false]) {
      const refusals = [
        await fixture.ask(`POST /definitions?dryRun=${dryRun}`, { body: { definitions, remove: true } }),
        await fixture.ask(`DELETE /calendars/holidays?dryRun=${dryRun}`),
      ]
      for (const refusal of refusals) {
        expect([dryRun, refusal]).toMatchObject([
          dryRun,
          { status: 409, json: { code: 'ERR_CALENDAR_IN_USE' } },
        ])
      }
    }
  })

  test.each([
    ['PUT /jobs/made/j', { jobType: 'unknown' }, 'ERR_UNKNOWN_JOB_TYPE'],
    [`PUT ${path}`, { ...repeating, jobKey: { group: 'reports', name: 'daily' } }, 'ERR_JOB_KEY_MISMATCH'],
    [`PUT ${path}`, { ...repeating, calendarName: 'nowhere' }, 'ERR_CALENDAR_NOT_FOUND'],
  ])('%s', async (request, body, code) => {
    await using fixture = await serverFixture()
    for (const dryRun of [true, false]) {
      const { json } = await fixture.ask(`${request}?dryRun=${dryRun}`, { body })
      expect([dryRun, json]).toMatchObject([dryRun, { code }])
    }
  })
})
