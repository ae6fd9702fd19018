import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import { createXxlJobAdmin, createXxlJobExecutor, type XxlJobAdminOptions } from '../../src/xxl-job.ts'
import { latch } from '../support/latch.ts'
import { callExecutor } from '../support/xxl-job-admin.ts'
import { temporaryFolder } from './executor-fixture.ts'

async function startAdmin(options: XxlJobAdminOptions) {
  const admin = createXxlJobAdmin({ logger: false, ...options })
  const server = createServer((request, response) => {
    admin.listener(request, response)
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(async () => {
    await admin.close()
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const call = async (path: string, token: string | null, body: string | object) => {
    const headers = token === null ? {} : { 'xxl-job-access-token': token }
    return (await callExecutor(address, path, body, { headers })).json
  }
  const register = (appName: string, token: string | null, path = '/api/registry') =>
    call(path, token, {
      registryGroup: 'EXECUTOR',
      registryKey: appName,
      registryValue: 'http://10.0.0.7:9999/',
    })
  return { admin, address, call, register }
}

const wrong = { code: 500, msg: 'The access token is wrong.' }

test('a token of an AppName is good for that alone', async () => {
  const { admin, register } = await startAdmin({
    accessToken: 'common',
    accessTokens: { billing: 'b1', mail: 'm1' },
  })
  expect(await register('billing', 'b1')).toMatchObject({ code: 200 })
  expect(await register('reports', 'common')).toMatchObject({ code: 200 })
  for (const [appName, token] of [
    ['billing', 'common'],
    ['billing', 'm1'],
    ['reports', 'b1'],
    ['billing', null],
    ['billing', 'b2'],
  ] as const) {
    expect(await register(appName, token)).toMatchObject(wrong)
    expect(await register(appName, token, '/api/registryRemove')).toMatchObject(wrong)
  }
  expect(admin.executors().map(({ appName }) => appName)).toEqual(['billing', 'reports'])
  expect(await register('billing', 'b1', '/api/registryRemove')).toMatchObject({ code: 200 })
})

test('without a common token only AppNames with one of their own register', async () => {
  const { register } = await startAdmin({ accessToken: null, accessTokens: { billing: 'b1' } })
  expect(await register('billing', 'b1')).toMatchObject({ code: 200 })
  expect(await register('billing', null)).toMatchObject(wrong)
  expect(await register('reports', 'b1')).toMatchObject({ code: 500 })
})

test('an executor runs with the token of its AppName, and others cannot report its results', async () => {
  const { admin, address, call } = await startAdmin({
    accessToken: 'common',
    accessTokens: { billing: 'b1', mail: 'm1' },
  })
  const gate = latch()
  const started = latch<number>()
  const executor = createXxlJobExecutor({
    adminAddresses: address,
    appName: 'billing',
    accessToken: 'b1',
    port: 0,
    host: '127.0.0.1',
    logPath: temporaryFolder(),
    logger: false,
    handlers: {
      async invoices(context) {
        started.open(context.logId)
        await gate.promise
        context.handleSuccess('of its own')
      },
    },
  })
  onTestFinished(() => executor.close({ timeoutMs: 0 }))
  const registered = admin.events.next('executorRegistered')
  await executor.start()
  await registered
  const run = admin.run({ appName: 'billing', jobId: 17, handler: 'invoices' })
  const logId = await started.promise
  for (const token of ['m1', 'common']) {
    const reply = await call('/api/callback', token, [{ logId, handleCode: 200, handleMsg: 'forged' }])
    expect(reply).toMatchObject({ code: 200 })
  }
  gate.open()
  expect((await run).parts[0]?.message).toBe('of its own')
})

test('requests of one client are limited, and let in again with time', async () => {
  const clock = new ManualClock()
  const { register } = await startAdmin({ accessToken: 'common', requestsPerMinute: 2, clock })
  expect(await register('billing', 'wrong')).toMatchObject(wrong)
  expect(await register('billing', 'common')).toMatchObject({ code: 200 })
  const refused = { code: 500, msg: 'Too many requests, please try again later.' }
  expect(await register('billing', 'common')).toMatchObject(refused)
  await clock.advance(30_000)
  expect(await register('billing', 'common')).toMatchObject({ code: 200 })
  expect(await register('billing', 'common')).toMatchObject(refused)
})

test.each([
  [{ accessTokens: { 'no good': 'x' } }, 'accessTokens'],
  [{ accessTokens: { billing: 'no good' } }, 'accessTokens.billing'],
  [{ accessTokens: { billing: null } }, 'accessTokens.billing'],
  [{ requestsPerMinute: 0 }, 'requestsPerMinute'],
])('wrong options are refused: %j', (options, name) => {
  const create = (): unknown => createXxlJobAdmin({ accessToken: null, ...(options as object) })
  expect(create).toThrow(new RegExp(`'${name}'`))
})
