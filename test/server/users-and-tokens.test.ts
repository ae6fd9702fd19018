import { expect, test } from 'vitest'
import { hashPassword } from '../../src/server/auth/passwords.ts'
import { tokenHashOf } from '../../src/server/auth/tokens.ts'
import { serverFixture } from '../support/server-fixture.ts'

test('a program comes in by a token beside users, which begins no session', async () => {
  const token = 'a-token-of-prometheus'
  const sha256 = tokenHashOf(token)
  const ann = { name: 'ann', password: 'correct horse' }
  const users = [{ name: ann.name, role: 'admin', passwordHash: await hashPassword(ann.password) }] as const
  const tokens = [{ name: 'prometheus', role: 'viewer', sha256 }] as const
  await using fixture = await serverFixture({ auth: { kind: 'users', users, tokens } })
  const headers = { authorization: `Bearer ${token}` }
  const session = await fixture.ask('GET /session', { who: null, headers })
  expect(session.json).toMatchObject({ principal: { name: 'prometheus', role: 'viewer' } })
  expect(await fixture.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 200 })
  expect(await fixture.ask('POST /scheduler/pause-all', { who: null, headers })).toMatchObject({
    status: 403,
  })
  const wrong = { authorization: `Bearer ${token}x` }
  expect(await fixture.ask('GET /jobs', { who: null, headers: wrong })).toMatchObject({ status: 401 })
  expect(await fixture.ask('POST /session', { who: null, body: { token } })).toMatchObject({ status: 401 })
  const begun = await fixture.ask('POST /session', { who: null, body: ann })
  const cookie = { cookie: (begun.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '' }
  const known = await fixture.ask('GET /auth', { who: null, headers: cookie })
  expect(JSON.stringify(known.json)).toContain('prometheus')
  expect(JSON.stringify(known.json)).not.toContain(sha256)
})

test('a bearer that a proxy in front sends leaves a session as it is', async () => {
  const ann = { name: 'ann', password: 'correct horse' }
  const users = [{ name: ann.name, role: 'admin', passwordHash: await hashPassword(ann.password) }] as const
  await using fixture = await serverFixture({ auth: { kind: 'users', users } })
  const begun = await fixture.ask('POST /session', { who: null, body: ann })
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  for (const bearer of ['abc', 'x'.repeat(600)]) {
    const headers = { cookie, authorization: `Bearer ${bearer}` }
    expect(await fixture.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 200 })
  }
})
