import { expect } from 'vitest'
import { type JobKey, jobKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { GroupsJson } from '../../src/server/operations/scheduler.ts'
import { zeroSizeThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { EventStream } from './event-stream.ts'
import {
  addPlainJob,
  filledScheduler,
  operationOf,
  type ServerFixture,
  serverFixture,
  tokens,
} from './server-fixture.ts'

async function items(fixture: ServerFixture, id: string, path: string): Promise<Record<string, unknown>[]> {
  const { status, json, text } = await fixture.ask(`GET ${path}`)
  expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, ''])
  return (operationOf(id).answer.parse(json) as { items: Record<string, unknown>[] }).items
}

async function pages(fixture: ServerFixture, path: string): Promise<number> {
  let count = 0
  for (let after = ''; ; ) {
    const { json } = await fixture.ask(`GET ${path}${after}`)
    const page = json as { items: unknown[]; next: string | null }
    count += page.items.length
    if (page.next === null) return count
    after = `&after=${page.next}`
  }
}

/**
 * What the API says of a scheduler that runs on a store: lists a page at a time, executions with their filters, junk in
 * every place.
 */
export async function servesStore(jobStore: JobStore): Promise<void> {
  const served = await filledScheduler({ jobStore, instanceId: 'n1' })
  await using fixture = await serverFixture({ served })
  const { scheduler } = fixture
  expect(await pages(fixture, '/jobs?take=3')).toBe(4)
  expect(await pages(fixture, '/triggers?take=3')).toBe(4)
  expect(await items(fixture, 'jobs.list', '/jobs?search=HOURLY')).toHaveLength(1)
  const failing = await addPlainJob(scheduler, 'failing', 'bad', 'mail')
  const good = await addPlainJob(scheduler, 'echo', 'good', 'reports')
  await scheduler.start()
  for (let count = 0; count < 3; count++) {
    await scheduler.triggerJob(failing)
    await scheduler.triggerJob(good)
  }
  await scheduler.idle()
  const executions = (query: string): Promise<Record<string, unknown>[]> =>
    items(fixture, 'executions.list', `/executions?${query}`)
  if ((await executions('')).length > 0) {
    expect(await pages(fixture, '/executions?take=2')).toBe(6)
    const stats = await fixture.ask('GET /execution-stats')
    expect(stats.json).toMatchObject({ count: 6, byOutcome: { failed: 3, succeeded: 3 } })
    const failed = await executions('filter=outcome:failed+job:mail/bad+late%3E%3D0s')
    expect(failed).toHaveLength(3)
    expect(failed[0]).toMatchObject({ errorText: expect.stringContaining('it broke') as string, node: 'n1' })
    expect(await executions('filter=group:reports')).toHaveLength(3)
    expect(await executions('filter=took%3E1d')).toEqual([])
    expect(await executions('filter=node:n2')).toEqual([])
    const reports = await fixture.ask('GET /executions', { who: 'reports' })
    expect((reports.json as { items: unknown[] }).items).toHaveLength(3)
  }
  expect(await items(fixture, 'nodes.list', '/nodes')).toMatchObject([{ instanceId: 'n1', state: 'alive' }])
  for (const path of [
    '/jobs/%F0%9F%98%80/x',
    '/jobs/a%00b/c',
    `/jobs/${'x'.repeat(490)}/y`,
    '/triggers/a%00/b',
  ]) {
    expect([path, (await fixture.ask(`GET ${path}`)).status < 500]).toEqual([path, true])
  }
  const long = { jobType: 'echo', description: 'x'.repeat(2000) }
  expect((await fixture.ask(`PUT /jobs/g/${'n'.repeat(490)}`, { body: long })).status).toBeLessThan(500)
}

