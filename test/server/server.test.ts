import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import type { AuditRecord } from '../../src/server/audit.ts'
import { hashPassword } from '../../src/server/auth/passwords.ts'
import type { Principal } from '../../src/server/catalogue/role.ts'
import { createServer } from '../../src/server/create-server.ts'
import type { SchedulerServerOptions } from '../../src/server/server-options.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { ask, auth, filledScheduler, serverFixture, tokens } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const cookieOf = (headers: Headers): string => (headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''

describe('users and sessions', () => {
  const clock = new ManualClock()
  const options = async (): Promise<Partial<SchedulerServerOptions>> => ({
    clock,
    auth: {
      kind: 'users',
      users: [
        { name: 'ann', role: 'admin', passwordHash: await hashPassword('correct horse') },
        { name: 'bob', role: 'viewer', passwordHash: await hashPassword('battery staple') },
      ],
    },
    sessionSecret: 'a secret of thirty-two characters',
  })

  test('a session begins with the right password, may what its user may, and ends', async () => {
    await using fixture = await serverFixture(await options())
    const begin = (name: string, password: string): ReturnType<typeof fixture.ask> =>
      fixture.ask('POST /session', { who: null, body: { name, password } })
    for (const [name, password] of [
      ['ann', 'wrong'],
      ['nobody', 'correct horse'],
      ['ann', 'battery staple'],
    ] as const) {
      expect(await begin(name, password)).toMatchObject({
        status: 401,
        json: { code: 'ERR_NOT_AUTHENTICATED' },
      })
    }
    const begun = await begin('bob', 'battery staple')
    expect(begun.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    const headers = { cookie: cookieOf(begun.headers), origin: fixture.address }
    expect(await fixture.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 200 })
    expect(await fixture.ask('POST /scheduler/pause-all', { who: null, headers })).toMatchObject({
      status: 403,
    })
    const session = await fixture.ask('GET /session', { who: null, headers })
    expect(session.json).toMatchObject({
      principal: { name: 'bob', role: 'viewer' },
      credentials: 'password',
    })
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      const changed = { cookie: headers.cookie.replace(/.$/, last) }
      const status = changed.cookie === headers.cookie ? 200 : 401
      expect(await fixture.ask('GET /jobs', { who: null, headers: changed })).toMatchObject({ status })
    }
    const ended = await fixture.ask('DELETE /session', { who: null, headers })
    expect(ended.headers.get('set-cookie')).toMatch(/^quartz_ts_session_\d+=; .*Max-Age=0/)
    // The browser has no cookie any more; a copy of it holds until its time is over, as the documentation says.
    expect(await fixture.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 200 })
    await clock.advance(43_200_001)
    expect(await fixture.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 401 })
  })

  test('a new password ends the sessions of the old one, and a token is no password', async () => {
    const first = await options()
    await using fixture = await serverFixture(first)
    const begun = await fixture.ask('POST /session', {
      who: null,
      body: { name: 'ann', password: 'correct horse' },
    })
    const headers = { cookie: cookieOf(begun.headers) }
    await using same = await serverFixture(first)
    expect(await same.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 200 })
    const users = [{ name: 'ann', role: 'admin', passwordHash: await hashPassword('another one') }] as const
    await using other = await serverFixture({ ...first, auth: { kind: 'users', users } })
    expect(await other.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 401 })
    expect(await fixture.ask('POST /session', { who: null, body: { token: 'x' } })).toMatchObject({
      status: 401,
    })
  })

  test('logins are limited for each client, right ones as well', async () => {
    await using fixture = await serverFixture({ ...(await options()), loginsPerMinute: 3 })
    const begin = (): ReturnType<typeof fixture.ask> =>
      fixture.ask('POST /session', { who: null, body: { name: 'ann', password: 'wrong password' } })
    for (let count = 0; count < 3; count++) expect(await begin()).toMatchObject({ status: 401 })
    const limited = await begin()
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '20'])
    await clock.advance(20_000)
    expect(await begin()).toMatchObject({ status: 401 })
    expect(await begin()).toMatchObject({ status: 429 })
  })
})

