import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { systemClock } from '../../src/time/clock.ts'
import { serverFixture, tokens } from '../support/server-fixture.ts'
import { FakeHost } from './fake-host.ts'

interface SilentServer {
  readonly address: string
  /** Resolves when a request came that has no answer. */
  readonly asked: Promise<void>
}

/** A server behind a proxy that leaves some requests without an answer. */
async function silentServer(isSilent: (path: string) => boolean): Promise<SilentServer> {
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
    if (isSilent(url)) heard()
    else answer().catch((error: unknown) => response.destroy(error as Error))
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

test('a bulk action whose server is away is named, since it may go on', async () => {
  const { address, asked } = await silentServer((path) => /\/bulk\/./.test(path))
  const host = hostOf()
  const place = ['--server', address, '--timeout', '300ms']
  const ended = runCli(['pause', 'jobs', '--group', 'reports', '--yes', ...place], host)
  await asked
  expect(await ended).toBe(5)
  expect(host.stderr.text).toMatch(/^Bulk action \S+ was at .*\n.*No answer within 0.3 s/)
})