/** What the API says of a run by hand while something is paused is what the store makes of its trigger. */
export async function saysThatRunsWait(jobStore: JobStore): Promise<void> {
  const served = await filledScheduler({ jobStore, instanceId: 'n1' })
  await using fixture = await serverFixture({ served })
  const { scheduler } = fixture
  /** Of its dry run and of itself. */
  const runs = async (path: string): Promise<readonly boolean[]> => {
    const dry = await fixture.ask(`POST ${path}?dryRun=true`, { body: {} })
    expect(dry.json).toMatchObject({ changed: true, result: { triggerKey: null } })
    const { json } = await fixture.ask(`POST ${path}`, { body: {} })
    const { result } = json as Record<'result', { triggerKey: { name: string }; paused: boolean }>
    const state = await scheduler.getTriggerState(result.triggerKey.name)
    expect([path, state]).toEqual([path, result.paused ? 'PAUSED' : 'NORMAL'])
    return [(dry.json as { result: { paused: boolean } }).result.paused, result.paused]
  }
  const job = '/jobs/mail/hourly/run'
  const trigger = '/triggers/mail/hourly/run'
  expect(await runs('/jobs/reports/daily/run')).toEqual([false, false])
  await scheduler.pauseJob(jobKey('hourly', 'mail'))
  expect(await runs(job)).toEqual([false, false])
  await scheduler.pauseJobs(GroupMatcher.groupEquals('mail'))
  for (const path of [job, trigger]) expect(await runs(path)).toEqual([true, true])
  expect(await runs('/jobs/reports/daily/run')).toEqual([false, false])
  await scheduler.resumeJobs(GroupMatcher.groupEquals('mail'))
  await scheduler.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'))
  expect(await runs(job)).toEqual([true, true])
  await scheduler.resumeAll()
  for (const { key } of (await scheduler.queryTriggers({ search: 'MT_' })).items) {
    await scheduler.unscheduleJob(key)
  }
  // No trigger is in the group of the runs.
  await scheduler.pauseAll()
  expect(await runs(job)).toEqual([true, true])
  const [waiting] = (await scheduler.queryTriggers({ search: 'MT_' })).items
  await scheduler.start()
  const ran = scheduler.events.next('jobWasExecuted')
  await scheduler.resumeTrigger(waiting?.key ?? '')
  expect((await ran).context.trigger.key).toEqual(waiting?.key)
}

/** A server that is attached to the data of a node that runs: it changes that data, and is no node itself. */
export async function attachesTo(newStore: () => JobStore): Promise<void> {
  const running = await filledScheduler({ jobStore: newStore(), instanceId: 'n1' })
  await running.start()
  const attached = await createScheduler({
    logger: false,
    jobStore: newStore(),
    instanceId: 'looker',
    threadPool: zeroSizeThreadPool(),
  })
  await using fixture = await serverFixture({ served: attached })
  expect(await fixture.ask('GET /scheduler')).toMatchObject({
    json: { status: 'attached', threadPoolSize: 0, numberOfJobsExecuted: null },
  })
  expect(await items(fixture, 'triggers.list', '/triggers')).toHaveLength(4)
  const refused = await fixture.ask('POST /scheduler/start')
  expect([refused.status, refused.json]).toMatchObject([409, { code: 'ERR_SCHEDULER_STATE' }])
  const ran = running.events.next('jobWasExecuted')
  await fixture.ask('POST /jobs/reports/daily/run', { body: {} })
  expect((await ran).context.jobKey.name).toBe('daily')
  await seesWhatIsKnown(fixture, running)
  // The other node reads what the attached one has written down.
  await attached.idle()
  expect((await running.queryAudit()).items).toMatchObject([
    {
      by: 'admin',
      node: 'looker',
      operation: 'jobs.run',
      targetGroup: 'reports',
      targetName: 'daily',
      outcome: 'done',
      address: expect.stringContaining('127.0.0.1') as string,
    },
    {
      operation: 'scheduler.start',
      outcome: 'failed',
      errorText: expect.stringContaining('ERR_SCHEDULER_STATE') as string,
    },
  ])
  await running.shutdown()
}

