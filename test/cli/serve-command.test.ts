import { EventEmitter, once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { systemClock } from '../../src/time/clock.ts'
import { filledScheduler } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { FakeHost, run, temporaryFile } from './fake-host.ts'

/** The address that was printed, and its token. */
async function printed(host: FakeHost): Promise<{ address: string; token: string }> {
  const text = await host.stdout.until(/http:\/\/127\.0\.0\.1:\d+\/\S*/)
  const [, address = '', token = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/(?:#token=([\w-]{43}))?/.exec(text) ?? []
  return { address, token }
}

const get = (address: string, path: string, token: string): Promise<Response> =>
  fetch(`${address}/api${path}`, { headers: { authorization: `Bearer ${token}` } })

describe('quartz-ts serve', () => {
  test('serves the schedulers on a store with a token that is printed once', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'jobs.db')
    const scheduler = await filledScheduler({ jobStore: sqliteJobStore({ filename: file }) })
    const host = new FakeHost({ clock: systemClock })
    const tokenFile = join(folder, 'token')
    const args = ['serve', '--store', file, '--port', '0', '--token-hash-file', tokenFile]
    args.push('--allowed-hosts', 'ops.example.com')
    const ended = runCli(args, host)
    const { address, token } = await printed(host)
    expect(await (await get(address, '/jobs', token)).json()).toMatchObject({ items: { length: 4 } })
    expect((await get(address, '/jobs', 'wrong')).status).toBe(401)
    host.send('SIGTERM')
    expect(await ended).toBe(0)
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600)

    const again = new FakeHost({ clock: systemClock })
    const endedAgain = runCli([...args, '--read-only'], again)
    const second = await printed(again)
    expect(second.token).toBe('')
    expect((await get(second.address, '/jobs', token)).status).toBe(200)
    const refused = await fetch(`${second.address}/api/scheduler/pause-all`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(refused.status).toBe(403)
    again.send('SIGINT')
    expect(await endedAgain).toBe(0)
    expect(again.signalListeners).toBe(0)
    await scheduler.shutdown()
  })

  test('keeps sessions over a restart with a secret of the settings', async () => {
    const folder = temporaryFolder()
    await (
      await filledScheduler({ jobStore: sqliteJobStore({ filename: join(folder, 'jobs.db') }) })
    ).shutdown()
    const serving = {
      port: 0,
      tokenHashFile: join(folder, 'token'),
      sessionSecret: 'a secret of thirty-two letters..',
    }
    const settings = { jobStore: `sqlite:${join(folder, 'jobs.db')}`, serve: serving }
    const file = temporaryFile('quartz-ts.config.mjs', `export default ${JSON.stringify(settings)}\n`)
    const served = async (use: (at: Awaited<ReturnType<typeof printed>>) => Promise<void>): Promise<void> => {
      const host = new FakeHost({ clock: systemClock })
      const ended = runCli(['serve', '--config', file], host)
      await use(await printed(host))
      host.send('SIGTERM')
      expect(await ended).toBe(0)
    }
    let cookie = ''
    await served(async ({ address, token }) => {
      const body = JSON.stringify({ token })
      const headers = { 'content-type': 'application/json' }
      const begun = await fetch(`${address}/api/session`, { method: 'POST', headers, body })
      cookie = begun.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    })
    await served(async ({ address }) => {
      expect((await fetch(`${address}/api/jobs`, { headers: { cookie } })).status).toBe(200)
    })
  })

  test.each([
    ['on the command line', ['--allowed-origins', 'https://a.example,https://ops.example.com:8443'], {}],
    ['in the settings', [], { allowedOrigins: ['https://ops.example.com:8443'] }],
  ])('takes changes of pages whose origin is named %s', async (_where, args, serve) => {
    const store = join(temporaryFolder(), 'jobs.db')
    await (await filledScheduler({ jobStore: sqliteJobStore({ filename: store }) })).shutdown()
    const settings = { jobStore: `sqlite:${store}`, serve: { port: 0, ...serve } }
    const file = temporaryFile('quartz-ts.config.mjs', `export default ${JSON.stringify(settings)}\n`)
    const host = new FakeHost({ clock: systemClock })
    const ended = runCli(['serve', '--config', file, ...args], host)
    const { address, token } = await printed(host)
    const signIn = async (origin: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' }
      const body = JSON.stringify({ token })
      return (await fetch(`${address}/api/session`, { method: 'POST', headers, body })).status
    }
    expect(await signIn('https://ops.example.com:8443')).toBe(200)
    expect(await signIn('https://ops.example.com:9443')).toBe(403)
    host.send('SIGTERM')
    expect(await ended).toBe(0)
  })

  test('does not keep others from signing in behind a proxy that it trusts', async () => {
    const store = join(temporaryFolder(), 'jobs.db')
    await (await filledScheduler({ jobStore: sqliteJobStore({ filename: store }) })).shutdown()
    const host = new FakeHost({ clock: systemClock })
    const ended = runCli(['serve', '--store', store, '--port', '0', '--trusted-proxies', '127.0.0.1'], host)
    const { address } = await printed(host)
    const signIn = async (client: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': client }
      const body = JSON.stringify({ token: 'wrong' })
      return (await fetch(`${address}/api/session`, { method: 'POST', headers, body })).status
    }
    const guesses: number[] = []
    for (let count = 0; count < 11; count++) guesses.push(await signIn('203.0.113.1'))
    expect(guesses.at(-1)).toBe(429)
    expect(await signIn('203.0.113.2')).toBe(401)
    host.send('SIGTERM')
    expect(await ended).toBe(0)
  })

  test.each([
    [[], /'serve' needs --store/],
    [['--store', 'x.db', '--port', '70000'], /--port takes a whole number from 0 to 65535/],
    [['--store', 'x.db', '--prot', '1'], /Did you mean '--port'/],
  ])('%j is refused', async (args, message) => {
    const { code, err } = await run(['serve', ...args])
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })
})

test('serve makes no store of a name that was misspelt', async () => {
  const store = join(temporaryFolder(), 'misspelt.db')
  const { code, err } = await run(['serve', '--store', store, '--port', '0'])
  expect([code, existsSync(store)]).toEqual([2, false])
  expect(err).toContain(`There is no file '${store}'`)
})

test('serve does not take a file in which nothing is for a store', async () => {
  const store = join(temporaryFolder(), 'begun.db')
  writeFileSync(store, '')
  const { code, err } = await run(['serve', '--store', store, '--port', '0'])
  expect(code).toBe(2)
  expect(err).toContain(`Nothing is in the file '${store}'`)
})

test('serve --start ends when another node has the store', async () => {
  const store = join(temporaryFolder(), 'jobs.db')
  const text = `class Echo { execute() {} }\nexport default { jobStore: ${JSON.stringify(`sqlite:${store}`)},
    serve: { port: 0 }, scheduler: { jobs: [Echo] } }\n`
  const args = ['serve', '--start', '--config', temporaryFile('quartz-ts.config.mjs', text)]
  const first = new FakeHost({ clock: systemClock })
  const ended = runCli(args, first)
  const { address, token } = await printed(first)
  await vi.waitFor(
    async () => {
      expect(await (await get(address, '/scheduler', token)).json()).toMatchObject({ status: 'started' })
    },
    { timeout: 20_000 },
  )
  expect(statSync(store).mode & 0o077).toBe(0)
  const second = new FakeHost({ clock: systemClock })
  expect(await runCli(args, second)).toBe(1)
  expect(second.stderr.text).toContain('in use')
  await expect(fetch((await printed(second)).address)).rejects.toThrow('fetch failed')
  first.send('SIGTERM')
  expect(await ended).toBe(0)
})

test('serve says so when it cannot listen where it was told to', async () => {
  const store = join(temporaryFolder(), 'jobs.db')
  expect(await run(['migrate', '--store', store])).toMatchObject({ code: 0 })
  // An address for documentation, which is no machine's.
  const noFolder = ['--token-hash-file', join(temporaryFolder(), 'none', 'token')]
  expect(await run(['serve', '--store', store, '--port', '0', ...noFolder])).toMatchObject({
    code: 2,
    err: /^quartz-ts: --token-hash-file: .* cannot be used: ENOENT/,
  })
  const { code, err } = await run(['serve', '--store', store, '--port', '0', '--host', '192.0.2.1'])
  expect(code).toBe(2)
  expect(err).toMatch(/^quartz-ts: Cannot listen there: listen EADDRNOTAVAIL.* 192\.0\.2\.1/)
})

test('serve that cannot listen leaves no token that nobody has seen', async () => {
  const folder = temporaryFolder()
  const args = [
    'serve',
    '--store',
    join(folder, 'jobs.db'),
    '--token-hash-file',
    join(folder, 'token'),
    '--port',
  ]
  expect(await run(['migrate', '--store', join(folder, 'jobs.db')])).toMatchObject({ code: 0 })
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => {
    taken.close()
  })
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  expect(await run([...args, String(port)])).toMatchObject({ code: 2, err: /is taken/ })
  const host = new FakeHost({ clock: systemClock })
  const ended = runCli([...args, '0'], host)
  const { address, token } = await printed(host)
  expect((await get(address, '/jobs', token)).status).toBe(200)
  host.send('SIGTERM')
  expect(await ended).toBe(0)
})

