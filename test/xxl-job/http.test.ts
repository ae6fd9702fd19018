import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createXxlJobExecutor } from '../../src/xxl-job.ts'
import { callExecutor, triggerBody } from '../support/xxl-job-admin.ts'
import { startedAdmin, startRig, temporaryFolder } from './executor-fixture.ts'

const token = 'c2VjcmV0LXRva2Vu'
const handlers = { demo: () => {} }

describe('a request', () => {
  test.each([
    ['without a token', {}, 'The access token is wrong.'],
    ['with another token', { 'XXL-JOB-ACCESS-TOKEN': 'c2VjcmV0LXRva2Vv' }, 'The access token is wrong.'],
    ['with a longer token', { 'XXL-JOB-ACCESS-TOKEN': `${token}x` }, 'The access token is wrong.'],
    [
      'of 3.5 without a token',
      { 'XXL-JOB-APPNAME': 'demo-executor' },
      'invalid request, accessToken or appname is empty.',
    ],
    [
      'of 3.5 with another token',
      { 'XXL-JOB-APPNAME': 'demo-executor', 'XXL-JOB-ACCESS-TOKEN': 'x' },
      'invalid request, accessToken or appname is invalid.',
    ],
    [
      'for another executor',
      { 'XXL-JOB-APPNAME': 'other-executor', 'XXL-JOB-ACCESS-TOKEN': token },
      'invalid request, accessToken or appname is invalid.',
    ],
  ])('%s is refused, and runs nothing', async (_name, headers, msg) => {
    let runs = 0
    const { executor } = await startRig({
      accessToken: token,
      host: '127.0.0.1',
      handlers: { demo: () => runs++ },
    })
    const { status, json } = await callExecutor(executor.status().address ?? '', '/run', triggerBody(1), {
      headers,
    })
    expect({ status, json }).toMatchObject({ status: 200, json: { code: 500, msg } })
    expect(runs).toBe(0)
  })

  test.each([
    ['GET', '/run', 'invalid request, HttpMethod not support.'],
    ['POST', '//run', 'invalid request, uri-mapping(//run) not found.'],
    ['POST', '/run?x=1', 'invalid request, uri-mapping(/run?x=1) not found.'],
    ['POST', '/', 'invalid request, uri-mapping(/) not found.'],
    ['POST', '/RUN', 'invalid request, uri-mapping(/RUN) not found.'],
  ])('%s %s is answered with a clear text (C.6 2)', async (method, target, msg) => {
    const { executor } = await startRig({ handlers })
    const body = method === 'GET' ? '' : triggerBody(1)
    const { status, json } = await callExecutor(executor.status().address ?? '', target, body, { method })
    expect({ status, json }).toMatchObject({ status: 200, json: { code: 500, msg } })
  })

  test.each([
    ['no JSON', '{"jobId":17', 'invalid request, the body is no JSON.'],
    ['an array', '[1]', 'invalid request, the body is no JSON object.'],
    ['nothing', '', 'invalid request, the body is no JSON.'],
    ['no job', '{"logId":1}', 'invalid request, jobId is missing.'],
    [
      'an id that JavaScript cannot hold',
      '{"jobId":17,"logId":9007199254740993}',
      /logId is no whole number/,
    ],
    ['an id with a fraction', '{"jobId":1.5,"logId":1}', /jobId is no whole number/],
    ['no kind of code', '{"jobId":17,"logId":1}', 'glueType[] is not valid.'],
    [
      'an unknown kind of code',
      '{"jobId":17,"logId":1,"glueType":"GLUE_COBOL"}',
      'glueType[GLUE_COBOL] is not valid.',
    ],
    [
      'Groovy',
      '{"jobId":17,"logId":1,"glueType":"GLUE_GROOVY"}',
      'fail, current glue type [GLUE(Java)] not supported.',
    ],
    [
      'a script',
      '{"jobId":17,"logId":1,"glueType":"GLUE_NODEJS"}',
      'fail, current glue type [GLUE(Nodejs)] not supported.',
    ],
    ['no handler', '{"jobId":17,"logId":1,"glueType":"BEAN"}', 'job handler [] not found.'],
  ])('to run %s is refused with a clear text', async (_name, body, msg) => {
    const { call } = await startRig({ handlers })
    const answer = await call('/run', body)
    expect(answer).toMatchObject({ code: 500, data: null, content: null })
    expect(answer.msg).toMatch(msg)
  })

  test('has numbers as text where the sender writes them so, and fields that are unknown', async () => {
    const { call, admin } = await startRig({ handlers })
    const body =
      '{"jobId":"17","logId":"5","glueType":"BEAN","executorHandler":"demo","somethingNew":{"a":1}}'
    expect(await call('/run', body)).toMatchObject({ code: 200 })
    expect(await admin.resultOf(5)).toMatchObject({ code: 200 })
  })

  test('of 5 MB is taken, and one byte more is refused (C.6 8)', async () => {
    const { call, admin } = await startRig({
      handlers: {
        demo: ({ param }: { param: string }) => {
          if (param.length < 5_000_000) throw new Error('short')
        },
      },
    })
    const bare = JSON.stringify(triggerBody(1, { executorParams: '' }))
    const room = 5 * 1024 * 1024 - bare.length
    const padded = (extra: number): string => {
      return JSON.stringify(triggerBody(1, { executorParams: 'x'.repeat(room + extra) }))
    }
    expect(await call('/run', padded(1))).toMatchObject({
      code: 500,
      msg: 'invalid request, the body has more than 5242880 bytes.',
    })
    expect(await call('/run', padded(0))).toMatchObject({ code: 200 })
    expect(await admin.resultOf(1)).toMatchObject({ code: 200 })
  })

  test('that is not UTF-8 runs nothing', async () => {
    let runs = 0
    const { call } = await startRig({ handlers: { demo: () => runs++ } })
    const body = Buffer.from(JSON.stringify(triggerBody(1, { executorParams: 'caf\u{E9}' })), 'latin1')
    expect(await call('/run', body)).toMatchObject({
      code: 500,
      msg: 'invalid request, the body is not UTF-8.',
    })
    expect(runs).toBe(0)
  })

  test('that breaks off half way runs nothing, and the executor answers the next one', async () => {
    let runs = 0
    const { executor, run, admin } = await startRig({ handlers: { demo: () => runs++ } })
    const { hostname, port } = new URL(executor.status().address ?? '')
    const socket: Socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const body = JSON.stringify(triggerBody(1))
    const head = `POST /run HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`
    await new Promise((resolve) => socket.write(`${head}${body.slice(0, 50)}`, resolve))
    socket.resetAndDestroy()
    await once(socket, 'close')
    await run(2)
    await admin.resultOf(2)
    expect(runs).toBe(1)
  })

  test('over a connection that is kept open for others is answered as well', async () => {
    const { executor } = await startRig({ handlers })
    const { hostname, port } = new URL(executor.status().address ?? '')
    const socket = connect(Number(port), hostname).setEncoding('utf8')
    const beat = 'POST /beat HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n""'
    let text = ''
    socket.on('data', (part: string) => {
      text += part
    })
    socket.write(beat + beat)
    while (text.split('"code":200').length < 3) await once(socket, 'data')
    expect(text).toContain('Connection: keep-alive')
    socket.destroy()
  })
})

