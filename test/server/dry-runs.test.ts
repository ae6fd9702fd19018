import { expect, onTestFinished, test, vi } from 'vitest'
import { alertsPlugin } from '../../src/alerts.ts'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import type { AuditEntry } from '../../src/jobstore/audit.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { catalogue } from '../../src/server/catalogue/catalogue.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { addPlainJob, filledScheduler, type ServerFixture, serverFixture } from '../support/server-fixture.ts'
import { rightRequests } from '../support/server-requests.ts'

/** All that a request could change, as far as the API shows it. */
const lists = [
  'GET /definitions?secrets=true',
  'GET /jobs?take=1000',
  'GET /triggers?take=1000',
  'GET /groups',
  'GET /overview',
  'GET /calendars',
  'GET /jobs/reports/daily/shards',
  'GET /executing',
  'GET /executions',
  'GET /misfires',
  'GET /job-status',
  'GET /bulk',
  'GET /alerts',
  'GET /nodes',
  'GET /scheduler',
]

/** Clocks go on meanwhile. */
const movingFields = new Set([
  'exportedMs',
  'nowMs',
  'countedMs',
  'atMs',
  'eventLoopLagMs',
  'lastCheckInTimeMs',
  'upMs',
])

async function stateOf(fixture: ServerFixture, exports: number): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {}
  for (const list of lists) {
    const { status, text } = await fixture.ask(list)
    expect([list, status]).toEqual([list, 200])
    state[list] = JSON.parse(text, (field, value: unknown) => (movingFields.has(field) ? 0 : value))
  }
  state['audit'] = await auditOf(fixture.scheduler, exports)
  return state
}

/** What was written before so many exports of this test, which are in the audit as well. */
async function auditOf(scheduler: Scheduler, exports: number): Promise<readonly AuditEntry[]> {
  const isExport = ({ operation }: AuditEntry): boolean => operation === 'definitions.export'
  const entries = async (): Promise<readonly AuditEntry[]> =>
    (await scheduler.queryAudit({ take: 1000 })).items
  await vi.waitFor(
    async () => {
      expect((await entries()).filter(isExport)).toHaveLength(exports)
    },
    { timeout: 10_000 },
  )
  return (await entries()).filter((entry) => !isExport(entry))
}

/** Something of everything that can be changed. */
async function richFixture(): Promise<{
  fixture: ServerFixture
  ids: Record<'run' | 'silence' | 'bulk', string>
}> {
  const alerts = alertsPlugin({
    rules: [{ name: 'never', description: 'Never bad.', check: async () => [] }],
    channels: [{ name: 'silent', send: async () => {} }],
  })
  const scheduler = await filledScheduler({ plugins: [alerts] })
  const fixture = await serverFixture({ served: scheduler, alerts })
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  await scheduler.start()
  const waits = scheduler.events.next('jobToBeExecuted')
  await scheduler.triggerJob(await addPlainJob(scheduler, 'waiting', 'waits', 'mail'))
  const { context } = await waits
  await scheduler.pauseTrigger(triggerKey('hourly', 'mail'), { by: 'ann', reason: 'paper' })
  await scheduler.pauseJob(jobKey('monthly', 'mail'), { by: 'ann', reason: 'ink' })
  const done = async <Result>(request: string, body: object): Promise<Result> => {
    const { status, json, text } = await fixture.ask(request, { body })
    expect([status, text]).toEqual([200, text])
    return (json as { result: Result }).result
  }
  const silence = await done<{ id: string }>('POST /alerts/silences', {
    untilMs: Date.now() + 3_600_000,
    reason: 'deployment',
  })
  const filter = { action: 'pause', of: 'triggers', filter: { search: 'daytime' }, expected: 1 }
  const { bulk } = await done<{ bulk: { id: string } }>('POST /bulk', filter)
  await vi.waitFor(
    async () => {
      expect(await fixture.ask(`GET /bulk/${bulk.id}`)).toMatchObject({ json: { status: 'done' } })
    },
    { timeout: 10_000 },
  )
  return { fixture, ids: { run: context.fireInstanceId, silence: silence.id, bulk: bulk.id } }
}

test('a dry run of whatever changes something changes nothing', async () => {
  const { fixture, ids } = await richFixture()
  const before = await stateOf(fixture, 1)
  const requests = catalogue
    .filter(({ reach, method }) => reach !== null && method !== 'GET')
    .map((operation) => {
      const { path, body } = rightRequests[operation.id] ?? expect.fail(`no request for ${operation.id}`)
      return { operation, path, body }
    })
  expect(requests.length).toBeGreaterThan(30)
  for (const { operation, path, body } of requests) {
    const paths = [
      path,
      ...(path.includes('/none') ? Object.values(ids).map((id) => path.replace('/none', `/${id}`)) : []),
    ]
    for (const each of paths) {
      const { status, json, text } = await fixture.ask(`${operation.method} ${each}?dryRun=true`, { body })
      expect([operation.id, status < 500, text]).toEqual([operation.id, true, text])
      if (status === 200) expect(json).toMatchObject({ dryRun: true })
    }
  }
  expect(await stateOf(fixture, 2)).toEqual(before)
})

