import { expect, it, onTestFinished } from 'vitest'
import { ramJobStore } from '../../src/index.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'
import { detailOf, firing, jobOf, shellRig, theJob } from '../support/shell-rig.ts'

it('the history tells of the causes of an error, and finds it by them', async () => {
  const cause = Object.assign(new Error('connect 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  const failing = defineJob('failing', () => {
    throw new TypeError('fetch failed', { cause })
  })
  const { clock, scheduler } = await schedulerFixture({ jobs: [failing] })
  await scheduler.start()
  await scheduler.schedule(failing, { key: 'f', in: 0 })
  await clock.settle()
  const idle = scheduler.idle()
  await clock.settle()
  await clock.advance(1000)
  await idle
  const { items } = await scheduler.queryExecutions({ errorContains: 'ECONNREFUSED' })
  expect(items.map(({ errorText }) => errorText)).toEqual([
    'Job DEFAULT.f threw: fetch failed; cause: ECONNREFUSED: connect 127.0.0.1:1',
  ])
  await scheduler.shutdown()
})

it.each([
  ['in memory', () => ramJobStore()],
  ['in a file', () => sqliteJobStore({ filename: ':memory:' })],
])('the history and the status of a job %s keep no secrets, and events have the error', async (_, store) => {
  const message = 'no paper password=hunter2 postgres://u:pw@h/db'
  const job = jobOf(() => {
    throw new Error(message)
  })
  const { clock, scheduler, startMs } = await shellRig([job], { jobStore: store() })
  onTestFinished(() => scheduler.shutdown())
  const told: unknown[] = []
  scheduler.events.on('jobWasExecuted', ({ error }) => told.push(error))
  const detail = detailOf(job, (builder) => builder.storeDurably())
  await scheduler.scheduleJob(detail, firing(startMs))
  await clock.advance(5000)
  const shown = 'Job DEFAULT.job threw: no paper password=*** postgres://h/db'
  const { items } = await scheduler.queryExecutions()
  expect(items).toMatchObject([{ errorText: shown }])
  expect(await scheduler.getJobStatus(theJob)).toMatchObject({ lastErrorText: shown })
  for (const errorContains of ['hunter2', 'password=h', 'u:pw']) {
    expect((await scheduler.queryExecutions({ errorContains })).items).toEqual([])
  }
  expect(told).toMatchObject([{ message: expect.stringContaining(message) as string }])
})
