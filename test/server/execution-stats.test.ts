import { expect, test, vi } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { lookAtExecutions, lookedAtMax } from '../../src/server/execution-stats.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { pause } from '../../src/time/pause.ts'
import { runMany } from '../support/run-many.ts'
import { addPlainJob, filledScheduler, serverFixture } from '../support/server-fixture.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

test('says from when it counts where there was more than it looks at', async () => {
  const scheduler = await filledScheduler()
  await scheduler.start()
  await runMany(scheduler, new JobKey('daily', 'reports'), lookedAtMax + 50)
  const toMs = Date.now()
  const askedMs = toMs - 3_600_000
  const stats = await lookAtExecutions(scheduler, askedMs, toMs)
  expect([stats.count, stats.byOutcome]).toEqual([lookedAtMax, { succeeded: lookedAtMax }])
  expect(stats.fromMs).toBeGreaterThan(askedMs)
  // It took a few seconds, of which all buckets are a part.
  expect(stats.buckets[0]?.atMs).toBe(stats.fromMs)
  expect(stats.buckets.at(-1)?.atMs).toBeLessThan(Math.max(toMs, stats.fromMs + 1))
  expect(stats.buckets.reduce((sum, { byOutcome }) => sum + (byOutcome.succeeded ?? 0), 0)).toBe(lookedAtMax)
  await scheduler.shutdown()
})

test.each(['all', 'failures'] as const)(
  'knows of a store that keeps %s whether it would show a success',
  async (record) => {
    const served = await filledScheduler({ jobStore: new RAMJobStore({ history: { record } }) })
    await using fixture = await serverFixture({ served })
    await served.start()
    await served.triggerJob(await addPlainJob(served, 'failing', 'bad', 'mail'))
    await served.idle()
    expect(await fixture.ask('GET /execution-stats')).toMatchObject({
      json: { byOutcome: { failed: 1 }, keepsSuccesses: record === 'all' },
    })
  },
)

test('takes no retry for late because of the pause before it', async () => {
  const job = jobOf(
    ({ attempt }) => {
      if (attempt === 1) throw new Error('the first time')
    },
    { retry: { attempts: 2, backoff: { type: 'fixed', initialMs: 1000 } } },
  )
  const jobStore = new RAMJobStore({ history: { record: 'all' } })
  const { clock, scheduler, startMs } = await shellRig([job], { jobStore })
  await scheduler.scheduleJob(detailOf(job), firing(startMs))
  await clock.advance(5000)
  expect(await lookAtExecutions(scheduler, startMs, clock.now())).toMatchObject({
    byOutcome: { failed: 1, succeeded: 1 },
    latenessMs: { p50: 0, p99: 0, max: 0 },
  })
  await scheduler.shutdown()
})

test.each([
  ['in memory', () => new RAMJobStore({ history: { record: 'all' } })],
  ['in a file', () => sqliteJobStore({ filename: ':memory:', history: { record: 'all' } })],
])('says of what was vetoed no time for which it ran, %s', async (_where, jobStore) => {
  const served = await filledScheduler({ jobStore: jobStore() })
  await using fixture = await serverFixture({ served })
  const { clock } = served
  served.listenerManager.addTriggerListener({
    name: 'veto',
    vetoJobExecution: async () => {
      // A listener that takes its time.
      await pause(clock, 20)
      return true
    },
  })
  await served.start()
  const key = await addPlainJob(served, 'echo', 'echo', 'mail')
  await served.triggerJob(key)
  await served.idle()
  expect(await fixture.ask('GET /execution-stats')).toMatchObject({
    json: { byOutcome: { vetoed: 1 }, durationMs: null },
  })
  const listed = await fixture.ask('GET /executions?filter=outcome:vetoed')
  expect(listed.json).toMatchObject({ items: [{ outcome: 'vetoed', durationMs: null }] })
  expect(await fixture.ask('GET /executions?filter=took<1h')).toMatchObject({ json: { items: [] } })
  expect((await served.queryExecutions({})).items).toHaveLength(1)
  expect((await served.queryExecutions({ tookLongerThanMs: 1 })).items).toEqual([])
  // A database writes the status of a job about once a second.
  await vi.waitFor(
    async () => {
      expect((await served.getJobStatus(key))?.days).toHaveLength(1)
    },
    { timeout: 30_000 },
  )
  expect((await served.getJobStatus(key))?.days).toMatchObject([{ counts: { vetoed: 1 }, runTimeMs: 0 }])
})

test('finds executions with one of several outcomes', async () => {
  const served = await filledScheduler()
  await using fixture = await serverFixture({ served })
  await served.start()
  for (const type of ['failing', 'echo'])
    await served.triggerJob(await addPlainJob(served, type, type, 'mail'))
  await served.idle()
  const found = await fixture.ask('GET /executions?filter=outcome:failed,timedOut,lost')
  expect(found.json).toMatchObject({ items: [{ jobKey: { name: 'failing' } }] })
  const both = await fixture.ask('GET /executions?filter=outcome:failed,succeeded')
  expect(both.json).toMatchObject({ items: [{}, {}] })
  expect(await fixture.ask('GET /executions?filter=outcome:failed,')).toMatchObject({ status: 400 })
})
