import { expect, it } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

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
