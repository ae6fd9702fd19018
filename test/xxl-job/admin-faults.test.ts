import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import { Admin } from '../../src/xxl-job/admin/create-xxl-job-admin.ts'
import type { RemotePlace } from '../../src/xxl-job/admin/remote-place.ts'
import { resolveRun } from '../../src/xxl-job/admin/run-options.ts'
import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  type XxlJobAdminOptions,
  type XxlJobExecutor,
  type XxlJobExecutorOptions,
  type XxlJobFunction,
  type XxlJobRunOptions,
} from '../../src/xxl-job.ts'
import { latch } from '../support/latch.ts'
import { callExecutor } from '../support/xxl-job-admin.ts'
import { advanceUntil, temporaryFolder } from './executor-fixture.ts'

const accessToken = 's3cret'
const headers = { 'xxl-job-access-token': accessToken }
const good = '{"code":200,"msg":"Success"}'
const job: XxlJobRunOptions = { appName: 'billing', jobId: 17, handler: 'demo' }

async function listen(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  port = 0,
): Promise<{ server: Server; port: number; address: string; stop: () => Promise<void> }> {
  const server = createServer(answer).listen(port, '127.0.0.1')
  const stop = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  onTestFinished(stop)
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  return { server, port: own, address: `http://127.0.0.1:${own}`, stop }
}

async function startAdmin(options: Partial<XxlJobAdminOptions> = {}) {
  const admin = createXxlJobAdmin({ accessToken, logger: false, ...options })
  onTestFinished(() => admin.close())
  const listened = await listen((request, response) => {
    admin.listener(request, response)
  })
  const call = async (path: string, body: string | object) =>
    (await callExecutor(listened.address, path, body, { headers })).json
  return { ...listened, admin, call }
}

/** An executor that is made of a function for each path. Anything else breaks the connection off. */
async function fakeExecutor(
  paths: Readonly<Record<string, (response: ServerResponse, body: Record<string, number>) => unknown>>,
): Promise<string> {
  const { address } = await listen((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const answer = paths[request.url ?? '']
      const text = Buffer.concat(chunks).toString('utf8')
      if (answer === undefined) response.destroy()
      else answer(response, JSON.parse(text === '' ? '{}' : text) as Record<string, number>)
    })
  })
  return address
}

async function startExecutor(
  adminAddresses: string,
  handlers: XxlJobExecutorOptions['handlers'],
  options: Partial<XxlJobExecutorOptions> = {},
): Promise<XxlJobExecutor> {
  const executor = createXxlJobExecutor({
    ...{ adminAddresses, appName: 'billing', accessToken, port: 0, host: '127.0.0.1', logger: false },
    ...(handlers && { handlers }),
    logPath: temporaryFolder(),
    ...options,
  })
  onTestFinished(() => executor.close({ timeoutMs: 0 }))
  const registered = executor.events.next('registered')
  await executor.start()
  await registered
  return executor
}

const failureOf = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => 'no failure',
    (error: unknown) => error,
  )

describe('an answer to a run that is no answer leaves the run open', () => {
  const answers: Record<string, (response: ServerResponse) => unknown> = {
    'broken off in the middle': (response) => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('{"code":2', () => response.destroy())
    },
    'that of a proxy': (response) => response.writeHead(502).end('bad gateway'),
    'reset before it begins': (response) => response.destroy(),
  }

  test.each(Object.keys(answers))('%s', async (name) => {
    const sent = latch<number>()
    const address = await fakeExecutor({
      '/run': (response, { logId }) => {
        sent.open(logId ?? 0)
        answers[name]?.(response)
      },
    })
    const { admin, call } = await startAdmin({ executors: { billing: [address] } })
    const unknown = admin.events.next('runUnknown')
    const run = admin.run(job)
    const logId = await sent.promise
    await unknown
    await call('/api/callback', [{ logId, handleCode: 200, handleMsg: 'it ran' }])
    expect((await run).parts[0]?.message).toBe('it ran')
  })

  test('a refusal of megabytes is cut', async () => {
    const text = `{"code":500,"msg":"${'x'.repeat(1024 * 1024)}"}`
    const address = await fakeExecutor({ '/run': (response) => response.end(text) })
    const { admin } = await startAdmin({ executors: { billing: [address] } })
    expect(String(await failureOf(admin.run(job))).length).toBeLessThan(2500)
  })

  test('later than the time that executors have', async () => {
    const clock = new ManualClock()
    const sent = latch<number>()
    const address = await fakeExecutor({
      '/run': (_response, { logId }) => {
        sent.open(logId ?? 0)
      },
    })
    const { admin, call } = await startAdmin({ executors: { billing: [address] }, clock })
    const unknown = admin.events.next('runUnknown')
    const run = admin.run(job)
    const logId = await sent.promise
    await clock.advance(3000)
    await unknown
    await call('/api/callback', { callbackList: [{ logId, handleCode: 200, handleMsg: 'it ran' }] })
    expect((await run).parts[0]?.message).toBe('it ran')
  })
})

