import { expect, test, vi } from 'vitest'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { serverFixture } from '../support/server-fixture.ts'

test('wrong tokens are limited; right ones go on', async () => {
  await using fixture = await serverFixture({ loginsPerMinute: 2 })
  const wrong = { who: null, headers: { authorization: 'Bearer wrong' } }
  const statuses: number[] = []
  for (let count = 0; count < 4; count++) statuses.push((await fixture.ask('GET /jobs', wrong)).status)
  expect(statuses).toEqual([401, 401, 429, 429])
  expect(await fixture.ask('GET /jobs')).toMatchObject({ status: 200 })
})

test('a host is asked for so many wrong tokens; one that was right goes on, and a new one has to wait', async () => {
  const clock = new ManualClock()
  const asked: (string | null)[] = []
  await using fixture = await serverFixture({
    loginsPerMinute: 2,
    clock,
    auth: {
      kind: 'hook',
      authenticate({ headers }) {
        const token = headers.get('authorization')
        asked.push(token)
        return token === 'wrong' ? null : { name: 'a', role: 'viewer' }
      },
    },
  })
  const ask = async (path: string, authorization: string): Promise<number> =>
    (await fixture.ask(`GET ${path}`, { who: null, headers: { authorization } })).status
  expect(await ask('/jobs', 'right')).toBe(200)
  const statuses: number[] = []
  // That the session is asked for tells as well whether a token is right.
  for (const path of ['/session', '/jobs', '/jobs', '/session', '/jobs'])
    statuses.push(await ask(path, 'wrong'))
  expect(statuses).toEqual([200, 401, 429, 200, 429])
  expect(await ask('/jobs', 'right')).toBe(200)
  expect(await ask('/jobs', 'new')).toBe(429)
  expect(asked).toEqual(['right', 'wrong', 'wrong', 'right'])
  await clock.advance(30_000)
  expect(await ask('/jobs', 'new')).toBe(200)
})

test('a host is asked for no more wrong tokens when they are sent at once, and for all right ones', async () => {
  let asked = 0
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await using fixture = await serverFixture({
    loginsPerMinute: 2,
    clock: new ManualClock(),
    auth: {
      kind: 'hook',
      async authenticate({ headers }) {
        asked++
        await held
        if (headers.get('authorization') === 'failing') throw new Error('the directory is away')
        return headers.get('authorization')?.startsWith('right') === true
          ? { name: 'a', role: 'viewer' }
          : null
      },
    },
  })
  const ask = async (authorization: string): Promise<number> =>
    (await fixture.ask('GET /jobs', { who: null, headers: { authorization } })).status
  const atOnce = Promise.all(
    ['failing', ...Array.from({ length: 8 }, (_, index) => `right ${index}`), 'failing'].map(ask),
  )
  await vi.waitUntil(() => asked === 2, { timeout: 10_000 })
  release()
  expect(await atOnce).toEqual([500, ...Array.from({ length: 8 }, () => 200), 500])
  expect(asked).toBe(10)
  const guesses = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(`guess ${index}`)))
  expect(guesses.toSorted()).toEqual([401, 401, 429, 429, 429, 429, 429, 429])
  expect(asked).toBe(12)
  expect(await ask('right 0')).toBe(200)
})

test('the host says who it is, and may fail', async () => {
  const principals: Record<string, object | null> = {
    a: { name: 'a', role: 'viewer' },
    b: null,
    numbered: { name: 4711, role: 'admin' },
    nameless: { name: '', role: 'admin' },
  }
  await using fixture = await serverFixture({
    auth: {
      kind: 'hook',
      authenticate(request) {
        const key = request.headers.get('x-user') ?? ''
        if (key === 'c') throw new Error('the directory is away: secret')
        return principals[key] as never
      },
    },
  })
  const asking = (user: string): ReturnType<typeof fixture.ask> =>
    fixture.ask('GET /jobs', { who: null, headers: { 'x-user': user } })
  expect(await asking('a')).toMatchObject({ status: 200 })
  expect(await asking('b')).toMatchObject({ status: 401 })
  // What a look-up in a Map answers.
  expect(await asking('d')).toMatchObject({ status: 401 })
  // The audit could not say who it was.
  for (const user of ['numbered', 'nameless']) expect(await asking(user)).toMatchObject({ status: 500 })
  const failed = await asking('c')
  expect(failed.status).toBe(500)
  expect(failed.text).not.toContain('secret')
})
