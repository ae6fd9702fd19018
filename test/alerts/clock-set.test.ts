import { expect, it, onTestFinished } from 'vitest'
import { alertsPlugin, noSuccessWithin } from '../../src/alerts.ts'
import { jobKey } from '../../src/index.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/testing.ts'
import { kindsOf, recorded, rigWith } from './alerts-rig.ts'

const hourMs = 3_600_000
const rule = noSuccessWithin(jobKey('job'), hourMs)
const raised = `raised Job DEFAULT.job has not ended well for ${hourMs} ms: it never has.`

it('a clock that is set after the start raises no alert for a job without a success', async () => {
  const channel = recorded()
  const { clock } = await rigWith([rule], [channel])
  clock.jump(24 * hourMs)
  await clock.advance(5000)
  expect(kindsOf(channel)).toEqual([])
  await clock.advance(hourMs)
  expect(kindsOf(channel)).toEqual([raised])
})

it('the time without a success counts from the start, and not from when the scheduler was made', async () => {
  const [clock, channel] = [new ManualClock(), recorded()]
  const plugins = [alertsPlugin({ rules: [rule], channels: [channel], checkMs: 1000 })]
  const scheduler = await createScheduler({ clock, logger: false, plugins })
  onTestFinished(() => scheduler.shutdown())
  await clock.advance(2 * hourMs)
  await scheduler.start()
  await clock.advance(5000)
  expect(kindsOf(channel)).toEqual([])
  await clock.advance(hourMs)
  expect(kindsOf(channel)).toEqual([raised])
})
