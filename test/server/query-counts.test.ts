import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { DelegatingJobStore, type JobStoreOperation } from '../../src/jobstore/delegating-job-store.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { PageJson } from '../../src/server/wire/pages.ts'
import type { TriggerDetailJson } from '../../src/server/wire/triggers.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { filledScheduler, type ServerFixture, serverFixture } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

/** Counts what the store is asked for. */
class CountingStore extends DelegatingJobStore {
  readonly asked = new Map<JobStoreOperation, number>()

  protected override around<Answer>(
    operation: JobStoreOperation,
    run: () => Promise<Answer>,
  ): Promise<Answer> {
    this.asked.set(operation, (this.asked.get(operation) ?? 0) + 1)
    return run()
  }
}

async function counted(): Promise<{ fixture: ServerFixture; store: CountingStore }> {
  const store = new CountingStore(new RAMJobStore())
  const fixture = await serverFixture({ served: await filledScheduler({ jobStore: store }) })
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  store.asked.clear()
  return { fixture, store }
}

test('definitions are exported and imported in few queries', async () => {
  const { fixture, store } = await counted()
  const { json } = await fixture.ask('GET /definitions?secrets=true')
  expect(json).toMatchObject({ jobs: { length: 4 }, triggers: { length: 4 } })
  const body = { definitions: json }
  expect(await fixture.ask('POST /definitions?dryRun=true', { body })).toMatchObject({ status: 200 })
  const calendar = { definition: { type: 'holiday', timeZone: 'UTC', excludedDates: [] } }
  expect(await fixture.ask('PUT /calendars/holidays?dryRun=true', { body: calendar })).toMatchObject({
    status: 200,
  })
  const { asked } = store
  expect([asked.get('getJob'), asked.get('getTrigger')]).toEqual([undefined, undefined])
  expect([asked.get('getJobs'), asked.get('getTriggers')]).toEqual([2, 2])
})

test('all triggers of a job are read in few queries', async () => {
  const { fixture, store } = await counted()
  for (const name of ['a', 'b', 'c']) {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name, 'mail')
      .forJob(new JobKey('hourly', 'mail'))
      .startAt(new Date(Date.UTC(2199, 0, 1)))
    await fixture.scheduler.scheduleJob(trigger.build())
  }
  await fixture.scheduler.pauseTrigger(new TriggerKey('b', 'mail'))
  store.asked.clear()
  const { json } = await fixture.ask('GET /jobs/mail/hourly/triggers')
  expect(json).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ key: { group: 'mail', name: 'a' }, state: 'NORMAL' }),
      expect.objectContaining({ key: { group: 'mail', name: 'b' }, state: 'PAUSED' }),
    ]) as unknown,
  })
  expect(store.asked.get('queryTriggers')).toBe(1)
  expect(store.asked.get('getTriggersOfJob')).toBe(undefined)
})

test('the triggers of a job come by pages', async () => {
  const { fixture } = await counted()
  for (const name of ['a', 'b', 'c']) {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name, 'mail')
      .forJob(new JobKey('hourly', 'mail'))
      .startAt(new Date(Date.UTC(2199, 0, 1)))
    await fixture.scheduler.scheduleJob(trigger.build())
  }
  const names: string[] = []
  let after = ''
  do {
    const { json } = await fixture.ask(`GET /jobs/mail/hourly/triggers?take=3${after}`)
    const page = json as PageJson<TriggerDetailJson>
    names.push(...page.items.map(({ key }) => key.name))
    after = page.next === null ? '' : `&after=${encodeURIComponent(page.next)}`
  } while (after !== '')
  expect(names).toEqual(['a', 'b', 'c', 'hourly'])
})

test.each([
  ['job', "UPDATE qrtz_job_details SET job_data = 'nonsense'"],
  ['trigger', 'UPDATE qrtz_triggers SET misfire_instr = 9'],
])('a file of definitions is refused while a %s cannot be read', async (_kind, statement) => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const served = await filledScheduler({ jobStore: sqliteJobStore({ filename }) })
  await using fixture = await serverFixture({ served })
  const { json } = await fixture.ask('GET /definitions?secrets=true')
  const database = new Database(filename)
  database.exec(statement)
  database.close()
  const code = 'ERR_BROKEN_ROW'
  expect(await fixture.ask('GET /definitions')).toMatchObject({ json: { code } })
  const body = { definitions: json }
  expect(await fixture.ask('POST /definitions?dryRun=true', { body })).toMatchObject({ json: { code } })
})
