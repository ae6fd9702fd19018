import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { addressIn, application, endOf, said, start } from '../support/application.ts'
import { projectRoot } from '../support/source-files.ts'

const main = join(projectRoot, 'dist/cli/main.js')

/** A node in a process of its own. */
async function node(...options: readonly string[]) {
  const child = start([main, 'serve', '--start', ...options], application())
  const ended = endOf(child)
  const { address, token } = addressIn(await said(child, /http:\S+#token=\S+\n/))
  const ask = (path: string, by: string = token): Promise<Response> =>
    fetch(`${address}${path}`, { headers: { authorization: `Bearer ${by}` } })
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const { status } = await fetch(`${address}${path}`, { method, headers, body: JSON.stringify(body) })
    expect(status).toBe(200)
  }
  const isReady = (status: number): Promise<void> =>
    vi.waitFor(
      async () => {
        expect((await ask('/health/ready')).status).toBe(status)
      },
      { timeout: 20_000 },
    )
  return { child, ended, ask, send, isReady }
}

/** Returns when a job runs that ignores its signal. */
async function runDeaf(
  ask: (path: string) => Promise<Response>,
  send: (method: string, path: string, body: object) => Promise<void>,
): Promise<void> {
  await send('PUT', '/api/jobs/g/deaf', { jobType: 'deaf' })
  await send('POST', '/api/jobs/g/deaf/run', {})
  await vi.waitFor(
    async () => {
      expect(await (await ask('/api/executing')).text()).toContain('deaf')
    },
    { timeout: 20_000 },
  )
}

describe('quartz-ts serve --start', () => {
  test('ends when it has closed everything, whatever the settings keep open', async () => {
    const child = start([main, 'serve', '--start'], application('setInterval(() => {}, 1000)'))
    const ended = endOf(child)
    await said(child, /http:\S+#token=\S+\n/)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  const withFullDisk = test.skipIf(!existsSync('/dev/full')) // reason: other systems have no such device
  withFullDisk('goes on when its warnings cannot be written', async () => {
    const full = openSync('/dev/full', 'w')
    const code = `setInterval(() => {
      process.stderr.write('a warning\\n', (error) => {
        if (error) console.log('not written')
      })
    }, 10)`
    const child = start([main, 'serve', '--start'], application(code), full)
    closeSync(full)
    const ended = endOf(child)
    const both = Promise.all([said(child, /http:\S+#token=\S+\n/), said(child, /not written\nnot written/)])
    const { address } = addressIn((await both)[0])
    expect((await fetch(`${address}/health/live`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  test('with --not-ready says so and goes on answering; a second signal ends it at once', async () => {
    const { child, ended, ask, isReady } = await node('--not-ready', '1h')
    await isReady(200)
    child.kill('SIGTERM')
    await isReady(503)
    expect(await (await ask('/health/ready')).json()).toMatchObject({ reasons: [{ code: 'stopping' }] })
    expect(await (await ask('/api/scheduler')).json()).toMatchObject({ status: 'started' })
    child.kill('SIGINT')
    expect(await ended).toBe(130)
  })

  test('with --not-ready ends by itself when its time is over', async () => {
    const { child, ended, isReady } = await node('--not-ready', '1s')
    await isReady(200)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  test('ends without a job that goes on when its time is over', async () => {
    const { child, ended, ask, send, isReady } = await node('--drain', '1ms')
    await isReady(200)
    await runDeaf(ask, send)
    child.kill('SIGTERM')
    expect(await ended).toBe(124)
  })

  test('gives running jobs their time also when nobody reads what it prints any more', async () => {
    const { child, ended, ask, send, isReady } = await node('--drain', '1ms')
    await isReady(200)
    await runDeaf(ask, send)
    // As Ctrl-C does to the reader in `quartz-ts serve --start | tee log`.
    child.stdout?.destroy()
    child.kill('SIGINT')
    expect(await ended).toBe(124)
  })

  test('with --metrics measures itself, for those who may see it', async () => {
    const { child, ended, ask, isReady } = await node('--metrics')
    await isReady(200)
    expect(await (await ask('/metrics')).text()).toMatch(/^quartz_scheduler_started\{[^}]*\} 1$/m)
    expect((await ask('/metrics', 'wrong')).status).toBe(401)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })

  test('without --metrics has none', async () => {
    const { child, ended, ask } = await node()
    expect((await ask('/metrics')).status).toBe(404)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  })
})
