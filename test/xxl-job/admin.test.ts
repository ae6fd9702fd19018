import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  type XxlJobAdmin,
  type XxlJobAdminOptions,
  type XxlJobExecutorOptions,
  type XxlJobRunOptions,
} from '../../src/xxl-job.ts'
import { latch } from '../support/latch.ts'
import { callExecutor } from '../support/xxl-job-admin.ts'
import { temporaryFolder } from './executor-fixture.ts'

const accessToken = 's3cret'
const headers = { 'xxl-job-access-token': accessToken }

/** An admin that is reached over HTTP. */
async function startAdmin(options: Partial<XxlJobAdminOptions> = {}) {
  const admin = createXxlJobAdmin({ accessToken, logger: false, ...options })
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
  const call = async (path: string, body: string | object) =>
    (await callExecutor(address, path, body, { headers })).json
  return { admin, address, call }
}

async function startExecutor(
  adminAddresses: string,
  handlers: XxlJobExecutorOptions['handlers'] = {},
  options: Partial<XxlJobExecutorOptions> = {},
): Promise<string> {
  const executor = createXxlJobExecutor({
    adminAddresses,
    appName: 'billing',
    accessToken,
    port: 0,
    host: '127.0.0.1',
    logPath: temporaryFolder(),
    logger: false,
    handlers,
    ...options,
  })
  onTestFinished(() => executor.close({ timeoutMs: 0 }))
  const registered = executor.events.next('registered')
  await executor.start()
  await registered
  return executor.status().address ?? ''
}