test('a token becomes a cookie, which a page of another site cannot use', async () => {
  await using fixture = await serverFixture()
  const begun = await fixture.ask('POST /session', { who: null, body: { token: tokens.operator } })
  const cookie = cookieOf(begun.headers)
  const pause = (headers: Record<string, string>): Promise<{ status: number }> =>
    fixture.ask('POST /scheduler/pause-all?dryRun=true', { who: null, headers: { cookie, ...headers } })
  expect(await pause({ origin: fixture.address })).toMatchObject({ status: 200 })
  const secure = await createServer({ scheduler: fixture.scheduler, auth, logger: false })
  const login = await secure.fetch(
    new Request('http://ops.example.com/api/session', {
      method: 'POST',
      headers: { origin: 'https://ops.example.com' },
      body: JSON.stringify({ token: tokens.viewer }),
    }),
  )
  expect(login.headers.get('set-cookie')).toMatch(/; Secure$/)
  expect(await pause({ origin: 'http://evil.example' })).toMatchObject({ status: 403 })
  expect(await fixture.ask('POST /session', { who: null, body: { token: 'wrong' } })).toMatchObject({
    status: 401,
  })
})

test('servers at two ports of a host, and at two paths of one, keep their sessions apart', async () => {
  await using one = await serverFixture()
  await using other = await serverFixture()
  await using mounted = await serverFixture({ basePath: '/admin/jobs' })
  const servers = [`${one.address}/api`, `${other.address}/api`, `${mounted.address}/admin/jobs/api`]
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ token: tokens.viewer })
  const begun = await Promise.all(
    servers.map((address) => fetch(`${address}/session`, { method: 'POST', headers, body })),
  )
  const cookies = begun.map((answer) => cookieOf(answer.headers))
  // A browser sends all of them to each.
  const names = cookies.map((each) => each.split('=', 1)[0])
  expect(new Set(names).size).toBe(3)
  expect(names[2]).toMatch(/^quartz_ts_session_\d+_admin_jobs$/)
  for (const address of servers) {
    const answer = await fetch(`${address}/jobs`, { headers: { cookie: cookies.join('; ') } })
    expect(answer.status).toBe(200)
  }
})

test('a client that goes away in the middle of its body is no failure of the server', async () => {
  await using fixture = await serverFixture()
  const failures: string[] = []
  const ignore = (): void => {}
  const error = (_: object, message: string): void => {
    failures.push(message)
  }
  const logger = { debug: ignore, info: ignore, warn: ignore, error }
  await using server = await createServer({ scheduler: fixture.scheduler, auth, logger })
  const body = new ReadableStream({
    pull: (controller) => {
      controller.error(new Error('aborted'))
    },
  })
  const headers = { authorization: `Bearer ${tokens.admin}` }
  const request = new Request('http://localhost/api/jobs/reports/hourly/run', {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  })
  const answer = await server.fetch(request)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ field: 'body' })
  expect(failures).toEqual([])
})

test('a server takes what it has exported, from those who may import', async () => {
  await using fixture = await serverFixture({ maxBodyBytes: 1024 })
  const { json: definitions, text } = await fixture.ask('GET /definitions')
  const body = { definitions }
  expect(text.length).toBeGreaterThan(1024)
  expect(await fixture.ask('POST /definitions', { body })).toMatchObject({ status: 200 })
  const refused = await fixture.ask('POST /definitions', { body, who: 'operator' })
  expect(refused).toMatchObject({ status: 413, json: { code: 'ERR_REQUEST_TOO_LARGE' } })
  expect(refused.json).toMatchObject({ detail: expect.stringContaining("'maxBodyBytes'") as string })
})

test('requests, bodies and hosts are limited', async () => {
  await using fixture = await serverFixture({
    clock: new ManualClock(),
    requestsPerMinute: 5,
    maxBodyBytes: 1024,
  })
  const large = { body: { jobDataMap: { text: 'x'.repeat(2000) } } }
  expect(await fixture.ask('POST /jobs/reports/daily/run', large)).toMatchObject({ status: 413 })
  expect(await statusWithHost(fixture.address, 'evil.example')).toBe(403)
  expect(await statusWithHost(fixture.address, 'localhost:1')).toBe(200)
  for (let count = 0; count < 3; count++) await fixture.ask('GET /jobs')
  const limited = await fixture.ask('GET /jobs')
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '12'])
})

