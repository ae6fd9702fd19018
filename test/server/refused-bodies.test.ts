import { EventEmitter, once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { unawaited } from '../../src/core/promises.ts'
import { createServer } from '../../src/server/create-server.ts'
import { auth, filledScheduler, tokens } from '../support/server-fixture.ts'

const chunk = Buffer.alloc(1024 * 1024, ' ')

async function mount(): Promise<(request: Request) => Promise<Response>> {
  const scheduler = await filledScheduler()
  const server = await createServer({ scheduler, auth, basePath: '/admin/jobs', dashboard: false })
  onTestFinished(async () => {
    await server.close()
    await scheduler.shutdown()
  })
  return (request) => server.fetch(request)
}

/** As `examples/express.js` mounts it. */
async function hostOf(handle: (request: Request) => Promise<Response>): Promise<number> {
  const answerTo = async (request: IncomingMessage): Promise<Response> =>
    handle(
      new Request(`http://localhost${request.url}`, {
        method: request.method ?? '',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
        body: Readable.toWeb(request) as ReadableStream<Uint8Array>,
        duplex: 'half',
      }),
    )
  // A connection that stands still is closed soon.
  const host = createHttpServer({ keepAliveTimeout: 200 }, (request, response) => {
    unawaited(
      answerTo(request).then(async (answer) => response.writeHead(answer.status).end(await answer.text())),
      () => response.destroy(),
    )
  })
  await once(host.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    host.close()
    host.closeAllConnections()
  })
  return (host.address() as AddressInfo).port
}

/** The first line of the answer to a client that reads nothing before it has sent all. */
async function firstLine(port: number, token: string, announces: boolean): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1')
  // What is cut off shows by the writes that fail.
  socket.on('error', () => {})
  const parts = 20
  const send = (part: Buffer | string): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.write(part, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  await send(
    'PUT /admin/jobs/api/jobs/made/new HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n' +
      `authorization: Bearer ${token}\r\n` +
      (announces ? `content-length: ${parts * chunk.length}\r\n\r\n` : 'transfer-encoding: chunked\r\n\r\n'),
  )
  for (let part = 0; part < parts; part++) {
    await send(announces ? chunk : Buffer.concat([Buffer.from('100000\r\n'), chunk, Buffer.from('\r\n')]))
  }
  if (!announces) await send('0\r\n\r\n')
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return answer.toString().split('\r\n')[0]
}

test.each([
  ['too large, which its head says', tokens.admin, true, 413],
  ['too large, which is found out', tokens.admin, false, 413],
  ['of nobody, with a length', 'wrong', true, 401],
  ['of nobody, without one', 'wrong', false, 401],
])(
  'a client that sends all of a body that is %s reads the refusal',
  async (_name, token, announces, status) => {
    const port = await hostOf(await mount())
    expect(await firstLine(port, token, announces)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  },
)

test('the server that listens itself lets a client that sends all read the refusal, too', async () => {
  const scheduler = await filledScheduler()
  const server = await createServer({ scheduler, auth, basePath: '/admin/jobs', dashboard: false })
  onTestFinished(async () => {
    await server.close()
    await scheduler.shutdown()
  })
  const port = Number(new URL(await server.listen({ port: 0 })).port)
  expect(await firstLine(port, tokens.admin, false)).toMatch(/^HTTP\/1.1 413 /)
})

test('a body without end is given up', async () => {
  const handle = await mount()
  let given = 0
  const emitter = new EventEmitter()
  const givenUp = once(emitter, 'cancel')
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      given++
      controller.enqueue(chunk)
    },
    cancel: () => {
      emitter.emit('cancel')
    },
  })
  const request = new Request('http://localhost/admin/jobs/api/definitions', {
    method: 'POST',
    headers: { authorization: 'Bearer wrong' },
    body,
    duplex: 'half',
  })
  expect((await handle(request)).status).toBe(401)
  await givenUp
  expect(given).toBeGreaterThan(64)
})

test('a body whose address is not ours is left for the host to read', async () => {
  const handle = await mount()
  const request = new Request('http://localhost/shop/orders', { method: 'POST', body: 'an order' })
  expect((await handle(request)).status).toBe(404)
  expect(await request.text()).toBe('an order')
})
