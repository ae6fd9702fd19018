import { describe, expect, test } from 'vitest'
import { type AlertNotice, type AlertsPlugin, alertsPlugin } from '../../src/alerts.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { type ServerFixture, serverFixture } from '../support/server-fixture.ts'

interface Rig {
  readonly clock: ManualClock
  readonly fixture: ServerFixture
  readonly sent: AlertNotice[]
}

async function rig(): Promise<Rig> {
  const clock = new ManualClock()
  const sent: AlertNotice[] = []
  const alerts: AlertsPlugin = alertsPlugin({
    checkMs: 1000,
    rules: [
      {
        name: 'always',
        description: 'Always bad.',
        check: async () => [{ subject: 'DEFAULT.job', message: 'bad' }],
      },
    ],
    channels: [
      {
        name: 'recorded',
        send: async (notice) => {
          sent.push(notice)
        },
      },
      { name: 'broken', send: () => Promise.reject(new Error('closed')) },
    ],
  })
  const served = await createScheduler({ logger: false, clock, plugins: [alerts] })
  await served.start()
  const fixture = await serverFixture({ served, alerts, clock })
  return { clock, fixture, sent }
}

describe('alerts', () => {
  test('are listed with their rules, channels and silences', async () => {
    const { clock, fixture } = await rig()
    await using server = fixture
    await clock.advance(1000)
    expect(await server.ask('GET /alerts', { who: 'viewer' })).toMatchObject({
      status: 200,
      json: {
        active: [{ rule: 'always', subject: 'DEFAULT.job', message: 'bad' }],
        silences: [],
        rules: [{ name: 'always', description: 'Always bad.' }],
        channels: ['recorded', 'broken'],
      },
    })
  })

  test('are silenced by an operator, and not any more', async () => {
    const { clock, fixture } = await rig()
    await using server = fixture
    const body = { rule: 'always', untilMs: clock.now() + 60_000, reason: 'deployment' }
    expect(await server.ask('POST /alerts/silences', { who: 'viewer', body })).toMatchObject({ status: 403 })
    const tried = await server.ask('POST /alerts/silences?dryRun=true', { who: 'operator', body })
    expect(tried).toMatchObject({ status: 200, json: { dryRun: true, changed: true, result: null } })
    const silenced = await server.ask('POST /alerts/silences', { who: 'operator', body })
    expect(silenced).toMatchObject({
      status: 200,
      json: { changed: true, result: { by: 'operator', reason: 'deployment', subject: null } },
    })
    const { id } = (silenced.json as { result: { id: string } }).result
    expect(await server.ask('GET /alerts')).toMatchObject({ json: { silences: [{ id }] } })
    expect(await server.ask(`DELETE /alerts/silences/${id}`, { who: 'operator' })).toMatchObject({
      json: { changed: true },
    })
    expect(await server.ask(`DELETE /alerts/silences/${id}`)).toMatchObject({ json: { changed: false } })
    const past = { ...body, untilMs: clock.now() }
    expect(await server.ask('POST /alerts/silences', { body: past })).toMatchObject({ status: 400 })
    const other = { ...body, rule: 'allways' }
    expect(await server.ask('POST /alerts/silences', { body: other })).toMatchObject({
      status: 400,
      json: { field: 'body.rule', detail: expect.stringContaining('there are: always') as string },
    })
  })

  test('are tested channel by channel', async () => {
    const { clock, fixture, sent } = await rig()
    await using server = fixture
    await clock.advance(1000)
    const before = sent.length
    expect(await server.ask('POST /alerts/test', { who: 'operator', body: {} })).toMatchObject({
      status: 200,
      json: {
        result: [
          { channel: 'recorded', error: null },
          { channel: 'broken', error: 'closed' },
        ],
      },
    })
    expect(sent.slice(before).map(({ kind }) => kind)).toEqual(['test'])
    expect(await server.ask('POST /alerts/test', { body: { channel: 'other' } })).toMatchObject({
      status: 404,
    })
  })
})
