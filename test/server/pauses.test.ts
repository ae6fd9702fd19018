import { describe, expect, test } from 'vitest'
import { type TriggerKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { addPlainJob, filledScheduler, type ServerFixture, serverFixture } from '../support/server-fixture.ts'

const stores = [
  ['memory', () => new RAMJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
] as const

test('a pause of one job or trigger, or its end, says whether it changes a trigger', async () => {
  await using fixture = await serverFixture()
  await addPlainJob(fixture.scheduler, 'echo', 'lone', 'mail')
  for (const [path, changed, body] of [
    ['/jobs/mail/lone/pause', false],
    ['/jobs/mail/hourly/resume', false],
    ['/jobs/mail/hourly/pause', true],
    ['/jobs/mail/hourly/pause', false],
    ['/jobs/mail/hourly/pause', true, { reason: 'ink' }],
    ['/triggers/mail/hourly/pause', true],
    ['/jobs/mail/hourly/resume', true],
    ['/triggers/mail/hourly/resume', false],
    ['/triggers/mail/hourly/pause', true],
    ['/triggers/mail/hourly/pause', false],
    ['/triggers/mail/hourly/pause', true, { reason: 'ink' }],
    ['/jobs/mail/hourly/pause', true],
    ['/triggers/mail/hourly/resume', true],
  ] as const) {
    const request = { body: body ?? {} }
    const dry = await fixture.ask(`POST ${path}?dryRun=true`, request)
    const done = await fixture.ask(`POST ${path}`, request)
    expect([path, dry.json, done.json]).toMatchObject([path, { changed }, { changed }])
  }
})

test.each([
  '/triggers/mail/daytime',
  '/jobs/mail/hourly',
  '/trigger-groups/mail',
  '/job-groups/mail',
  '/scheduler/pause-all',
])('a second pause of %s without a reason keeps the reason, the author and the end', async (path) => {
  await using fixture = await serverFixture()
  const { scheduler } = fixture
  const request = path.endsWith('-all') ? `POST ${path}` : `POST ${path}/pause`
  const said = async (): Promise<unknown> => ({
    triggers: (await scheduler.queryTriggers()).items.map(({ pause }) => pause),
    groups: await scheduler.getPausedGroups(),
  })
  const body = { reason: 'ink', untilMs: Date.now() + 7_200_000 }
  expect((await fixture.ask(request, { who: 'operator', body })).json).toMatchObject({ changed: true })
  const first = await said()
  expect(JSON.stringify(first)).toContain('ink')
  const again = await fixture.ask(request, { who: 'admin' })
  expect(again).toMatchObject({ status: 200, json: { changed: false } })
  expect(await said()).toEqual(first)
})

describe('a pause of many, or its end, says whether it changes something', () => {
  const daytime = triggerKey('daytime', 'mail')

  async function asked(fixture: ServerFixture, request: string, body: object = {}): Promise<unknown> {
    const dry = await fixture.ask(`POST ${request}?dryRun=true`, { body })
    const real = await fixture.ask(`POST ${request}`, { body })
    expect([real.status, real.json]).toMatchObject([
      200,
      { changed: (dry.json as { changed: boolean }).changed },
    ])
    return (real.json as { changed: boolean }).changed
  }

  const stateOf = ({ scheduler }: ServerFixture, key: TriggerKey): Promise<string> =>
    scheduler.getTriggerState(key)

  test.each(['trigger-groups', 'job-groups'])('of %s', async (groups) => {
    await using fixture = await serverFixture()
    await fixture.scheduler.pauseTrigger(daytime)
    expect(await asked(fixture, `/${groups}/mail/resume`)).toBe(true)
    expect(await stateOf(fixture, daytime)).toBe('NORMAL')
    expect(await asked(fixture, `/${groups}/mail/resume`)).toBe(false)
    expect(await asked(fixture, `/${groups}/mail/pause`)).toBe(true)
    expect(await asked(fixture, `/${groups}/mail/pause`)).toBe(false)
    await fixture.scheduler.resumeTrigger(daytime)
    expect(await asked(fixture, `/${groups}/mail/pause`)).toBe(true)
    expect(await stateOf(fixture, daytime)).toBe('PAUSED')
    expect(await asked(fixture, `/${groups}/mail/pause`, { reason: 'ink' })).toBe(true)
  })

  test.each(stores)('of everything, in %s', async (_, store) => {
    await using fixture = await serverFixture({ served: await filledScheduler({ jobStore: store() }) })
    expect(await asked(fixture, '/scheduler/resume-all')).toBe(false)
    expect(await asked(fixture, '/scheduler/pause-all')).toBe(true)
    expect(await asked(fixture, '/scheduler/pause-all')).toBe(false)
    await fixture.scheduler.resumeTrigger(daytime)
    expect(await asked(fixture, '/scheduler/pause-all')).toBe(true)
    expect(await asked(fixture, '/scheduler/resume-all')).toBe(true)
    expect(await asked(fixture, '/scheduler/resume-all')).toBe(false)
    await fixture.scheduler.pauseJobs(GroupMatcher.groupEquals('reports'))
    expect(await asked(fixture, '/scheduler/resume-all')).toBe(true)
    await fixture.scheduler.deleteJobs(await fixture.scheduler.getJobKeys(GroupMatcher.anyGroup()))
    expect(await asked(fixture, '/scheduler/pause-all')).toBe(true)
    expect(await asked(fixture, '/scheduler/pause-all')).toBe(false)
    expect(await asked(fixture, '/scheduler/resume-all')).toBe(true)
  })
})
