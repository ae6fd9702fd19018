import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { wasSent } from '../../src/cli/api/http-client.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { systemClock } from '../../src/time/clock.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'
import { serverFixture, tokens } from '../support/server-fixture.ts'
import { FakeHost } from './fake-host.ts'

interface SilentServer {
  readonly address: string
  /** Resolves when a request came that has no answer. */
  readonly asked: Promise<void>
}

/** A server behind a proxy that leaves some requests without its answer. */
async function silentServer(
  isSilent: (path: string) => boolean,
  instead: (response: ServerResponse) => void = () => {},
): Promise<SilentServer> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  let heard = (): void => {}
  const asked = new Promise<void>((resolve) => {
    heard = resolve
  })
  const proxy = createServer((request, response) => {
    const { url = '', method = 'GET', headers } = request
    const answer = async (): Promise<void> => {
      const { authorization = '', 'content-type': type = 'application/json' } = headers
      const body = method === 'GET' ? null : await text(request)
      const answered = await fetch(fixture.address + url, {
        method,
        headers: { authorization, 'content-type': type },
        body,
      })
      response.writeHead(answered.status, { 'content-type': 'application/json' })
      response.end(await answered.text())
    }
    if (isSilent(url)) {
      instead(response)
      heard()
    } else answer().catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return { address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, asked }
}

const hostOf = (): FakeHost =>
  new FakeHost({ clock: systemClock, environment: { QUARTZ_TS_TOKEN: tokens.admin } })

describe('a server that answers no more', () => {
  test('keeps a bulk action from ending at the first signal and not at the second', async () => {
    const { address, asked } = await silentServer((path) => /\/bulk\/./.test(path))
    const host = hostOf()
    const ended = runCli(['pause', 'jobs', '--group', 'reports', '--yes', '--server', address], host)
    await asked
    host.send('SIGINT')
    host.send('SIGTERM')
    expect(await ended).toBe(130)
    expect(host.stderr.text).toMatch(/^Bulk action \S+ was at \d+ of \d+ and may go on: the dashboard/)
    expect(host.signalListeners).toBe(0)
  })

  test('does not keep log --follow from ending at a signal', async () => {
    const { address, asked } = await silentServer((path) => path.includes('/executing'))
    const host = hostOf()
    const ended = runCli(['log', 'x', '--follow', '--server', address], host)
    await asked
    host.send('SIGINT')
    expect(await ended).toBe(0)
    expect(host.signalListeners).toBe(0)
  })
})

const lost: Record<string, (response: ServerResponse) => void> = {
  'the time is up': () => {},
  'the connection breaks': (response) => response.destroy(),
  'the server is overloaded': (response) => response.writeHead(429).end('{"detail":"Too many."}'),
  'another process knows nothing of it': (response) => response.writeHead(404).end('{"detail":"None."}'),
}

test.each(Object.keys(lost))(
  'a bulk action that is out of sight is named, since it may go on: %s',
  async (why) => {
    const { address, asked } = await silentServer((path) => /\/bulk\/./.test(path), lost[why])
    const host = hostOf()
    const place = ['--server', address, '--timeout', '300ms']
    const ended = runCli(['pause', 'jobs', '--group', 'reports', '--yes', ...place], host)
    await asked
    expect(await ended).toBe(6)
    expect(host.stderr.text).toMatch(/^Bulk action \S+ was at .*\n./)
  },
)

test.each(Object.keys(lost))('a node that is out of sight was told to drain: %s', async (why) => {
  const { address } = await silentServer((path) => path.endsWith('/nodes'), lost[why])
  const host = hostOf()
  const place = ['--server', address, '--timeout', '300ms']
  expect(await runCli(['nodes', 'drain', 'NON_CLUSTERED', ...place], host)).toBe(6)
  expect(host.stderr.text).toMatch(/^Node 'NON_CLUSTERED' was told to drain, and may go on\.\n./)
})

test('a name none of whose addresses takes a connection was sent nothing, whatever each of them says', () => {
  const failed = (code: string, syscall?: string): Error => Object.assign(new Error(code), { code, syscall })
  const none = [failed('ETIMEDOUT', 'connect'), failed('ECONNREFUSED', 'connect')]
  expect(wasSent(Object.assign(new AggregateError(none), { code: 'ETIMEDOUT' }))).toBe(false)
  expect(wasSent(failed('ETIMEDOUT', 'read'))).toBe(true)
})

describe('a change whose answer is lost', () => {
  /** Takes each request whole, and then answers with what is given, or breaks the connection off. */
  async function brokenServer(answer: ((response: ServerResponse) => void) | null): Promise<string> {
    const server = createServer((request, response) => {
      request.on('end', () => {
        if (answer === null) request.socket.destroy()
        else answer(response)
      })
      request.resume()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const answers: Record<string, ((response: ServerResponse) => void) | null> = {
    'the connection breaks': null,
    'the answer breaks off': (response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{')
      response.socket?.end()
    },
    'a proxy gives up': (response) => response.writeHead(504).end('<html>'),
    'the connection behind a proxy breaks': (response) =>
      response.writeHead(503).end('upstream connect error'),
    'the server does not know': (response) =>
      response.writeHead(503).end(JSON.stringify({ detail: 'Lost.', code: 'ERR_COMMIT_UNKNOWN' })),
    'the time is up': () => {},
    'the server fails': (response) =>
      response.writeHead(500).end(JSON.stringify({ detail: 'inner', code: 'ERR_INTERNAL' })),
    'a proxy fails': (response) => response.writeHead(500).end('<html>'),
    'a gateway answers what no server of this kind does': (response) => response.end('{"ok":true}'),
  }

  test.each(Object.keys(answers))('may have been made: %s', async (why) => {
    const address = await brokenServer(answers[why] ?? null)
    const host = hostOf()
    expect(await runCli(['run', 'job', 'a/b', '--server', address, '--timeout', '2s'], host)).toBe(6)
    expect(host.stderr.text).toMatch(/ The change may have been made: look before you repeat it\.$/m)
  })

  test('was not made where a proxy takes no more requests', async () => {
    const address = await brokenServer((response) => response.writeHead(429).end('<html>'))
    const host = hostOf()
    expect(await runCli(['run', 'job', 'a/b', '--server', address], host)).toBe(5)
    expect(host.stderr.text).toContain('its proxy says')
  })

  test('was not made where the server itself says that it is away', async () => {
    const problem = JSON.stringify({ detail: 'The store is away.', code: 'ERR_STORE_UNAVAILABLE' })
    const address = await brokenServer((response) => response.writeHead(503).end(problem))
    expect(await runCli(['run', 'job', 'a/b', '--server', address], hostOf())).toBe(5)
  })

  test('was not made where the server says that it cannot make it', async () => {
    const problem = JSON.stringify({ detail: 'This store cannot do that.', code: 'ERR_NOT_SUPPORTED' })
    const address = await brokenServer((response) => response.writeHead(501).end(problem))
    expect(await runCli(['run', 'job', 'a/b', '--server', address], hostOf())).toBe(1)
  })

  test('was not asked for by a look at what no server of this kind answers', async () => {
    const address = await brokenServer((response) => response.end('{}'))
    const looks = ['jobs a/b', 'triggers a/b', 'status a/b', 'shards a/b', 'export', 'dump', 'log a --follow']
    for (const look of [...looks, 'jobs', 'nodes', 'history', 'run job a/b --dry-run']) {
      const host = hostOf()
      expect([look, await runCli([...look.split(' '), '--server', address], host)]).toEqual([look, 1])
      expect(host.stderr.text).toContain('is no quartz-ts server, or its path is wrong. It answered 200')
    }
  })

  test('is no such thing where the path is wrong, or http is spoken', async () => {
    const { address } = await serverFixture().then((fixture) => {
      onTestFinished(() => fixture[Symbol.asyncDispose]())
      return fixture
    })
    for (const path of ['/api', '/jobs/page']) {
      const host = hostOf()
      expect(await runCli(['run', 'job', 'reports/daily', '--server', address + path], host)).toBe(1)
      expect(host.stderr.text).toContain('its path is wrong: give it the address of its page, without /api.')
    }
    const host = hostOf()
    expect(await runCli(['jobs', '--server', address.replace('http:', 'https:')], host)).toBe(5)
    expect(host.stderr.text).toMatch(
      /^quartz-ts: '.*' cannot be reached: what listens there speaks http, not https\.\n$/,
    )
  })

  test('is no such thing where its certificate is of no known authority: how to name one is said', async () => {
    const { certificate: cert, key } = selfSignedCertificate()
    const server = createTlsServer({ cert, key })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
    })
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const host = hostOf()
    expect(await runCli(['run', 'job', 'reports/daily', '--server', address], host)).toBe(5)
    // Later Node.js names a way of its own behind the reason.
    expect(host.stderr.text.replace(/; if the root CA is .*--use-system-ca/, '')).toBe(
      `quartz-ts: '${address}' cannot be reached: self-signed certificate. If you trust it, set NODE_EXTRA_CA_CERTS ` +
        'to a file with it, or with the certificate of the authority that signed it (PEM).\n',
    )
  })

  test('is no such thing for a look, a dry run, or where nobody listens', async () => {
    for (const answer of [null, (response: ServerResponse) => response.writeHead(503).end()]) {
      const address = await brokenServer(answer)
      for (const args of [['jobs'], ['run', 'job', 'a/b', '--dry-run']]) {
        const host = hostOf()
        expect(await runCli([...args, '--server', address], host)).toBe(5)
        expect(host.stderr.text).not.toContain('may have been made')
      }
    }
    expect(await runCli(['run', 'job', 'a/b', '--server', 'http://127.0.0.1:9'], hostOf())).toBe(5)
    expect(await runCli(['run', 'job', 'a/b', '--server', 'http://127.0.0.1:3'], hostOf())).toBe(5)
  })
})