/** An executor that answers each path as told, with what it was asked. */
async function fakeExecutor(answers: Readonly<Record<string, string>>) {
  const asked: string[] = []
  const server = createServer((incoming, response) => {
    asked.push(incoming.url ?? '')
    incoming.resume()
    incoming.once('end', () => {
      const answer = answers[incoming.url ?? '']
      if (answer === undefined) response.destroy()
      else response.end(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { asked, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const good = '{"code":200}'
const bad = '{"code":500,"msg":"busy"}'
const job = { appName: 'billing', jobId: 17, handler: 'demo' } as const
const beatOf = (registryValue: string): object => ({
  registryGroup: 'EXECUTOR',
  registryKey: 'billing',
  registryValue,
})
const addressesOf = (admin: XxlJobAdmin): string[] =>
  admin.executors().flatMap(({ executors }) => executors.map(({ address }) => address))

describe('an admin with executors of this package', () => {
  test.each(['', '/xxl-job-admin'])('runs a handler of an executor that registers at "%s"', async (path) => {
    const { admin, address } = await startAdmin()
    const executor = await startExecutor(`${address}${path}`, {
      demo: (context) => {
        context.log('got {}', context.param)
        context.handleSuccess('done')
      },
    })
    expect(addressesOf(admin)).toEqual([executor])
    const { parts } = await admin.run({ ...job, param: 'May' })
    expect(parts).toMatchObject([{ address: executor, index: 0, total: 1, message: 'done' }])
    const [{ logId, logDateTime } = expect.fail('no part')] = parts
    const page = await admin.readLog({ appName: 'billing', address: executor, logId, logDateTime })
    expect(page.logContent).toContain('got May')
  })

  test('fails with what the handler threw, and with what the executor refuses', async () => {
    const { admin, address } = await startAdmin()
    await startExecutor(address, {
      demo: () => {
        throw new Error('no paper')
      },
    })
    const refused = {
      code: 'ERR_XXL_JOB_RUN',
      message: expect.stringContaining('[none] not found') as string,
    }
    await expect(admin.run({ ...job, handler: 'none' })).rejects.toMatchObject(refused)
    const failed = { code: 'ERR_XXL_JOB_RUN', message: expect.stringContaining('no paper') as string }
    await expect(admin.run(job)).rejects.toMatchObject(failed)
  })

  test('broadcasts, and repeats one part', async () => {
    const { admin, address } = await startAdmin()
    const seen: string[] = []
    const addresses: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const demo = ({ shard }: { shard: { index: number; total: number } }): void => {
        seen.push(`${shard.index}/${shard.total}`)
        if (name === 'b') throw new Error('no paper')
      }
      addresses.push(await startExecutor(address, { demo }))
    }
    const all = { ...job, route: 'SHARDING_BROADCAST' } as const
    const error = { code: 'ERR_XXL_JOB_RUN', message: expect.stringContaining('1 of 3 parts') as string }
    await expect(admin.run(all)).rejects.toMatchObject(error)
    expect(seen.sort()).toEqual(['0/3', '1/3', '2/3'])
    const { parts } = await admin.run({ ...job, shard: { index: 7, total: 8 } }).catch(() => ({ parts: [] }))
    const [first] = [...addresses].sort()
    expect(seen.at(-1)).toBe('7/8')
    expect(parts.every((part) => part.address === first)).toBe(true)
  })

  test('BUSYOVER passes over an executor that runs the job, and an abort has it killed', async () => {
    const { admin, address } = await startAdmin()
    const started = latch()
    const demo: NonNullable<XxlJobExecutorOptions['handlers']>[string] = async ({ param, signal }) => {
      if (param !== 'long') return
      started.open()
      await once(signal, 'abort')
    }
    await startExecutor(address, { demo })
    await startExecutor(address, { demo })
    const [first, second] = addressesOf(admin)
    const abort = new AbortController()
    const long = admin.run({ ...job, param: 'long', route: 'BUSYOVER', signal: abort.signal })
    const ended = expect(long).rejects.toMatchObject({ code: 'ERR_XXL_JOB_RUN' })
    await started.promise
    const { parts } = await admin.run({ ...job, route: 'BUSYOVER' })
    expect(parts).toMatchObject([{ address: second }])
    expect(first).not.toBe(second)
    const late = admin.events.next('resultLate')
    abort.abort()
    await ended
    expect(await late).toMatchObject({ handleCode: 500 })
  })
})

describe('the registry', () => {
  test('keeps an executor for 90 seconds after its last beat, with its text', async () => {
    const clock = new ManualClock()
    const { admin, call } = await startAdmin({ clock })
    expect(await call('/api/registry', beatOf('http://10.0.0.7:9999'))).toMatchObject({ code: 200 })
    await clock.advance(89_998.7)
    expect(admin.executors()).toEqual([
      {
        appName: 'billing',
        byHand: false,
        executors: [{ address: 'http://10.0.0.7:9999', silentMs: 89_999, dialect: null }],
      },
    ])
    await call('/api/registry', beatOf('http://10.0.0.7:9999'))
    await clock.advance(89_999)
    expect(addressesOf(admin)).toHaveLength(1)
    await clock.advance(1)
    expect(admin.executors()).toEqual([])
  })

  test('removes an executor that says so, sorts as text, and is bounded', async () => {
    const { admin, call } = await startAdmin({ maxExecutors: 2 })
    for (const port of [9999, 10_000]) await call('/api/registry', beatOf(`http://10.0.0.7:${port}/`))
    expect(addressesOf(admin)).toEqual(['http://10.0.0.7:10000/', 'http://10.0.0.7:9999/'])
    expect(await call('/api/registry', beatOf('http://10.0.0.8/'))).toMatchObject({ code: 500 })
    await call('/api/registryRemove', beatOf('http://10.0.0.7:9999/'))
    expect(addressesOf(admin)).toEqual(['http://10.0.0.7:10000/'])
  })

  test.each(['', 'file:///etc/passwd', 'http://user:pw@10.0.0.7/', 'http://10.0.0.7/?x=1', 'nonsense'])(
    'does not take the address "%s"',
    async (address) => {
      const { admin, call } = await startAdmin()
      const answer = await call('/api/registry', beatOf(address))
      expect(answer).toMatchObject({ code: 500, msg: 'Illegal Argument.' })
      expect(admin.executors()).toEqual([])
    },
  )

  test('takes nothing without the token, and no executor where there is no token', async () => {
    const { admin, address } = await startAdmin()
    const path = '/api/registry'
    const { json } = await callExecutor(address, path, beatOf('http://10.0.0.7/'))
    expect(json).toMatchObject({ code: 500, msg: 'The access token is wrong.' })
    expect(admin.executors()).toEqual([])
    const open = await startAdmin({ accessToken: null })
    expect(await open.call(path, beatOf('http://10.0.0.7/'))).toMatchObject({ code: 500 })
    expect(open.admin.executors()).toEqual([])
  })
})

describe('results', () => {
  /** A run that a fake executor has taken. */
  async function sent(
    options: Partial<XxlJobRunOptions> = {},
    run: string | null = good,
    clock?: ManualClock,
  ) {
    const { address, asked } = await fakeExecutor(run === null ? {} : { '/run': run, '/kill': good })
    const rig = await startAdmin({ executors: { billing: [address] }, ...(clock !== undefined && { clock }) })
    const sending = rig.admin.events.next('runSent')
    const unknown = rig.admin.events.next('runUnknown')
    const ended = rig.admin.run({ ...job, ...options })
    ended.catch(() => {})
    return { ...rig, asked, ended, unknown, logId: (await sending).logId }
  }
  const callbacks: Readonly<Record<string, (logId: number) => object>> = {
    '2.2': (logId) => [{ logId, logDateTim: 1, executeResult: { code: 200, msg: 'ok' } }],
    '2.3': (logId) => [{ logId, logDateTim: 1, handleCode: 200, handleMsg: 'ok' }],
    '3.5': (logId) => ({ callbackList: [{ logId, logDateTime: 1, handleCode: 200, handleMsg: 'ok' }] }),
  }

  test.each(Object.keys(callbacks))('are taken as executors of %s send them', async (version) => {
    const { ended, call, logId } = await sent()
    const answer = await call('/api/callback', callbacks[version]?.(logId) ?? {})
    expect(answer).toEqual({ code: 200, msg: null, data: null, content: null })
    expect((await ended).parts).toMatchObject([{ logId, message: 'ok' }])
  })

  test('of unknown runs, repeated ones and what is none are taken, 2,000 at a time', async () => {
    const { ended, call, admin, logId } = await sent()
    const late: number[] = []
    admin.events.on('resultLate', (result) => late.push(result.logId))
    const many = Array.from({ length: 2000 }, (_, at) => ({ logId: at + 1, handleCode: 200 }))
    const own = { logId, handleCode: 200, handleMsg: 'ok' }
    const body = [...many, null, 5, {}, { logId: { toString: 1 } }, own, { ...own, handleCode: 500 }]
    expect(await call('/api/callback', body)).toMatchObject({ code: 200 })
    expect((await ended).parts).toMatchObject([{ message: 'ok' }])
    expect(late).toHaveLength(2001)
    expect(await call('/api/callback', 'nonsense')).toMatchObject({ code: 500 })
    expect(await call('//api/callback', body)).toMatchObject({ code: 500 })
  })

  test('of a run whose answer was lost are waited for', async () => {
    const { ended, unknown, call, logId } = await sent({}, null)
    expect(await unknown).toMatchObject({ logId, error: { code: 'ERR_XXL_JOB_RUN' } })
    await call('/api/callback', [{ logId, handleCode: 200, handleMsg: 'ok' }])
    expect((await ended).parts).toMatchObject([{ logId }])
  })

  test('that do not come end the wait, and are told when they come late', async () => {
    const clock = new ManualClock()
    const { ended, call, admin, logId } = await sent({ resultTimeoutMs: 60_000 }, good, clock)
    await clock.advance(60_000)
    await expect(ended).rejects.toMatchObject({ code: 'ERR_XXL_JOB_NO_RESULT' })
    const late = admin.events.next('resultLate')
    await call('/api/callback', [{ logId, handleCode: 200, handleMsg: 'ok' }])
    expect(await late).toEqual({ logId, handleCode: 200, handleMsg: 'ok' })
  })

  test('are given up when the admin closes, which then refuses them', async () => {
    const { ended, call, admin, logId } = await sent()
    await admin.close()
    await expect(ended).rejects.toMatchObject({ code: 'ERR_XXL_JOB_NO_RESULT' })
    expect(await call('/api/callback', [{ logId, handleCode: 200 }])).toMatchObject({ code: 500 })
    await expect(admin.run(job)).rejects.toMatchObject({ code: 'ERR_XXL_JOB_RUN' })
  })

  test('are not waited for where the executor refuses as the one in Go does', async () => {
    const array = '[{"logId":1,"executeResult":{"code":500,"msg":"busy"},"handleCode":500}]'
    const { ended } = await sent({}, array)
    await expect(ended).rejects.toMatchObject({ message: expect.stringContaining('busy') as string })
  })
})

describe('runs', () => {
  test('FAILOVER takes the first that answers a beat, and fails when none does', async () => {
    const dead = await fakeExecutor({})
    const alive = await fakeExecutor({ '/beat': good, '/run': bad })
    const { admin } = await startAdmin({ executors: { billing: [dead.address, alive.address] } })
    await expect(admin.run({ ...job, route: 'FAILOVER' })).rejects.toThrow(/busy/)
    expect(alive.asked).toEqual(['/beat', '/run'])
    const none = await startAdmin({ executors: { billing: [dead.address] } })
    await expect(none.admin.run({ ...job, route: 'FAILOVER' })).rejects.toThrow(
      /No executor of 'billing' answered/,
    )
    expect(dead.asked.every((path) => path === '/beat')).toBe(true)
  })

  test('are bounded, and need an executor', async () => {
    const { address } = await fakeExecutor({ '/run': good })
    const { admin } = await startAdmin({ executors: { billing: [address] }, maxRuns: 1 })
    const sending = admin.events.next('runSent')
    const first = admin.run(job)
    first.catch(() => {})
    await sending
    await expect(admin.run(job)).rejects.toThrow(/maxRuns/)
    await expect(admin.run({ ...job, appName: 'other' })).rejects.toThrow(/No executor of 'other'/)
  })

  test.each([
    [{}, 'handler'],
    [{ handler: 'demo', jobId: 0 }, 'jobId'],
    [{ handler: 'demo', jobId: 2 ** 31 }, 'jobId'],
    [{ handler: 'demo', appName: 'a b' }, 'appName'],
    [{ handler: 'demo', route: 'first' }, 'route'],
    [{ handler: 'demo', shard: { index: 2, total: 2 } }, 'shard'],
    [{ handler: 'demo', glue: { type: 'BEAN', source: '', updated: new Date(0) } }, 'type'],
    [{ handler: 'demo', retries: 3 }, 'retries'],
  ])('are not sent with %o', async (options, field) => {
    const { admin } = await startAdmin()
    const run = admin.run({ appName: 'billing', jobId: 17, ...options } as XxlJobRunOptions)
    await expect(run).rejects.toThrow(new RegExp(field))
  })

  test.each([
    [{}, 'accessToken'],
    [{ accessToken: 'a b' }, 'accessToken'],
    [{ accessToken, executors: { billing: ['ftp://x/'] } }, 'executors'],
    [{ accessToken, executors: { 'a b': [] } }, 'executors'],
    [{ accessToken, callTimeoutMs: 5 }, 'callTimeoutMs'],
    [{ accessToken, port: 5 }, 'port'],
  ])('createXxlJobAdmin refuses %o', (options, field) => {
    const make = (): unknown => createXxlJobAdmin(options as XxlJobAdminOptions)
    expect(make).toThrow(new RegExp(field))
  })
})
