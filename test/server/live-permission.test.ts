import { expect, onTestFinished, test, vi } from 'vitest'
import type { Logger } from '../../src/core/logger.ts'
import { hashPassword } from '../../src/server/auth/passwords.ts'
import type { Principal } from '../../src/server/catalogue/role.ts'
import type { SchedulerServerOptions } from '../../src/server/server-options.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { type ServerFixture, serverFixture } from '../support/server-fixture.ts'

const ann: Principal = { name: 'ann', role: 'viewer' }

interface Host extends ServerFixture {
  readonly clock: ManualClock
  /** What the host was asked so far. */
  readonly asked: () => number
  /** What the log has of errors. */
  readonly logged: readonly string[]
  answer: () => Principal | null | Promise<Principal | null>
}

/** A server whose host says who asks. */
async function hostFixture(options: Partial<SchedulerServerOptions> = {}): Promise<Host> {
  const clock = new ManualClock()
  const logged: string[] = []
  const error: Logger['error'] = (_fields, message) => logged.push(message)
  let asked = 0
  const authenticate = (): ReturnType<Host['answer']> => {
    asked++
    return host.answer()
  }
  const quiet = (): void => {}
  const fixture = await serverFixture({
    clock,
    auth: { kind: 'hook', authenticate },
    logger: { debug: quiet, info: quiet, warn: quiet, error },
    ...options,
  })
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const host: Host = { ...fixture, clock, logged, asked: () => asked, answer: () => ann }
  return host
}

interface Stream {
  /** Becomes true with its end. */
  readonly hasEnded: () => boolean
}

/** A stream without a connection, so that its end is known at once. */
async function opened({ server }: ServerFixture, headers: Record<string, string> = {}): Promise<Stream> {
  const ending = new AbortController()
  const request = new Request('http://localhost/api/events', { headers, signal: ending.signal })
  const { status, body } = await server.fetch(request)
  if (status !== 200 || body === null) expect.fail(`answered ${status}`)
  let hasEnded = false
  const read = async (): Promise<void> => {
    await body.pipeTo(new WritableStream())
    hasEnded = true
  }
  const reading = read()
  onTestFinished(async () => {
    ending.abort()
    await reading
  })
  return { hasEnded: () => hasEnded }
}

test('a stream ends within 15 seconds once the host no longer knows who reads it', async () => {
  const host = await hostFixture()
  const stream = await opened(host)
  for (let minute = 0; minute < 4; minute++) await host.clock.advance(15_000)
  expect([host.asked(), stream.hasEnded()]).toEqual([5, false])
  host.answer = () => null
  expect(await host.ask('GET /jobs')).toMatchObject({ status: 401 })
  await host.clock.advance(15_000)
  await vi.waitUntil(stream.hasEnded, { timeout: 10_000 })
  const asked = host.asked()
  await host.clock.advance(60_000)
  expect([host.asked(), host.logged]).toEqual([asked, []])
})

test('a stream ends when others, or other groups, are what its reader may see; not for another role', async () => {
  const host = await hostFixture()
  const reports: Principal = { name: 'ann', role: null, jobGroups: { reports: 'viewer', mail: 'viewer' } }
  host.answer = () => reports
  const fewer = await opened(host)
  host.answer = () => ({ ...reports, jobGroups: { mail: 'operator', reports: 'admin' } })
  for (let count = 0; count < 2; count++) await host.clock.advance(15_000)
  expect([host.asked(), fewer.hasEnded()]).toEqual([3, false])
  host.answer = () => ({ ...reports, jobGroups: { mail: 'viewer' } })
  await host.clock.advance(15_000)
  await vi.waitUntil(fewer.hasEnded, { timeout: 10_000 })
  host.answer = () => ann
  const renamed = await opened(host)
  host.answer = () => ({ name: 'bob', role: 'viewer' })
  await host.clock.advance(15_000)
  await vi.waitUntil(renamed.hasEnded, { timeout: 10_000 })
})

test('a host that fails, or answers nobody at all, ends the stream; the server goes on', async () => {
  const host = await hostFixture()
  const failing = await opened(host)
  host.answer = () => {
    throw new Error('the directory is away')
  }
  await host.clock.advance(15_000)
  await vi.waitUntil(failing.hasEnded, { timeout: 10_000 })
  expect(host.logged).toEqual(['it could not be found out who reads a stream of events'])
  host.answer = () => ann
  const hanging = await opened(host)
  let fail: (error: Error) => void = () => {}
  host.answer = () => new Promise((_resolve, reject) => (fail = reject))
  await host.clock.advance(15_000)
  const asked = host.asked()
  await host.clock.advance(14_999)
  expect([hanging.hasEnded(), host.asked()]).toEqual([false, asked])
  await host.clock.advance(1)
  await vi.waitUntil(hanging.hasEnded, { timeout: 10_000 })
  // An answer that comes too late is of no interest.
  fail(new Error('it took too long'))
  host.answer = () => ann
  expect(await host.ask('GET /jobs')).toMatchObject({ status: 200 })
  expect(host.logged).toHaveLength(1)
})

test('a stream ends with the session with which it was opened', async () => {
  const passwordHash = await hashPassword('correct horse')
  const host = await hostFixture({
    sessionMs: 60_000,
    auth: { kind: 'users', users: [{ ...ann, passwordHash }] },
  })
  const body = { name: 'ann', password: 'correct horse' }
  const login = await host.ask('POST /session', { who: null, body })
  const headers = { cookie: login.headers.get('set-cookie')?.split(';')[0] ?? '' }
  const stream = await opened(host, headers)
  for (let count = 0; count < 3; count++) await host.clock.advance(15_000)
  expect(await host.ask('GET /jobs', { who: null, headers })).toMatchObject({ status: 200 })
  expect(stream.hasEnded()).toBe(false)
  await host.clock.advance(15_000)
  await vi.waitUntil(stream.hasEnded, { timeout: 10_000 })
})