test.each(['serve', 'crontab'])('a second signal ends %s while its start hangs', async (command) => {
  const started = new EventEmitter()
  const store = new DelegatingJobStore(ramJobStore())
  store.schedulerStarted = () => {
    started.emit('asked')
    return new Promise(() => {})
  }
  const at = `store of ${command}`
  Reflect.set(globalThis, at, store)
  onTestFinished(() => {
    Reflect.deleteProperty(globalThis, at)
  })
  const text = `class Echo { execute() {} }
    export default { jobStore: globalThis[${JSON.stringify(at)}], serve: { port: 0 }, scheduler: { jobs: [Echo] } }\n`
  const what = command === 'serve' ? ['--start'] : [temporaryFile('crontab', '0 5 * * * date\n')]
  const host = new FakeHost({ clock: systemClock })
  const asked = once(started, 'asked')
  const ended = runCli([command, ...what, '--config', temporaryFile('quartz-ts.config.mjs', text)], host)
  await asked
  host.send('SIGTERM')
  host.send('SIGINT')
  expect(await ended).toBe(130)
})

test('crontab --serve shows where the dashboard is, and what it shows runs', async () => {
  const file = temporaryFile('crontab', '* * * * * true\n')
  const host = new FakeHost({ clock: systemClock })
  const ended = runCli(['crontab', file, '--store', 'memory', '--serve', '0'], host)
  await host.stdout.until(/Dashboard: http/)
  const { address, token } = await printed(host)
  expect(await (await get(address, '/jobs', token)).json()).toMatchObject({ items: [{ jobType: 'command' }] })
  expect(await (await get(address, '/scheduler', token)).json()).toMatchObject({ status: 'started' })
  host.send('SIGINT')
  expect(await ended).toBe(0)
})
