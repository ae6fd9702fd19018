import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/server/create-server.ts'
import type { SchedulerServerOptions } from '../../src/server/server-options.ts'
import { auth, filledScheduler } from '../support/server-fixture.ts'

const scheduler = await filledScheduler()

const user = { name: 'a', role: 'viewer', passwordHash: `scrypt:${'A'.repeat(22)}:${'A'.repeat(43)}` }
const token = { name: 'a', role: 'viewer', sha256: 'a'.repeat(64) }

test.each<[string, object]>([
  ['scheduler', { auth }],
  ['scheduler', { scheduler: {}, auth }],
  ['scheduler', { scheduler: [], auth }],
  ['scheduler', { scheduler: [scheduler, scheduler], auth }],
  ['auth', { scheduler }],
  ['auth', { scheduler, auth: 'none' }],
  ['auth', { scheduler, auth: { kind: 'none' } }],
  ['auth.users', { scheduler, auth: { kind: 'users' } }],
  ['auth.authenticate', { scheduler, auth: { kind: 'hook' } }],
  [
    'auth.users[0].passwordHash',
    { scheduler, auth: { kind: 'users', users: [{ ...user, passwordHash: 'secret' }] } },
  ],
  ['auth.users', { scheduler, auth: { kind: 'users', users: [user, { ...user, role: 'admin' }] } }],
  ['auth.tokens', { scheduler, auth: { kind: 'token', tokens: [token, token] } }],
  ['auth.tokens', { scheduler, auth: { kind: 'token', tokens: [{ ...token, name: 'token' }] } }],
  ['auth.users[0].role', { scheduler, auth: { kind: 'users', users: [{ ...user, role: 'root' }] } }],
  [
    'auth.users[0].jobGroups.x',
    { scheduler, auth: { kind: 'users', users: [{ ...user, jobGroups: { x: 'root' } }] } },
  ],
  [
    'auth.tokens[0].sha256',
    { scheduler, auth: { kind: 'token', tokens: [{ name: 'a', role: 'viewer', sha256: 'abc' }] } },
  ],
  ['auth.tokn', { scheduler, auth: { kind: 'token', tokn: 1 } }],
  ['auth.users', { scheduler, auth: { kind: 'users', users: [] } }],
  [
    'auth.users[1].password',
    { scheduler, auth: { kind: 'users', users: [user, { ...user, password: 'x' }] } },
  ],
  ['auth.tokens[0].token', { scheduler, auth: { kind: 'users', users: [user], tokens: [{ token: 'x' }] } }],
  ['auth.tokens', { scheduler, auth: { kind: 'users', users: [user], tokens: [token] } }],
  ['unheardOf', { scheduler, auth, unheardOf: 1 }],
  ['readOnly', { scheduler, auth, readOnly: 'yes' }],
  ['basePath', { scheduler, auth, basePath: 'admin/' }],
  ['basePath', { scheduler, auth, basePath: '/a/../b' }],
  ['basePath', { scheduler, auth, basePath: '/a/.' }],
  ['allowedHosts', { scheduler, auth, allowedHosts: 'localhost' }],
  ['allowedHosts[0]', { scheduler, auth, allowedHosts: ['https://ops.example.com'] }],
  ['allowedHosts[0]', { scheduler, auth, allowedHosts: ['ops.example.com:8443'] }],
  ['allowedHosts[1]', { scheduler, auth, allowedHosts: ['[::1]', 'Ops.example.com'] }],
  ['allowedHosts[0]', { scheduler, auth, allowedHosts: ['a b'] }],
  ['trustedProxies[0]', { scheduler, auth, trustedProxies: ['10.0.0.0/33'] }],
  ['trustedProxies[1]', { scheduler, auth, trustedProxies: ['::1/128', 'proxy.example.com'] }],
  ['allowedOrigins[0]', { scheduler, auth, allowedOrigins: ['https://ops.example.com/path'] }],
  ['sessionSecret', { scheduler, auth, sessionSecret: 'short' }],
  ['sessionMs', { scheduler, auth, sessionMs: 1 }],
  ['requestsPerMinute', { scheduler, auth, requestsPerMinute: 0 }],
  ['loginsPerMinute', { scheduler, auth, loginsPerMinute: 0 }],
  ['maxBodyBytes', { scheduler, auth, maxBodyBytes: 1 }],
  ['maxStreams', { scheduler, auth, maxStreams: 0 }],
  ['dashboard', { scheduler, auth, dashboard: true }],
  ['onAudit', { scheduler, auth, onAudit: 'log' }],
  ['clientAddress', { scheduler, auth, clientAddress: '::1' }],
  ['logger', { scheduler, auth, logger: {} }],
  ['clock', { scheduler, auth, clock: Date }],
])('createServer refuses a wrong %s: %o', async (field, options) => {
  await expect(createServer(options as SchedulerServerOptions)).rejects.toMatchObject({ field })
})

test('an error says which of the users is meant', async () => {
  const users = [user, { ...user, name: 'b', role: 'root' }]
  await expect(createServer({ scheduler, auth: { kind: 'users', users } } as never)).rejects.toThrow(
    "createServer: 'auth.users[1].role' must be",
  )
})

test('a token is made at the first start, is kept as its hash alone, and holds at the next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-token-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  const file = join(folder, 'token')
  const options = { scheduler, auth: { kind: 'token', hashFile: file }, logger: false } as const
  const first = await createServer(options)
  expect(first.newToken).toMatch(/^[\w-]{43}$/)
  expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const second = await createServer(options)
  expect(second.newToken).toBe(null)
  for (const server of [first, second]) {
    const request = new Request('http://localhost/api/jobs', {
      headers: { authorization: `Bearer ${first.newToken ?? ''}` },
    })
    expect((await server.fetch(request)).status).toBe(200)
  }
  writeFileSync(file, 'something else')
  await expect(createServer(options)).rejects.toMatchObject({ field: 'hashFile', code: 'ERR_INVALID_OPTION' })
  expect(existsSync(file)).toBe(true)
  const ofFolder = createServer({ ...options, auth: { kind: 'token', hashFile: folder } })
  await expect(ofFolder).rejects.toMatchObject({ field: 'hashFile', code: 'ERR_INVALID_OPTION' })
})

test('an origin that is none is answered with an example', async () => {
  await expect(createServer({ scheduler, auth, allowedOrigins: ['ops.example.com'] })).rejects.toThrow(
    "'allowedOrigins[0]' must be an origin such as https://ops.example.com, without a path",
  )
})
