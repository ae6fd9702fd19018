import { expect, it, onTestFinished } from 'vitest'
import { alertsPlugin, failedInARow } from '../../src/alerts.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'
import { flag, kindsOf, recorded, rigWith } from './alerts-rig.ts'

const text = 'no paper password=hunter2 postgres://u:pw@h/db'
const shown = 'no paper password=*** postgres://h/db'

it('an alert of a job that failed tells no secrets of its error', async () => {
  const channel = recorded()
  const alerts = alertsPlugin({ rules: [failedInARow(3)], channels: [channel], checkMs: 1000 })
  const job = jobOf(() => {
    throw new Error(text)
  })
  const { clock, scheduler, startMs } = await shellRig([job], { plugins: [alerts] })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.scheduleJob(
    detailOf(job, (builder) => builder.storeDurably()),
    firing(startMs, 3),
  )
  await clock.advance(5000)
  const message = `Job DEFAULT.job has failed 3 times in a row: Job DEFAULT.job threw: ${shown}`
  expect(kindsOf(channel)).toEqual([`raised ${message}`])
  expect(await alerts.active()).toMatchObject([{ message }])
})

it('an alert of any other rule tells no secrets, and is the same alert at the next check', async () => {
  const channel = recorded()
  const own = { name: 'own', description: 'd', check: async () => [{ subject: '', message: text }] }
  const { clock, alerts } = await rigWith([own], [channel])
  await clock.advance(5000)
  expect(kindsOf(channel)).toEqual([`raised ${shown}`])
  expect(await alerts.active()).toMatchObject([{ message: shown }])
})

it('a test of a channel that fails tells no secrets', async () => {
  const broken = { name: 'broken', send: () => Promise.reject(new Error(text)) }
  const { alerts } = await rigWith([flag().rule], [broken])
  expect(await alerts.test()).toEqual([{ channel: 'broken', error: shown }])
})