test('a dry run refuses a trigger that the store cannot keep, as the change itself does', async () => {
  const jobStore = sqliteJobStore({ filename: ':memory:' })
  await using fixture = await serverFixture({ served: await filledScheduler({ jobStore }) })
  const { path, body } = rightRequests['triggers.put'] ?? expect.fail('no request')
  const unkept = `${path.slice(0, path.lastIndexOf('/'))}/${'t'.repeat(201)}`
  const fits = await fixture.ask(`PUT ${unkept.slice(0, -1)}?dryRun=true`, { body })
  const dry = await fixture.ask(`PUT ${unkept}?dryRun=true`, { body })
  const done = await fixture.ask(`PUT ${unkept}`, { body })
  expect([fits.status, dry.status, done.status]).toEqual([200, 400, 400])
  expect(dry.json).toEqual(done.json)
})

test('a dry run of a pause of a job says what the pause does, also where the job is paused', async () => {
  await using fixture = await serverFixture()
  const path = '/jobs/mail/hourly/pause'
  await fixture.ask('POST /job-groups/mail/pause', {})
  for (const [changed, body] of [
    [true, {}],
    [false, {}],
    [true, { reason: 'ink' }],
  ] as const) {
    const dry = await fixture.ask(`POST ${path}?dryRun=true`, { body })
    const done = await fixture.ask(`POST ${path}`, { body })
    expect([dry.json, done.json]).toMatchObject([{ changed }, { changed }])
  }
})

test('a dry run of a resume of a job looks at all of its triggers', async () => {
  await using fixture = await serverFixture()
  const { scheduler } = fixture
  const triggers = Array.from({ length: 1001 }, (_, index) =>
    TriggerBuilder.newTrigger()
      .withIdentity(`t${10_000 + index}`, 'many')
      .forJob(jobKey('hourly', 'mail'))
      .startAt(new Date(Date.now() + 3_600_000))
      .build(),
  )
  await scheduler.changeDefinitions({ entries: [{ job: null, triggers }] })
  const last = triggers.at(-1)?.key
  if (last !== undefined) await scheduler.pauseTrigger(last)
  for (const changed of [true, false]) {
    const dry = await fixture.ask('POST /jobs/mail/hourly/resume?dryRun=true', { body: {} })
    expect(dry.json).toMatchObject({ changed })
    await fixture.ask('POST /jobs/mail/hourly/resume', { body: {} })
  }
})

test('a dry run of a run is refused where its data are too large', async () => {
  await using fixture = await serverFixture({ maxBodyBytes: 8_000_000 })
  const body = { jobDataMap: { text: 'x'.repeat(1_500_000) } }
  const [trigger] = await fixture.scheduler.getTriggersOfJob(jobKey('hourly', 'mail'))
  const { group, name } = trigger?.key ?? expect.fail('it has one')
  for (const dryRun of [true, false]) {
    for (const path of ['/jobs/mail/hourly', `/triggers/${group}/${name}`]) {
      const { status, json } = await fixture.ask(`POST ${path}/run?dryRun=${dryRun}`, { body })
      expect([path, dryRun, status, json]).toMatchObject([
        path,
        dryRun,
        400,
        { code: 'ERR_JOB_DATA_TOO_LARGE' },
      ])
    }
  }
})

test('a dry run of a pause is refused as the pause is, and says that a job is paused', async () => {
  await using fixture = await serverFixture()
  const past = { reason: null, untilMs: 1 }
  for (const [path, body] of [
    ['/triggers/mail/hourly/pause', past],
    ['/jobs/mail/hourly/pause', past],
    ['/job-groups/mail/pause', past],
    ['/trigger-groups/mail/pause', past],
    ['/scheduler/pause-all', past],
    ['/bulk', { action: 'pause', of: 'jobs', pause: past }],
  ] as const) {
    const refused = await fixture.ask(`POST ${path}?dryRun=true`, { body })
    const field = expect.stringMatching(/untilMs$/) as string
    expect([path, refused.status, refused.json]).toMatchObject([path, 400, { field }])
  }
  const pause = { body: { reason: 'deployment' } }
  await fixture.ask('POST /triggers/mail/hourly/pause', {})
  for (const path of ['/jobs/mail/hourly/pause?dryRun=true', '/jobs/mail/hourly/pause']) {
    expect((await fixture.ask(`POST ${path}`, pause)).json).toMatchObject({ changed: true })
  }
})
