import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createScheduler, defineJob, JobBuilder, jobKey, ramJobStore } from '../../src/index.ts'
import { addExecution, type JobStatusChange, newStatusChange } from '../../src/jobstore/job-status.ts'
import type { ExecutionSummary } from '../../src/jobstore/queries.ts'
import { countByDay, lookAtXxlJobDays } from '../../src/server/xxl-job-looks.ts'
import { ManualClock } from '../../src/testing.ts'
import { createXxlJobAdmin, xxlJob } from '../../src/xxl-job.ts'
import { hookServer } from '../support/hook-server.ts'
import { type Answered, type ServerFixture, serverFixture } from '../support/server-fixture.ts'
import { type XxlJobShop, xxlJobShop } from '../support/xxl-job-shop.ts'

describe("executors of XXL-JOB's", () => {
  let shop: XxlJobShop
  let fixture: ServerFixture
  beforeAll(async () => {
    shop = await xxlJobShop()
    fixture = await serverFixture({ served: shop.scheduler, xxlJob: shop.admin })
  })
  afterAll(async () => {
    await fixture.server.close()
    await shop[Symbol.asyncDispose]()
  })

  const run = (job: string, body: object, who: 'viewer' | 'operator' | 'reports' = 'operator') =>
    fixture.ask(`POST /xxl-job/jobs/${job}/run`, { who, body })

  /** Runs a job once, and answers the execution when it has ended. */
  async function ended(job: string, body: object): Promise<ExecutionSummary> {
    const done = shop.scheduler.events.next('jobWasExecuted')
    const answer = await run(job, body)
    expect(answer).toMatchObject({ status: 200, json: { changed: true } })
    const { context } = await done
    await shop.scheduler.idle()
    const found = await shop.scheduler.getExecution(context.fireInstanceId)
    return found ?? expect.fail('it is in the history')
  }

  test('are listed with address, last beat and dialect', async () => {
    const dialect = async () => {
      const { json } = await fixture.ask('GET /xxl-job/executors', { who: 'viewer' })
      expect(json).toMatchObject({
        items: [
          {
            appName: 'billing-executor',
            byHand: false,
            running: 0,
            executors: [{ address: shop.address, lastBeatMs: expect.any(Number) as number }],
          },
          {
            appName: 'mail-executor',
            byHand: true,
            running: 0,
            executors: [{ address: shop.gone, lastBeatMs: null, dialect: null }],
          },
        ],
      })
      return (json as { items: [{ executors: [{ dialect: string | null }] }] }).items[0].executors[0].dialect
    }
    expect(await dialect()).toBeNull()
    await ended('reports/invoices', {})
    expect(await dialect()).toBe('2.2')
  })

  test('have jobs, of which nobody is told the source of a script but with the script', async () => {
    const all = await fixture.ask('GET /xxl-job/jobs', { who: 'viewer' })
    expect(all).toMatchObject({
      json: {
        types: [
          { jobType: 'invoices', jobId: 17, handler: 'invoices', route: 'FAILOVER', glue: null },
          { jobType: 'script', appName: 'mail-executor', handler: '', glue: { type: 'GLUE_SHELL' } },
          { jobType: 'slow' },
        ],
        isWhole: true,
      },
    })
    expect(all.text).not.toContain('echo')
    const own = await fixture.ask('GET /xxl-job/jobs', { who: 'reports' })
    expect(namesOf(own)).toEqual(['invoices', 'slow'])
    const glue = await fixture.ask('GET /xxl-job/glue/script', { who: 'viewer' })
    expect(glue).toMatchObject({ json: { type: 'GLUE_SHELL', source: 'echo "<b>done</b>"\n' } })
    expect(await fixture.ask('GET /xxl-job/glue/invoices')).toMatchObject({ status: 404 })
  })

  test('run a job once, with another parameter, on the executor that is named', async () => {
    const { address, scheduler } = shop
    const { fireInstanceId } = await ended('reports/invoices', { param: 'June', address })
    expect((await scheduler.getExecution(fireInstanceId))?.resultText).toContain('June sent')
    // XXL-JOB's triggerJob empties a parameter that is not given (C.6 10).
    const { triggeredBy, fireInstanceId: plain } = await ended('reports/invoices', {})
    expect(triggeredBy).toBe('operator')
    expect((await scheduler.getExecution(plain))?.resultText).toContain('May sent')
    expect(await run('reports/invoices', {}, 'viewer')).toMatchObject({ status: 403 })
    expect(await run('mail/script', {}, 'reports')).toMatchObject({ status: 403 })
    const elsewhere = { address: shop.gone }
    expect(await run('reports/invoices', elsewhere)).toMatchObject({ status: 404 })
    expect(await run('reports/nothing', {})).toMatchObject({ status: 404 })
    const tried = await fixture.ask('POST /xxl-job/jobs/reports/invoices/run?dryRun=true', { body: {} })
    expect(tried).toMatchObject({ json: { dryRun: true, changed: true, result: { triggerKey: null } } })
  })

  test('are called at the addresses where they are registered, and at no other', async () => {
    await using other = await hookServer()
    for (const address of [
      other.url,
      new URL(other.url).origin,
      `${shop.address}@${new URL(other.url).host}/`,
    ]) {
      expect(await run('reports/invoices', { address })).toMatchObject({
        status: 404,
        json: { code: 'ERR_NOT_FOUND' },
      })
    }
    expect(other.hooks).toEqual([])
  })

  test('have a log that grows while the run goes on', async () => {
    const began = shop.admin.events.next('runSent')
    await run('reports/slow', {})
    await began
    const [executing] = await shop.scheduler.cluster.executingJobs()
    const { fireInstanceId } = executing ?? expect.fail('it runs')
    const log = async (fromLine: number) => {
      const { json } = await fixture.ask(`GET /xxl-job/log/${fireInstanceId}?fromLine=${fromLine}`, {
        who: 'reports',
      })
      return json as { text: string; toLine: number; problem: string | null }
    }
    const first = await vi.waitFor(
      async () => {
        const read = await log(1)
        expect(read).toMatchObject({ text: expect.stringContaining('it began') as string, problem: null })
        return read
      },
      { timeout: 10_000, interval: 50 },
    )
    expect(await fixture.ask('GET /xxl-job/executors')).toMatchObject({
      json: { items: [{ running: 1 }, {}] },
    })
    const done = shop.scheduler.events.next('jobWasExecuted')
    shop.release()
    await done
    const rest = await log(first.toLine + 1)
    expect(rest.text).toContain('it was released')
    expect(rest.text).not.toContain('it began')
  })

  test('that do not answer say so in the place of their log', async () => {
    const { fireInstanceId, outcome } = await ended('mail/script', {})
    expect(outcome).toBe('failed')
    const { json } = await fixture.ask(`GET /xxl-job/log/${fireInstanceId}`)
    expect(json).toMatchObject({
      text: '',
      toLine: 0,
      problem: expect.stringContaining('did not answer') as string,
    })
    expect(await fixture.ask('GET /xxl-job/log/nothing')).toMatchObject({ status: 404 })
  })

  test('have a report by day', async () => {
    await ended('reports/invoices', {})
    await ended('reports/invoices', { param: 'bad' })
    const { items } = await shop.scheduler.queryExecutions({ take: 1000 })
    const succeeded = items.filter(({ outcome }) => outcome === 'succeeded').length
    const failed = items.length - succeeded
    expect(Math.min(succeeded, failed)).toBeGreaterThan(0)
    // Counts are written once a second; a look is used for 100 times as long as it took, a minute at most.
    await vi.waitFor(
      async () => {
        expect(await today()).toMatchObject({ total: items.length, succeeded, failed, running: 0 })
      },
      { timeout: 70_000, interval: 250 },
    )
  }, 80_000)

  async function today() {
    const { json } = await fixture.ask('GET /xxl-job/report?days=2')
    const { items, isWhole } = json as {
      items: { total: number; succeeded: number; failed: number; running: number }[]
      isWhole: boolean
    }
    expect([items.length, isWhole]).toEqual([2, true])
    return items[1] ?? expect.fail('two days')
  }
})