describe('results', () => {
  test('that come before the answer to the run are its end, whatever the answer says', async () => {
    const { admin, call, address } = await startAdmin()
    const executor = await fakeExecutor({
      '/run': (response, { logId }) => {
        const result = [{ logId, handleCode: 200, handleMsg: 'early' }]
        callExecutor(address, '/api/callback', result, { headers }).then(
          () => response.end('{"code":500,"msg":"busy"}'),
          () => response.destroy(),
        )
      },
    })
    await call('/api/registry', {
      registryGroup: 'EXECUTOR',
      registryKey: 'billing',
      registryValue: executor,
    })
    expect((await admin.run(job)).parts[0]?.message).toBe('early')
  })

  test('in a body of 5 MB are taken, and of one byte more refused; half a body changes nothing', async () => {
    const sent = latch<number>()
    const executor = await fakeExecutor({
      '/run': (response, { logId }) => {
        response.end(good)
        sent.open(logId ?? 0)
      },
    })
    const { admin, call, port } = await startAdmin({ executors: { billing: [executor] } })
    const run = admin.run(job)
    const logId = await sent.promise
    const body = JSON.stringify([{ logId, handleCode: 200, handleMsg: 'long' }])
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const head = `POST /api/callback HTTP/1.1\r\nhost: x\r\nxxl-job-access-token: ${accessToken}\r\n`
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body.slice(0, -1)}`, () => socket.destroy())
    await once(socket, 'close')
    const bytesMax = 5 * 1024 * 1024
    expect(await call('/api/callback', body.padEnd(bytesMax + 1))).toMatchObject({ code: 500 })
    expect(await call('/api/callback', body.padEnd(bytesMax))).toMatchObject({ code: 200 })
    expect((await run).parts[0]?.message).toBe('long')
  })

  test('that come after the run was killed are late', async () => {
    const sent = latch<number>()
    const executor = await fakeExecutor({
      '/run': (response, { logId }) => {
        response.end(good)
        sent.open(logId ?? 0)
      },
      '/kill': (response) => response.end(good),
    })
    const { admin, call } = await startAdmin({ executors: { billing: [executor] } })
    const stop = new AbortController()
    const run = failureOf(admin.run({ ...job, signal: stop.signal }))
    const logId = await sent.promise
    stop.abort()
    expect(await run).toMatchObject({ code: 'ERR_XXL_JOB_RUN' })
    const late = admin.events.next('resultLate')
    expect(await call('/api/callback', [{ logId, handleCode: 500, handleMsg: 'killed' }])).toMatchObject({
      code: 200,
    })
    expect(await late).toMatchObject({ logId, handleMsg: 'killed' })
  })
})

describe('an executor that takes two seconds for each answer', () => {
  test('gets all runs, also those that wait for a connection longer than it may take to answer', async () => {
    const clock = new ManualClock()
    const held: ServerResponse[] = []
    const logIds: number[] = []
    const paths: string[] = []
    const { address } = await listen((request, response) => {
      paths.push(request.url ?? '')
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.once('end', () => {
        const { logId } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { logId: number }
        logIds.push(logId)
        held.push(response)
      })
    })
    const { admin, call } = await startAdmin({ executors: { billing: [address] }, clock })
    const runs = Array.from({ length: 140 }, () => admin.run(job))
    const { sender } = admin instanceof Admin ? admin : expect.fail('what was made is an admin')
    const written: RemotePlace[] = []
    const sent = sender.send(resolveRun(job), async (place) => {
      written.push(place)
    })
    const interrupt = new AbortController()
    const interrupted = failureOf(admin.run({ ...job, signal: interrupt.signal }))
    for (const count of [64, 64, 13]) {
      while (held.length < count) await clock.settle()
      expect(held).toHaveLength(count)
      await clock.advance(2000)
      interrupt.abort()
      for (const response of held.splice(0)) response.end(good)
    }
    await sent
    const results = logIds.map((logId) => ({ logId, handleCode: 200, handleMsg: '' }))
    await call('/api/callback', results)
    expect(await Promise.all(runs)).toHaveLength(140)
    expect(written.map(({ logId }) => logIds.includes(logId))).toEqual([true])
    expect(await interrupted).toMatchObject({
      message: expect.stringContaining('before it was sent') as unknown,
    })
    expect(paths.filter((path) => path !== '/run')).toEqual([])
  })
})

describe('executors in other languages', () => {
  test('in Go: an address without a slash, no token, refusals as arrays, and no kill of what is idle', async () => {
    const busy =
      '[{"logId":1,"logDateTim":1,"executeResult":{"code":500,"msg":"task is running"},"handleCode":500}]'
    const asked: string[] = []
    let sent = latch()
    const answerOf = (path: string, text: string) => (response: ServerResponse) => {
      asked.push(path)
      response.end(text)
      if (path === '/run') sent.open()
    }
    let answer = busy
    const address = await fakeExecutor({
      '/run': (response) => {
        answerOf('/run', answer)(response)
      },
      '/kill': answerOf('/kill', '{"code":500,"msg":"Task kill err"}'),
      '/idleBeat': answerOf('/idleBeat', '{"code":500,"msg":"Task is busy"}'),
      '/log': answerOf(
        '/log',
        '{"code":200,"msg":"","content":{"fromLineNum":1,"toLineNum":2,"logContent":"from Go","isEnd":true}}',
      ),
    })
    const { admin, call } = await startAdmin()
    await call('/api/registry', { registryGroup: 'EXECUTOR', registryKey: 'billing', registryValue: address })
    expect(admin.executors()[0]?.executors[0]?.address).toBe(address)
    expect(String(await failureOf(admin.run(job)))).toContain('task is running')
    expect(String(await failureOf(admin.run({ ...job, route: 'BUSYOVER' })))).toContain('1 were asked')
    const log = await admin.readLog({ appName: 'billing', address, logId: 1, logDateTime: new Date(1) })
    expect(log).toMatchObject({ logContent: 'from Go', isEnd: true })
    answer = good
    const stop = new AbortController()
    // It was open since the run that was refused.
    sent = latch()
    const run = failureOf(admin.run({ ...job, signal: stop.signal }))
    await sent.promise
    stop.abort()
    // It may run on: the executor did not say that it ended it.
    expect(await run).toMatchObject({ code: 'ERR_XXL_JOB_NO_RESULT' })
    expect(asked).toEqual(['/run', '/idleBeat', '/log', '/run', '/kill'])
  })

  test('in Python: a full queue is a refusal, and a result has both shapes', async () => {
    const sent = latch<number>()
    let isFull = true
    const executor = await fakeExecutor({
      '/run': (response, { logId }) => {
        response.end(isFull ? '{"code":500,"msg":"the queue is full"}' : good)
        if (!isFull) sent.open(logId ?? 0)
      },
    })
    const { admin, call } = await startAdmin({ executors: { billing: [`${executor}/`] } })
    expect(String(await failureOf(admin.run(job)))).toContain('the queue is full')
    isFull = false
    const run = failureOf(admin.run(job))
    const logId = await sent.promise
    const both = { handleCode: 502, handleMsg: 'timeout', executeResult: { code: 502, msg: 'timeout' } }
    await call('/api/callback', [{ logId, logDateTim: 1, ...both }])
    expect(String(await run)).toContain('code 502, timeout')
  })
})

describe('with executors of this package', () => {
  test('a result of a minute without the admin comes when it is back', async () => {
    const clock = new ManualClock()
    const gate = latch()
    const first = await startAdmin()
    const executor = await startExecutor(first.address, { demo: () => gate.promise }, { clock })
    const started = executor.events.next('runStarted')
    const run = first.admin.run(job)
    await started
    await first.stop()
    const kept = executor.events.next('resultsWaiting')
    gate.open()
    await kept
    await clock.advance(60_000)
    let isOver = false
    const ended = run.finally(() => {
      isOver = true
    })
    await listen((request, response) => {
      first.admin.listener(request, response)
    }, first.port)
    await advanceUntil(clock, () => isOver)
    expect((await ended).parts).toHaveLength(1)
  })

  test('of two admins the next one is told when the first is away', async () => {
    const gate = latch()
    const [first, second] = [await startAdmin(), await startAdmin()]
    const addresses = `${first.address},${second.address}`
    const executor = await startExecutor(addresses, { demo: () => gate.promise })
    expect(second.admin.executors()).toEqual([])
    await first.stop()
    const late = second.admin.events.next('resultLate')
    const run = failureOf(first.admin.run(job))
    await first.admin.events.next('runSent')
    gate.open()
    expect(await late).toMatchObject({ handleCode: 200 })
    await first.admin.close()
    expect(await run).toMatchObject({ code: 'ERR_XXL_JOB_NO_RESULT' })
    expect(executor.status().address).not.toBeNull()
  })

  test('a kill while COVER_EARLY replaces a run ends both, and the next one runs', async () => {
    const { admin, address } = await startAdmin()
    const started = [latch(), latch()]
    const demo: XxlJobFunction = async (context) => {
      started[Number(context.param)]?.open()
      if (context.param === '2') return
      await once(context.signal, 'abort')
      throw new Error('interrupted')
    }
    await startExecutor(address, { demo })
    const stop = new AbortController()
    const first = failureOf(admin.run({ ...job, param: '0' }))
    await started[0]?.promise
    const options = { blockStrategy: 'COVER_EARLY', signal: stop.signal } as const
    const second = failureOf(admin.run({ ...job, param: '1', ...options }))
    expect(await first).toMatchObject({ code: 'ERR_XXL_JOB_RUN' })
    stop.abort()
    expect(await second).toMatchObject({ code: 'ERR_XXL_JOB_RUN' })
    expect((await admin.run({ ...job, param: '2' })).parts).toHaveLength(1)
  })

  test('an address by hand may be written otherwise than the executor registers it (K3)', async () => {
    const { admin, address } = await startAdmin({ executors: {} })
    const executor = await startExecutor(address, {
      demo: (context) => {
        context.handleSuccess('ran')
      },
    })
    const own = executor.status().address ?? ''
    const byHand = own.endsWith('/') ? own.slice(0, -1) : `${own}/`
    const other = createXxlJobAdmin({ accessToken, executors: { billing: [byHand] }, logger: false })
    onTestFinished(() => other.close())
    const sent = other.events.next('runSent')
    const run = failureOf(other.run({ ...job, resultTimeoutMs: 60_000 }))
    // Its admin is another one: the result comes there.
    const late = admin.events.next('resultLate')
    expect(await late).toMatchObject({ logId: (await sent).logId, handleMsg: 'ran' })
    await other.close()
    expect(await run).toMatchObject({ code: 'ERR_XXL_JOB_NO_RESULT' })
  })

  test('200 executors beat in the same second', async () => {
    const { admin, call } = await startAdmin()
    const beat = (index: number): Promise<unknown> =>
      call('/api/registry', {
        registryGroup: 'EXECUTOR',
        registryKey: 'billing',
        registryValue: `http://10.0.0.${index}:9999/`,
      })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => beat(index)))
    expect(answers.every((answer) => (answer as { code: number }).code === 200)).toBe(true)
    expect(admin.executors()[0]?.executors).toHaveLength(200)
  })
})
