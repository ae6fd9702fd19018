import { expect, it } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const report = defineJob<{ to: string; copies?: number }>('report', () => {})
const plain = defineJob('plain', () => {})

it('is typed from the definition to the data', async () => {
  const { scheduler } = await schedulerFixture({ jobs: [report, plain] })
  const wrong = async (): Promise<void> => {
    // @ts-expect-error -- 'to' must be there
    await scheduler.schedule(report, { every: '1s' })
    // @ts-expect-error -- 'to' is a text
    await scheduler.schedule(report, { every: '1s', data: { to: 7 } })
    // @ts-expect-error -- 'to' must be there, so the data must be
    await scheduler.schedule(report, { every: '1s', data: undefined })
    // @ts-expect-error -- null is no data
    await scheduler.schedule(report, { every: '1s', data: null })
    interface Partly {
      to?: string
    }
    const partial: Partly = {}
    // @ts-expect-error -- 'to' may be absent
    await scheduler.schedule(report, { every: '1s', data: partial })
    // @ts-expect-error -- 'to' may be absent
    defineSchedule(report, { key: 'k', every: '1s', data: partial })
    // @ts-expect-error -- 'to' must be there
    defineSchedule(report, { key: 'k', every: '1s', data: undefined })
    // @ts-expect-error -- a set finds a schedule by its key
    defineSchedule(plain, { every: '1s' })
    // @ts-expect-error -- only defineSchedule compares the data with the job
    await scheduler.reconcile('s', [{ job: report, options: { key: 'k', every: '1s', data: { too: 5 } } }])
    // @ts-expect-error -- a field that the job does not know
    await scheduler.schedule(report, { every: '1s', data: { to: 'a', from: 'b' } })
    await scheduler.runNow('k', partial)
    // @ts-expect-error -- a text is no data, whatever the job
    await scheduler.runNow('k', 'text')
    // @ts-expect-error -- nor is a number
    await scheduler.triggerJob('k', 5)
    // @ts-expect-error -- nothing says when
    await scheduler.schedule(plain, { key: 'k' })
    // @ts-expect-error -- two say when
    await scheduler.schedule(plain, { every: '1s', cron: '@daily' })
    // @ts-expect-error -- an interval has no zone
    await scheduler.schedule(plain, { every: '1s', zone: 'UTC' })
    // @ts-expect-error -- nor a DST policy
    await scheduler.schedule(plain, { every: '1s', dst: 'vixie' })
    // @ts-expect-error -- what runs once has no start beside its instant
    await scheduler.schedule(plain, { in: '1s', startAt: new Date() })
    // @ts-expect-error -- nor an end
    await scheduler.schedule(plain, { at: new Date(), endAt: new Date() })
    // @ts-expect-error -- nor a misfire policy
    await scheduler.schedule(plain, { at: new Date(), misfireInstruction: 'smart' })
  }
  expect(wrong).toBeTypeOf('function')
})
