import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/index.ts'
import { ManualClock } from '../../src/testing.ts'
import { ExecutorClient } from '../../src/xxl-job/admin/executor-client.ts'
import { Poster } from '../../src/xxl-job/protocol/post.ts'
import { readLogResult, type TriggerRequest } from '../../src/xxl-job/protocol/trigger-request.ts'
import { startRig } from './executor-fixture.ts'

const request = (logId: number): TriggerRequest => ({
  jobId: 17,
  executorHandler: 'demo',
  executorParams: 'a=1',
  blockStrategy: 'SERIAL_EXECUTION',
  executorTimeout: 0,
  logId,
  logDateTimeMs: 1_790_000_000_123,
  glueType: 'BEAN',
  glueSource: '',
  glueUpdatetime: 1_780_000_000_000,
  broadcastIndex: 0,
  broadcastTotal: 1,
})

const options = {
  appName: 'demo-executor',
  accessToken: null,
  timeoutMs: 3000,
  poster: new Poster(),
  clock: systemClock,
}

/** An executor that answers as it is told; answers the paths that were asked for. */
async function fakeExecutor(answer: (path: string, response: ServerResponse) => void) {
  const paths: string[] = []
  const server = createServer((incoming, response) => {
    paths.push(incoming.url ?? '')
    incoming.resume()
    incoming.once('end', () => {
      answer(incoming.url ?? '', response)
    })
  })
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { paths, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('the client of an executor', () => {
  test('speaks with an executor of this package', async () => {
    const { admin, executor } = await startRig({
      handlers: {
        demo: (context) => {
          context.log('got {}', context.param)
        },
      },
    })
    const client = new ExecutorClient(executor.status().address ?? '', options)
    expect(await client.beat()).toMatchObject({ kind: 'answered', reply: { code: 200 } })
    expect(await client.idleBeat(17)).toMatchObject({ reply: { code: 200 } })
    expect(await client.run(request(1))).toMatchObject({ reply: { code: 200 } })
    await admin.resultOf(1)
    const answer = await client.log(1, 1_790_000_000_123, 1)
    const page = answer.kind === 'answered' ? readLogResult(answer.reply.content) : null
    expect(page?.logContent).toContain('got a=1')
    expect(await client.kill(17)).toMatchObject({ reply: { code: 200 } })
  })

  test('finds out where an executor takes runs, and does not ask again', async () => {
    const { paths, address } = await fakeExecutor((path, response) => {
      const known = path === '/trigger' || path === '/beat'
      const msg = `invalid request, uri-mapping(${path}) not found.`
      response.end(JSON.stringify(known ? { code: 200, msg: 'Success' } : { code: 500, msg }))
    })
    const client = new ExecutorClient(`${address}/`, options)
    expect(await client.run(request(1))).toMatchObject({ reply: { code: 200 } })
    expect(await client.run(request(2))).toMatchObject({ reply: { code: 200 } })
    expect(paths).toEqual(['/run', '/trigger', '/trigger'])
  })

  test.each([
    [
      'an array, as the executor in Go sends it (C.6 3)',
      '[{"logId":1,"executeResult":{"code":500,"msg":"busy"},"handleCode":500}]',
      { code: 500, msg: 'busy' },
    ],
    [
      'an array without executeResult',
      '[{"logId":1,"handleCode":500,"handleMsg":"busy"}]',
      { code: 500, msg: 'busy' },
    ],
    ['no JSON', '<html>', { code: 500, msg: 'no answer of an executor: <html>' }],
    ['JSON without a code', '{"msg":"x"}', { code: 500 }],
    ['an empty array', '[]', { code: 500 }],
  ])('reads %s', async (_name, text, reply) => {
    const { address, paths } = await fakeExecutor((_path, response) => {
      response.end(text)
    })
    expect(await new ExecutorClient(address, options).run(request(1))).toMatchObject({
      kind: 'answered',
      reply,
    })
    expect(paths).toEqual(['/run'])
  })

  test('sends a run once when its answer is lost, and a beat once more', async () => {
    const { address, paths } = await fakeExecutor((_path, response) => {
      response.destroy()
    })
    const client = new ExecutorClient(address, options)
    expect(await client.run(request(1))).toMatchObject({
      kind: 'unknown',
      error: { code: 'ERR_XXL_JOB_RUN' },
    })
    expect(paths).toEqual(['/run'])
    expect(await client.beat()).toMatchObject({ kind: 'unknown' })
    expect(paths).toEqual(['/run', '/beat', '/beat'])
  })

  test('waits no longer than it may, and then does not know', async () => {
    const clock = new ManualClock()
    const { address, paths } = await fakeExecutor(() => {})
    const answer = new ExecutorClient(address, { ...options, clock }).run(request(1))
    while (paths.length === 0) await clock.settle()
    await clock.advance(3000)
    expect(await answer).toMatchObject({ kind: 'unknown' })
  })

  test('knows that nothing was sent where no executor listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const client = new ExecutorClient(`http://127.0.0.1:${port}`, options)
    expect(await client.run(request(1))).toMatchObject({ kind: 'unsent' })
  })
})