test('names of the loopback interface stay where others are given, as of a proxy', async () => {
  await using fixture = await serverFixture({ allowedHosts: ['ops.example.com'] })
  for (const [host, status] of [
    ['ops.example.com', 200],
    ['localhost', 200],
    ['127.0.0.1', 200],
    ['evil.example', 403],
  ] as const)
    expect([host, await statusWithHost(fixture.address, host)]).toEqual([host, status])
})

function statusWithHost(address: string, host: string): Promise<number | undefined> {
  const { hostname, port } = new URL(address)
  const headers = { host, authorization: `Bearer ${tokens.viewer}` }
  return new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path: '/api/jobs', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

test('a request under one key happens once', async () => {
  const records: AuditRecord[] = []
  await using fixture = await serverFixture({ onAudit: (record) => records.push(record) })
  const run = (key: string, body: object = {}): ReturnType<typeof fixture.ask> =>
    fixture.ask('POST /jobs/reports/daily/run', { body, headers: { 'idempotency-key': key } })
  const [first, second] = await Promise.all([run('k1'), run('k1')])
  expect(first.text).toBe(second.text)
  expect((await run('k1')).text).toBe(first.text)
  expect((await run('k2')).text).not.toBe(first.text)
  expect(await run('k1', { jobDataMap: { other: 1 } })).toMatchObject({
    status: 422,
    json: { code: 'ERR_IDEMPOTENCY_KEY' },
  })
  // As a template with an empty variable makes it.
  for (const key of ['', '  ', 'k'.repeat(201)]) {
    const json = { code: 'ERR_INVALID_ARGUMENT', field: 'idempotency-key' }
    expect(await run(key)).toMatchObject({ status: 400, json })
  }
  const { items } = await fixture.scheduler.queryTriggers({ take: 100 })
  expect(items.filter(({ jobKey }) => jobKey.name === 'daily')).toHaveLength(3)
  expect(records).toHaveLength(2)
})

test('mounts in a server of another make, under a path of its own', async () => {
  const scheduler = await filledScheduler()
  const server = await createServer({
    scheduler,
    auth,
    logger: false,
    basePath: '/admin/jobs',
    dashboard: false,
  })
  const host = createHttpServer((request, response) => {
    const headers = { authorization: request.headers.authorization ?? '' }
    const answering = server
      .fetch(new Request(`http://localhost${request.url ?? ''}`, { headers }))
      .then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        response.end(await answer.text())
      })
    answering.catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    host.close()
    host.closeAllConnections()
    await server.close()
    await scheduler.shutdown()
  })
  const { port } = host.address() as { port: number }
  expect(await ask(`http://127.0.0.1:${port}/admin/jobs`, 'GET /jobs?take=1')).toMatchObject({ status: 200 })
  expect(await ask(`http://127.0.0.1:${port}`, 'GET /jobs')).toMatchObject({ status: 404 })
})

test('several schedulers have places of their own', async () => {
  const other = await filledScheduler({ schedulerName: 'other' })
  const served = await filledScheduler()
  await using fixture = await serverFixture({ served, scheduler: [served, other] })
  await fixture.ask('POST /schedulers/other/triggers/reports/daily/pause')
  expect(await other.getTriggerState(triggerKey('daily', 'reports'))).toBe('PAUSED')
  expect(await served.getTriggerState(triggerKey('daily', 'reports'))).toBe('NORMAL')
  const { json } = await fixture.ask('GET /schedulers')
  expect(json).toMatchObject({ items: [{ schedulerName: 'QuartzScheduler' }, { schedulerName: 'other' }] })
  await other.shutdown()
})

