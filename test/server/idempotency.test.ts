import { expect, test, vi } from 'vitest'
import { JobPersistenceError, SchedulerError } from '../../src/core/errors.ts'
import { jobKey } from '../../src/core/key.ts'
import { IdempotentAnswers } from '../../src/server/http/idempotency.ts'
import { ManualClock } from '../../src/testing.ts'
import { filledScheduler, serverFixture } from '../support/server-fixture.ts'

test.each([
  [200, [200, 200]],
  [409, [409, 409]],
  [429, [429, 200]],
  [503, [503, 200]],
])('after an answer of %i a request under the same key has %j', async (first, expected) => {
  const answers = new IdempotentAnswers(new ManualClock())
  const later = [first, 200]
  const once = () => answers.once(['key'], ['a'], async () => ({ status: later.shift() ?? 0, body: '' }))
  expect([(await once()).status, (await once()).status]).toEqual(expected)
})

test('what may have been done is not done again', async () => {
  const answers = new IdempotentAnswers(new ManualClock())
  const carryOut = vi.fn(async () => ({ status: 503, body: 'lost', mayBeDone: true }))
  const once = () => answers.once(['key'], ['a'], carryOut)
  expect([await once(), await once()]).toMatchObject([{ status: 503 }, { status: 503, body: 'lost' }])
  expect(carryOut).toHaveBeenCalledOnce()
})

test.each([
  [503, 'ERR_COMMIT_UNKNOWN', new JobPersistenceError('Lost.', { code: 'ERR_COMMIT_UNKNOWN' })],
  [500, 'ERR_INVARIANT', new Error('what is told afterwards failed')],
])(
  'what failed after it was stored is answered the same when it comes again: %i %s',
  async (status, code, error) => {
    const scheduler = await filledScheduler()
    const run = scheduler.triggerJob.bind(scheduler)
    scheduler.triggerJob = async (...call) => {
      await run(...call)
      throw error
    }
    await using fixture = await serverFixture({ served: scheduler })
    const ask = () =>
      fixture.ask('POST /jobs/mail/hourly/run', { body: {}, headers: { 'idempotency-key': 'deploy-7' } })
    for (const answered of [await ask(), await ask()]) {
      const detail = expect.stringContaining('send it again under another Idempotency-Key') as string
      expect([answered.status, answered.json]).toMatchObject([status, { code, detail }])
    }
    const runs = (await scheduler.queryTriggers({ jobKey: jobKey('hourly', 'mail') })).items
    expect(runs.filter(({ key }) => key.name.startsWith('MT_'))).toHaveLength(1)
  },
)

test('what failed in a dry run is tried again under the same key', async () => {
  const scheduler = await filledScheduler()
  await using fixture = await serverFixture({ served: scheduler })
  vi.spyOn(scheduler, 'changeDefinitions').mockRejectedValueOnce(new Error('failed'))
  const headers = { 'idempotency-key': 'dry' }
  const ask = () => fixture.ask('POST /jobs/mail/hourly/run?dryRun=true', { body: {}, headers })
  expect([(await ask()).status, (await ask()).status]).toEqual([500, 200])
})

test('a request under way is carried out once, however many others come meanwhile', async () => {
  const answers = new IdempotentAnswers(new ManualClock())
  let end: (answer: { status: number; body: string }) => void = () => {}
  const carryOut = vi.fn(
    () =>
      new Promise<{ status: number; body: string }>((resolve) => {
        end = resolve
      }),
  )
  const first = answers.once(['slow'], ['a'], carryOut)
  for (let other = 0; other < 1500; other++) {
    await answers.once([`key ${other}`], ['a'], async () => ({ status: 200, body: '' }))
  }
  const again = answers.once(['slow'], ['a'], carryOut)
  end({ status: 200, body: 'done' })
  expect(await Promise.all([first, again])).toEqual(Array(2).fill({ status: 200, body: 'done' }))
  expect(carryOut).toHaveBeenCalledOnce()
})

test('so much is kept, and the oldest is forgotten first', async () => {
  const answers = new IdempotentAnswers(new ManualClock())
  const body = 'x'.repeat(5_000_000)
  const isCarriedOut = async (key: string): Promise<boolean> => {
    const carryOut = vi.fn(async () => ({ status: 200, body }))
    await answers.once([key], ['a'], carryOut)
    return carryOut.mock.calls.length === 1
  }
  for (const key of ['a', 'b', 'c', 'd']) expect(await isCarriedOut(key)).toBe(true)
  expect(await isCarriedOut('d')).toBe(false)
  expect(await isCarriedOut('b')).toBe(false)
  expect(await isCarriedOut('a')).toBe(true)
})

test('a change that has to wait for others says when to come again', async () => {
  const scheduler = await filledScheduler()
  await using fixture = await serverFixture({ served: scheduler })
  const busy = new SchedulerError('ERR_RATE_LIMITED', 'Too many wait.')
  vi.spyOn(scheduler, 'triggerJob').mockRejectedValueOnce(busy)
  const { status, headers } = await fixture.ask('POST /jobs/mail/hourly/run', { body: {} })
  expect([status, headers.get('retry-after')]).toEqual([429, '5'])
})