describe('mounted in another server', () => {
  test('of the Fetch standard, below a path', async () => {
    const admin = await startedAdmin()
    const executor = createXxlJobExecutor({
      adminAddresses: admin.address,
      appName: 'demo-executor',
      accessToken: token,
      port: null,
      address: 'http://10.0.0.7:8080/xxl',
      basePath: '/xxl',
      logPath: temporaryFolder(),
      handlers,
      logger: false,
    })
    onTestFinished(() => executor.close())
    const send = async (path: string, headers: Record<string, string>): Promise<unknown> => {
      const body = JSON.stringify(triggerBody(1))
      const request = new Request(`http://10.0.0.7:8080${path}`, { method: 'POST', body, headers })
      return (await executor.fetch(request)).json()
    }
    // An admin may still have the address from the process before.
    const early = { code: 500, msg: 'the executor has not started.' }
    for (const path of ['/xxl/run', '/xxl/beat', '/xxl/idleBeat']) {
      expect(await send(path, { 'xxl-job-access-token': token })).toMatchObject(early)
    }
    await executor.start()
    expect(await send('/xxl/run', {})).toMatchObject({ code: 500, msg: 'The access token is wrong.' })
    expect(await send('/run', { 'xxl-job-access-token': token })).toMatchObject({
      code: 500,
      msg: 'invalid request, uri-mapping(/run) not found.',
    })
    expect(await send('/xxl/run', { 'xxl-job-access-token': token })).toMatchObject({ code: 200 })
    expect(await admin.resultOf(1)).toMatchObject({ code: 200 })
    await admin.until(({ beats }) => beats.length > 0)
    expect(admin.beats[0]?.body).toContain('"registryValue":"http://10.0.0.7:8080/xxl"')
  })

  test('of node:http', async () => {
    const admin = await startedAdmin()
    const executor = createXxlJobExecutor({
      adminAddresses: [admin.address],
      appName: 'demo-executor',
      accessToken: null,
      port: null,
      address: 'http://10.0.0.7:8080/',
      logPath: temporaryFolder(),
      handlers,
      logger: false,
    })
    onTestFinished(() => executor.close())
    const server = createServer((request, response) => {
      executor.listener(request, response)
    })
    server.listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.close()
    })
    await once(server, 'listening')
    await executor.start()
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect((await callExecutor(address, '/run', triggerBody(1))).json).toMatchObject({ code: 200 })
    expect(await admin.resultOf(1)).toMatchObject({ code: 200 })
  })
})

test('without a port the executors of one machine take the first free ones from 9999 on', async () => {
  const admin = await startedAdmin()
  const executors = [1, 2].map(() =>
    createXxlJobExecutor({
      adminAddresses: admin.address,
      appName: 'demo-executor',
      accessToken: null,
      logPath: temporaryFolder(),
      logger: false,
    }),
  )
  onTestFinished(async () => {
    for (const executor of executors) await executor.close()
  })
  for (const executor of executors) await executor.start()
  const ports = executors.map((executor) => Number(new URL(executor.status().address ?? '').port))
  expect(Math.min(...ports)).toBeGreaterThanOrEqual(9999)
  expect(ports[0]).not.toBe(ports[1])
})