describe('the page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-page-'))
  mkdirSync(join(folder, 'assets'))
  writeFileSync(
    join(folder, 'index.html'),
    '<script nonce="__CSP_NONCE__" src="__BASE_PATH__/assets/app-1.js"></script>',
  )
  writeFileSync(join(folder, 'assets/app-1.js'), 'hello()')
  writeFileSync(join(folder, '..', 'quartz-ts-outside.txt'), 'outside')
  onTestFinishedFiles(folder)

  const get = (address: string, path: string, accept = 'text/html'): Promise<Response> =>
    fetch(`${address}${path}`, { headers: { accept } })

  test('comes for every path that is none of the API, under a strict policy', async () => {
    await using fixture = await serverFixture({ dashboard: folder })
    for (const path of ['/', '/jobs/reports/daily.v2', '/index.html/x']) {
      const page = await get(fixture.address, path)
      const policy = page.headers.get('content-security-policy') ?? ''
      const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? []
      expect([path, page.status, page.headers.get('cache-control')]).toEqual([path, 200, 'no-store'])
      expect(policy).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/)
      expect(await page.text()).toBe(`<script nonce="${nonce}" src="/assets/app-1.js"></script>`)
    }
    const asset = await get(fixture.address, '/assets/app-1.js', '*/*')
    expect(asset.headers.get('cache-control')).toContain('immutable')
    expect(asset.headers.get('content-type')).toContain('text/javascript')
    for (const path of [
      '/assets/none.js',
      '/api/none',
      '/..%2Fquartz-ts-outside.txt',
      '/%2e%2e/quartz-ts-outside.txt',
      '/a%00b',
    ]) {
      const answer = await get(fixture.address, path, 'application/json')
      expect([path, answer.status, await answer.text()]).toMatchObject([
        path,
        404,
        expect.not.stringContaining('outside'),
      ])
    }
  })

  test('is no answer to another method of a path of the API, which says what it takes', async () => {
    await using fixture = await serverFixture({ dashboard: folder, basePath: '/admin' })
    const ask = async (method: string, path: string): Promise<readonly unknown[]> => {
      const answer = await fetch(`${fixture.address}/admin${path}`, { method })
      return [answer.status, answer.headers.get('allow'), await codeOf(answer)]
    }
    const refused = 'ERR_METHOD_NOT_ALLOWED'
    expect(await ask('PATCH', '/api/jobs/mail/hourly')).toEqual([
      405,
      'GET, HEAD, PUT, DELETE, OPTIONS',
      refused,
    ])
    expect(await ask('GET', '/api/jobs/mail/hourly/run')).toEqual([405, 'POST, OPTIONS', refused])
    expect(await ask('POST', '/health/live')).toEqual([405, 'GET, HEAD, OPTIONS', refused])
    expect(await ask('PUT', '/api/events')).toEqual([405, 'GET, OPTIONS', refused])
    expect(await ask('HEAD', '/api/events')).toEqual([405, 'GET, OPTIONS', null])
    expect(await ask('OPTIONS', '/api/jobs')).toEqual([204, 'GET, HEAD, OPTIONS', null])
    expect(await ask('POST', '/health/ready/')).toEqual([404, null, 'ERR_NOT_FOUND'])
    expect(await ask('OPTIONS', '/api/nothing')).toEqual([404, null, 'ERR_NOT_FOUND'])
  })

  test('is no answer to a probe that is mistyped: each but those that there are is a problem', async () => {
    await using fixture = await serverFixture({ dashboard: folder, basePath: '/admin' })
    const mistyped = [
      '/health',
      '/health/ready/',
      '/health/Ready',
      '/Health/ready',
      '/healthz',
      '/metrics/',
      '/metrics/prometheus',
      '//health/ready',
      '/API/health/ready',
      '/livez',
      '/ready',
      '/readyz/',
      '/readiness',
    ]
    for (const path of mistyped) {
      const answer = await get(fixture.address, `/admin${path}`, '*/*')
      expect([path, answer.status, answer.headers.get('content-type'), await answer.json()]).toMatchObject([
        path,
        404,
        'application/problem+json',
        { code: 'ERR_NOT_FOUND' },
      ])
    }
    for (const path of ['/jobs/health/metrics', '/heal', '/jobs/live/ready', '/readyish']) {
      expect([path, (await get(fixture.address, `/admin${path}`)).status]).toEqual([path, 200])
    }
  })

  test.each([
    ['is relative', `.${sep}${relative('.', folder)}`],
    ['ends with a slash', `${folder}${sep}`],
  ])('has its files also of a folder that %s', async (_what, dashboard) => {
    await using fixture = await serverFixture({ dashboard })
    expect((await get(fixture.address, '/assets/app-1.js', '*/*')).status).toBe(200)
  })

  test('is at its path, and not at one that only begins like it', async () => {
    await using fixture = await serverFixture({ dashboard: folder, basePath: '/admin' })
    const statuses = ['/admin', '/admin/', '/admin/jobs', '/administrator', '/administrator/x', '/'].map(
      async (path) => (await get(fixture.address, path)).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 404, 404, 404])
  })

  test('is left out on request', async () => {
    await using without = await serverFixture()
    expect((await get(without.address, '/')).status).toBe(404)
  })
})