/** What an attached server does not know it does not call nothing: a store without check-ins does not say what runs. */
async function seesWhatIsKnown(fixture: ServerFixture, running: Scheduler): Promise<void> {
  const { jobStoreClustered: isWhole } = running.getMetaData()
  const key = await addPlainJob(running, 'waiting', 'slow', 'reports')
  const began = running.events.next('jobToBeExecuted', ({ context }) => context.jobDetail.key.equals(key))
  await running.triggerJob(key)
  const { context } = await began
  const get = async (id: string, path: string): Promise<unknown> =>
    operationOf(id).answer.parse((await fixture.ask(`GET ${path}`)).json)
  expect(await get('nodes.list', '/nodes')).toMatchObject({
    items: isWhole ? [{ instanceId: 'n1', state: 'alive' }] : [],
    isWhole,
  })
  const execution = { node: 'n1', jobKey: { group: 'reports', name: 'slow' } }
  expect(await get('executing.list', '/executing')).toMatchObject({
    items: isWhole ? [execution] : [],
    isWhole,
  })
  for (const [path, column] of [
    ['/nodes', 'instanceId'],
    ['/executing', 'fireInstanceId'],
  ] as const) {
    const { status, text, json } = await fixture.ask(`GET ${path}?format=csv`)
    if (isWhole)
      expect([status, text.split('\r\n', 1)[0]?.split(',')]).toEqual([200, expect.arrayContaining([column])])
    else expect([status, json]).toMatchObject([409, { code: 'ERR_SCHEDULER_STATE' }])
  }
  const { jobGroups, knowsLimits } = (await get('groups.list', '/groups')) as GroupsJson
  expect([jobGroups.find(({ name }) => name === 'reports'), knowsLimits]).toMatchObject([
    { limit: null, executing: isWhole ? 1 : null },
    false,
  ])
  expect(await get('support.dump', '/support-dump')).toMatchObject({
    nodes: isWhole ? [{}] : null,
    executing: isWhole ? [{}] : null,
  })
  const ended = running.events.next('jobWasExecuted', (event) => event.context === context)
  for (const path of ['/jobs/reports/slow/interrupt', `/executing/${context.fireInstanceId}/interrupt`]) {
    const { status, json } = await fixture.ask(`POST ${path}?dryRun=true`)
    expect([status, json]).toMatchObject(
      isWhole ? [200, { changed: true }] : [409, { code: 'ERR_SCHEDULER_STATE' }],
    )
  }
  await running.interrupt(key)
  await ended
}

/** A server hears of the executions of other nodes, also of those that take no time where the history keeps them. */
export async function hearsPeers(
  newStore: () => JobStore,
  options: { readonly seesRunning: boolean },
): Promise<void> {
  const peer = await filledScheduler({ jobStore: newStore(), instanceId: 'n1' })
  await peer.start()
  const looking = await createScheduler({
    logger: false,
    jobStore: newStore(),
    instanceId: 'looker',
    threadPool: zeroSizeThreadPool(),
  })
  await using fixture = await serverFixture({ served: looking })
  await using stream = await EventStream.open(fixture.address, { authorization: `Bearer ${tokens.viewer}` })
  const next = async (name: string): Promise<unknown> => {
    for (;;) {
      const { data } = await stream.nextData()
      if ((data as { event: string }).event === name) return data
    }
  }
  const run = async (type: string): Promise<JobKey> => {
    const key = await addPlainJob(peer, type, `${type}-here`, 'reports')
    const began = peer.events.next('jobToBeExecuted', ({ context }) => context.jobDetail.key.equals(key))
    await peer.triggerJob(key)
    // What does not run yet cannot be interrupted.
    await began
    return key
  }
  await run('failing')
  expect(await next('jobWasExecuted')).toMatchObject({
    node: 'n1',
    jobKey: { name: 'failing-here' },
    detail: { failed: true },
  })
  const slow = await run('waiting')
  if (options.seesRunning) {
    expect(await next('jobToBeExecuted')).toMatchObject({ node: 'n1', jobKey: { name: 'waiting-here' } })
  }
  await peer.interrupt(slow)
  expect(await next('jobWasExecuted')).toMatchObject({ node: 'n1', jobKey: { name: 'waiting-here' } })
  await peer.shutdown()
}

/** What another process changes is heard by a server that is only attached to the data. */
export async function hearsChanges(
  newStore: () => JobStore,
  options: { readonly tellsItHears: boolean },
): Promise<void> {
  await using peer = await filledScheduler({ jobStore: newStore(), instanceId: 'n1' })
  const looking = await createScheduler({
    logger: false,
    jobStore: newStore(),
    instanceId: 'looker',
    threadPool: zeroSizeThreadPool(),
  })
  await using fixture = await serverFixture({ served: looking })
  await using stream = await EventStream.open(fixture.address, { authorization: `Bearer ${tokens.reports}` })
  const heard = async (): Promise<void> => {
    for (;;) {
      const { data } = await stream.nextData()
      if ((data as { event: string }).event === 'changedElsewhere') return
    }
  }
  if (options.tellsItHears) await heard()
  const key = jobKey('daily', 'reports')
  const changes = [
    () => peer.pauseJob(key),
    () => peer.resumeJob(key),
    () => peer.pauseTriggers(GroupMatcher.groupEquals('nothing')),
    () => peer.addCalendar('more', new HolidayCalendar({ excludedDates: [] }), { replace: true }),
    () => addPlainJob(peer, 'failing', 'late', 'reports'),
    () => peer.deleteJob(key),
  ]
  for (const change of changes) {
    await change()
    await heard()
  }
}