test('runs are counted by day of UTC as the store counts them, whatever its history keeps', async () => {
  const admin = createXxlJobAdmin({ accessToken: null, logger: false })
  const billing = xxlJob('billing', { admin, appName: 'billing', jobId: 17, handler: 'invoices' })
  const other = defineJob('other', () => {})
  const clock = new ManualClock(Date.parse('2026-03-02T15:00:00Z'))
  const jobStore = ramJobStore({ history: false })
  const scheduler = await createScheduler({ jobs: [billing, other], jobStore, clock, logger: false })
  onTestFinished(() => scheduler.shutdown())
  const outcomes = ['succeeded', 'failed', 'timedOut', 'lost', 'interrupted', 'vetoed'] as const
  const statuses: JobStatusChange[] = []
  for (const [name, type] of [
    ['a', 'billing'],
    ['b', 'billing'],
    ['c', 'other'],
  ] as const) {
    const key = jobKey(name)
    await scheduler.addJob(JobBuilder.newJob(type).withIdentity(key).storeDurably().build())
    const change = newStatusChange(key)
    for (const [index, outcome] of outcomes.entries()) {
      // Each of them ends one second after the day began.
      const knownTimeMs = Date.parse('2026-03-02T00:00:01Z') - (index % 2) * 86_400_000
      const times = { fireTimeMs: knownTimeMs - 2000, finishedTimeMs: knownTimeMs, knownTimeMs }
      addExecution(change, { jobKey: key, fireInstanceId: `${index}`, outcome, errorText: null, ...times })
    }
    statuses.push(change)
  }
  await jobStore.records?.write({ statuses })
  const look = await lookAtXxlJobDays(scheduler, admin)
  expect(look.isWhole).toBe(true)
  const began = [Date.parse('2026-03-01T23:59:59Z'), Date.parse('2026-02-01T00:00:00Z')]
  // Of two jobs each; what was vetoed did not run.
  expect(countByDay(look, began, { days: 3, nowMs: clock.now() })).toEqual([
    { day: '2026-02-28', total: 0, succeeded: 0, failed: 0, running: 0 },
    { day: '2026-03-01', total: 5, succeeded: 0, failed: 4, running: 1 },
    { day: '2026-03-02', total: 6, succeeded: 2, failed: 4, running: 0 },
  ])
})

function namesOf({ json }: Answered): readonly string[] {
  return (json as { jobs: { name: string }[] }).jobs.map(({ name }) => name)
}