async function codeOf(answer: Response): Promise<unknown> {
  const text = await answer.text()
  return text === '' ? null : (JSON.parse(text) as { readonly code: unknown }).code
}

function onTestFinishedFiles(folder: string): void {
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true })
    rmSync(join(folder, '..', 'quartz-ts-outside.txt'), { force: true })
  })
}

test('HEAD is answered as GET, without a body; a stream is not opened by it', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'index.html'), '')
  await using fixture = await serverFixture({ dashboard: folder })
  const { address } = fixture
  const headers = { authorization: `Bearer ${tokens.viewer}`, accept: 'text/html' }
  const head = async (path: string): Promise<[number, string | null, string]> => {
    const answer = await fetch(`${address}${path}`, { method: 'HEAD', headers })
    return [answer.status, answer.headers.get('content-type'), await answer.text()]
  }
  expect(await head('/')).toEqual([200, 'text/html; charset=utf-8', ''])
  expect(await head('/api/jobs')).toEqual([200, 'application/json', ''])
  expect(await head('/api/jobs/no/such')).toEqual([404, 'application/problem+json', ''])
  expect((await head('/api/events'))[0]).toBe(405)
  expect((await head('/api/session/nothing'))[0]).toBe(404)
})

test('a closed server answers that it is, and listens no more', async () => {
  await using fixture = await serverFixture()
  await fixture.server.close()
  const answer = await fixture.server.fetch(new Request('http://localhost/api/jobs'))
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'ERR_SERVER_CLOSED' }])
  await expect(fixture.server.listen({ port: 0 })).rejects.toMatchObject({ code: 'ERR_SERVER_CLOSED' })
  expect(fixture.scheduler.isShutdown).toBe(false)
})

test.each<[string, RequestInit]>([
  ['events', {}],
  ['bulk', { method: 'POST', body: '{"action":"pause","of":"jobs","expected":4}' }],
])('what waits to be known while the server closes begins nothing: %s', async (path, init) => {
  let know: (principal: Principal) => void = () => {}
  const known = new Promise<Principal>((resolve) => {
    know = resolve
  })
  await using fixture = await serverFixture({ auth: { kind: 'hook', authenticate: () => known } })
  const answering = fixture.server.fetch(new Request(`http://localhost/api/${path}`, init))
  await fixture.server.close()
  know({ name: 'late', role: 'admin' })
  const answer = await answering
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'ERR_SERVER_CLOSED' }])
})

test('a server that is closed while it begins to listen does not listen', async () => {
  await using fixture = await serverFixture()
  const listening = fixture.server.listen({ port: 0 })
  await fixture.server.close()
  await expect(listening).rejects.toMatchObject({ code: 'ERR_SERVER_CLOSED' })
})

test('a scheduler that has shut down is told as such', async () => {
  await using fixture = await serverFixture()
  await fixture.scheduler.shutdown()
  await vi.waitFor(
    async () => {
      expect(await fixture.ask('GET /jobs')).toMatchObject({
        status: 503,
        json: { code: 'ERR_SCHEDULER_SHUTDOWN' },
      })
    },
    { timeout: 10_000 },
  )
  expect(await fixture.ask('GET /scheduler')).toMatchObject({ status: 200, json: { status: 'shutdown' } })
})
