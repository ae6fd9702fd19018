import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { systemClock } from '../../src/time/clock.ts'
import {
  filledScheduler,
  operationOf,
  type ServerFixture,
  serverFixture,
  type Who,
} from '../support/server-fixture.ts'

let fixture: ServerFixture
beforeAll(async () => {
  fixture = await serverFixture()
  const { scheduler } = fixture
  await scheduler.start()
  for (const key of [
    triggerKey('hourly', 'mail'),
    triggerKey('daily', 'reports'),
    triggerKey('hourly', 'mail'),
  ]) {
    await scheduler.skipNextFire(key)
  }
  await scheduler.idle()
})
afterAll(() => fixture[Symbol.asyncDispose]())

async function listed(query: string, who: Who = 'viewer'): Promise<string[]> {
  const { status, json, text } = await fixture.ask(`GET /misfires?${query}`, { who })
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  const page = operationOf('misfires.list').answer.parse(json) as {
    readonly items: readonly { readonly triggerKey: { readonly name: string } }[]
  }
  return page.items.map(({ triggerKey: { name } }) => name)
}

describe('misfires over HTTP', () => {
  test('are listed with their cause, the newest first', async () => {
    expect(await listed('')).toEqual(['hourly', 'daily', 'hourly'])
    const { json } = await fixture.ask('GET /misfires?take=1')
    expect(json).toMatchObject({
      items: [
        {
          triggerKey: { group: 'mail', name: 'hourly' },
          jobKey: { group: 'mail', name: 'hourly' },
          cause: 'skippedByHand',
          policy: null,
          count: 1,
        },
      ],
    })
    const { next } = json as { readonly next: string }
    expect(await listed(`take=2&after=${next}`)).toEqual(['daily', 'hourly'])
  })

  test('are found by a filter', async () => {
    expect(await listed('filter=trigger:reports/daily')).toEqual(['daily'])
    expect(await listed('filter=trigger:daily')).toEqual(['daily'])
    expect(await listed('filter=job:mail/hourly')).toEqual(['hourly', 'hourly'])
    expect(await listed('filter=job:hourly+cause:skippedByHand+cause:lost')).toEqual(['hourly', 'hourly'])
    expect(await listed('filter=group:mail')).toEqual(['hourly', 'hourly'])
    expect(await listed('filter=cause:lost')).toEqual([])
    expect(await listed('fromMs=9999999999999')).toEqual([])
    for (const wrong of ['cause:odd', 'late>5s', 'node:n', 'x']) {
      const { status, json } = await fixture.ask(`GET /misfires?filter=${encodeURIComponent(wrong)}`)
      expect([wrong, status]).toEqual([wrong, 400])
      expect(json).toMatchObject({ detail: expect.stringContaining('The filter of misfires has') as string })
    }
  })

  test('are shown to those who may see their jobs', async () => {
    expect(await listed('', 'reports')).toEqual(['daily'])
  })

  test('come in numbers', async () => {
    const { json } = await fixture.ask('GET /misfire-stats')
    expect(operationOf('misfires.stats').answer.parse(json)).toMatchObject({
      rows: 3,
      fires: 3,
      hasMore: false,
      byCause: { skippedByHand: 3 },
    })
  })

  test('say when there are more than they count', async () => {
    const jobStore = new RAMJobStore({ misfires: { maxRows: 200_000 } })
    await using other = await serverFixture({ served: await filledScheduler({ jobStore }) })
    const nowMs = systemClock.now()
    const misfires = Array.from({ length: 100_001 }, (_, index) => ({
      id: String(index),
      noticedTimeMs: nowMs,
      triggerKey: triggerKey('hourly', 'mail'),
      jobKey: null,
      cause: 'outage' as const,
      policy: null,
      fromMs: nowMs,
      toMs: nowMs,
      count: 2,
      node: 'n1',
    }))
    await jobStore.records.write({ misfires })
    expect((await other.ask('GET /misfire-stats')).json).toMatchObject({
      rows: 100_000,
      fires: 200_000,
      hasMore: true,
      byCause: { outage: 100_000 },
    })
  })
})
