import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import {
  createXxlJobAdmin,
  type XxlJobAdmin,
  type XxlJobAdminOptions,
  type XxlJobRunOptions,
} from '../../src/xxl-job.ts'
import type { AdminDialect } from '../support/xxl-job-admin.ts'
import { FakeExecutor } from '../support/xxl-job-fake-executor.ts'

const token = 'c2VjcmV0LXRva2Vu'
const appName = 'billing-executor'
const nowMs = 1_790_000_000_123
/** What the address of an admin of that version ends with. */
const paths: Readonly<Record<AdminDialect, string>> = {
  D0: '/xxl-job-admin',
  D1: '/xxl-job-admin',
  D2: '/xxl-job-admin',
  D3: '',
}
const job: XxlJobRunOptions = { appName, jobId: 17, handler: 'demo', param: 'a=1' }

interface Rig {
  readonly admin: XxlJobAdmin
  readonly adminAddress: string
  readonly executor: FakeExecutor
}

/** An admin at an instant that is known, and one executor of the version. */
async function startRig(
  dialect: AdminDialect,
  {
    executorToken = token,
    byHand = false,
    ...options
  }: Partial<XxlJobAdminOptions> & { executorToken?: string | null; byHand?: boolean } = {},
): Promise<Rig> {
  const executor = new FakeExecutor({ dialect, path: paths[dialect], appName, token: executorToken })
  await executor.start()
  const admin = createXxlJobAdmin({
    accessToken: token,
    logger: false,
    clock: new ManualClock(nowMs),
    ...(byHand && { executors: { [appName]: [executor.address] } }),
    ...options,
  })
  const server = createServer((request, response) => {
    admin.listener(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await admin.close()
    server.closeAllConnections()
    server.close()
    await executor.stop()
  })
  return { admin, adminAddress: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, executor }
}

/** The body of a run, as text. */
const runBody = (logId: number, fields = ''): string =>
  `{"jobId":17,"executorHandler":"demo","executorParams":"a=1","executorTimeout":0,"logId":${logId},` +
  `"glueType":"BEAN","glueSource":"","glueUpdatetime":0,"broadcastIndex":0,"broadcastTotal":1,` +
  `"executorBlockStrategy":"SERIAL_EXECUTION","logDateTime":${nowMs}${fields}}`

describe.each(['D0', 'D1', 'D2', 'D3'] as const)('the admin in the words of %s (X19, X30)', (dialect) => {
  /** Where the version takes runs, and what is asked before that is known. */
  const runTarget = dialect === 'D3' ? '/trigger' : '/run'
  const firstRun = dialect === 'D3' ? ['/run', '/trigger'] : ['/run']

  test('a run from registration to removal, as raw text', async () => {
    const { admin, adminAddress, executor } = await startRig(dialect)
    const { address } = executor
    const ok = '{"code":200,"msg":"Success","data":null,"content":null}'
    expect(await executor.register(adminAddress)).toMatchObject({ status: 200, text: ok })
    expect(admin.executors()).toMatchObject([{ appName, executors: [{ address, dialect: null }] }])

    // FAILOVER asks for a beat before the run, BUSYOVER for an idle one.
    const sent = admin.events.next('runSent')
    const run = admin.run({ ...job, route: 'FAILOVER' })
    const { logId } = await sent
    const taken = '{"code":200,"msg":null,"data":null,"content":null}'
    const isThere = (target: string): boolean => executor.targets.includes(target)
    while (!isThere(runTarget)) await new Promise((resolve) => setImmediate(resolve))
    const result = { code: 200, msg: 'ok' }
    expect(await executor.report(adminAddress, logId, result)).toMatchObject({ status: 200, text: taken })
    expect((await run).parts).toEqual([
      { logId, logDateTime: new Date(nowMs), address, index: 0, total: 1, message: 'ok' },
    ])
    const bodiesOf = (target: string): string[] =>
      executor.requests.filter((request) => request.target === target).map(({ body }) => body)
    expect(executor.targets).toEqual(['/beat', ...firstRun])
    expect(bodiesOf('/beat')).toEqual([''])
    expect(bodiesOf(runTarget)).toEqual([runBody(logId)])
    expect(admin.executors()).toMatchObject([{ executors: [{ dialect: dialect === 'D3' ? '3.5' : '2.2' }] }])

    const place = { appName, address, logId, logDateTime: new Date(nowMs) }
    expect(await admin.readLog(place)).toEqual({
      fromLineNum: 1,
      toLineNum: 2,
      logContent: 'it began\nit ended\n',
      isEnd: false,
    })
    expect(await admin.readLog({ ...place, fromLine: 3 })).toMatchObject({ fromLineNum: 3, toLineNum: 0 })
    const time = `"logDateTim":${nowMs},"logDateTime":${nowMs}`
    expect(bodiesOf('/log')).toEqual([
      `{"logId":${logId},${time},"fromLineNum":1}`,
      `{"logId":${logId},${time},"fromLineNum":3}`,
    ])

    await admin.kill({ appName, address, jobId: 17 })
    const next = admin.run({ ...job, route: 'BUSYOVER' })
    const ended = expect(next).rejects.toThrow(/code 502, job execute timeout/)
    while (bodiesOf(runTarget).length < 2) await new Promise((resolve) => setImmediate(resolve))
    await executor.report(adminAddress, logId + 1, { code: 502, msg: 'job execute timeout ' })
    await ended
    expect(bodiesOf('/kill')).toEqual(['{"jobId":17}'])
    expect(bodiesOf('/idleBeat')).toEqual(['{"jobId":17}'])
    expect(bodiesOf(runTarget)).toEqual([runBody(logId), runBody(logId + 1)])
    expect(executor.targets.slice(-2)).toEqual(['/idleBeat', runTarget])

    for (const { headers, body } of executor.requests) {
      expect(headers).toMatchObject({
        'content-type': 'application/json;charset=UTF-8',
        'content-length': String(body.length),
        'xxl-job-access-token': token,
        'xxl-job-appname': appName,
      })
    }
    const removed = await executor.register(adminAddress, 'registryRemove')
    expect(removed).toMatchObject({ status: 200, text: ok })
    expect(admin.executors()).toEqual([])
  })

  test('a log that is asked for with another time is none: the time of the run is what counts', async () => {
    const { admin, adminAddress, executor } = await startRig(dialect)
    await executor.register(adminAddress)
    const run = admin.run(job)
    run.catch(() => {})
    while (executor.targets.at(-1) !== runTarget) await new Promise((resolve) => setImmediate(resolve))
    const { logId } = JSON.parse(executor.requests.at(-1)?.body ?? '') as { logId: number }
    const place = { appName, address: executor.address, logId, logDateTime: new Date(nowMs - 86_400_000) }
    expect(await admin.readLog(place)).toMatchObject({ toLineNum: 0, isEnd: true })
  })

  test('a token that is wrong is said by both sides', async () => {
    const { admin, adminAddress, executor } = await startRig(dialect, {
      executorToken: 'another',
      byHand: true,
    })
    const said = dialect === 'D3' ? 'accessToken or appname is invalid' : 'The access token is wrong'
    await expect(admin.run(job)).rejects.toThrow(said)
    const wrong = '{"code":500,"msg":"The access token is wrong.","data":null,"content":null}'
    expect(await executor.register(adminAddress)).toMatchObject({ status: 200, text: wrong })
  })
})

/** Resolves with the number of the run when the executor has been asked for that many things. */
async function runAt(executor: FakeExecutor, requests: number): Promise<number> {
  while (executor.requests.length < requests) await new Promise((resolve) => setImmediate(resolve))
  return (JSON.parse(executor.requests.at(-1)?.body ?? '') as { logId: number }).logId
}

describe('executors of several versions', () => {
  test('report to one admin, one in an array and one in an object (C.6 7)', async () => {
    const { admin, adminAddress, executor } = await startRig('D1')
    const newer = await new FakeExecutor({ dialect: 'D3', path: '', appName, token }).start()
    onTestFinished(() => newer.stop())
    for (const each of [executor, newer]) await each.register(adminAddress)
    const runs = [executor, newer].map(({ address }) => admin.run({ ...job, address }))
    const logIds = [await runAt(executor, 1), await runAt(newer, 2)] as const
    const reported = await Promise.all([
      executor.report(adminAddress, logIds[0], { code: 200, msg: 'of 2.3' }),
      newer.report(adminAddress, logIds[1], { code: 200, msg: 'of 3.5' }),
    ])
    expect(reported.map(({ json }) => json.code)).toEqual([200, 200])
    const ends = await Promise.all(runs)
    expect(ends.map(({ parts }) => parts[0]?.message)).toEqual(['of 2.3', 'of 3.5'])
  })

  test('are met where they were entered by hand, however they spell their address (K3)', async () => {
    const clock = new ManualClock(nowMs)
    const byHand = await new FakeExecutor({ dialect: 'D2', path: '', appName: 'mail', token }).start()
    onTestFinished(() => byHand.stop())
    const entered = byHand.address.replace(/\/$/, '')
    const { admin, adminAddress, executor } = await startRig('D2', {
      clock,
      executors: { mail: [entered] },
    })
    for (const each of [executor, byHand]) {
      expect((await each.register(adminAddress)).json.code).toBe(200)
    }
    expect(admin.executors()).toMatchObject([
      { appName, byHand: false, executors: [{ address: executor.address }] },
      { appName: 'mail', byHand: true, executors: [{ address: entered, silentMs: null }] },
    ])
    const run = admin.run({ ...job, appName: 'mail' })
    const logId = await runAt(byHand, 1)
    const other = admin.run(job)
    const otherId = await runAt(executor, 1)
    // Nothing beats any more. XXL-JOB fails such runs after ten minutes, also where the executor lives.
    await clock.advance(20 * 60_000)
    expect(admin.executors().map(({ appName: name }) => name)).toEqual(['mail'])
    await byHand.report(adminAddress, logId, { code: 200, msg: 'by hand' })
    await executor.report(adminAddress, otherId, { code: 200, msg: 'silent' })
    expect((await run).parts).toMatchObject([{ address: entered, message: 'by hand' }])
    expect((await other).parts).toMatchObject([{ message: 'silent' }])
  })
})

describe('tokens', () => {
  test('an executor of 3.5 refuses an admin that has none; earlier ones without a token run', async () => {
    const open = { accessToken: null, executorToken: null, byHand: true } as const
    const strict = await startRig('D3', open)
    await expect(strict.admin.run(job)).rejects.toThrow(/accessToken or appname is empty/)
    expect(strict.executor.targets).toEqual(['/run'])
    expect(strict.executor.requests[0]?.headers).not.toHaveProperty('xxl-job-access-token')
    const old = await startRig('D1', open)
    const sent = old.admin.events.next('runSent')
    const run = old.admin.run(job)
    const { logId } = await sent
    while (old.executor.targets.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await old.executor.report(old.adminAddress, logId, { code: 200, msg: '' })
    await run
  })

  test('an executor of 3.5 gets the one of its AppName', async () => {
    const known = await startRig('D3', {
      executorToken: 'of-its-own',
      accessTokens: { [appName]: 'of-its-own' },
    })
    expect((await known.executor.register(known.adminAddress)).json.code).toBe(200)
    known.admin.run(job).catch(() => {})
    while (known.executor.targets.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(known.executor.targets).toEqual(['/run', '/trigger'])
  })
})
