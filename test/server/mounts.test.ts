import { once } from 'node:events'
import { Agent, createServer as createHttpServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Logger } from '../../src/core/logger.ts'
import { unawaited } from '../../src/core/promises.ts'
import { createServer } from '../../src/server/create-server.ts'
import type { SchedulerServer } from '../../src/server/server-face.ts'
import { auth, filledScheduler, tokens } from '../support/server-fixture.ts'

const base = 'http://localhost:3000/admin/jobs'
const page = 'https://ops.example.com'

function failing(): never {
  throw new Error('no header')
}

/** What a route of Next.js exports, and what Bun serves. */
async function mounted({
  clientAddress = (request: Request) => request.headers.get('x-real-ip') ?? 'unknown',
  logger = false,
}: {
  readonly clientAddress?: (request: Request) => string
  readonly logger?: Logger | false
} = {}): Promise<(request: Request) => Promise<Response>> {
  const scheduler = await filledScheduler()
  const server = await createServer({
    scheduler,
    auth,
    basePath: '/admin/jobs',
    allowedOrigins: [page],
    clientAddress,
    dashboard: false,
    requestsPerMinute: 5,
    maxStreams: 1,
    logger,
  })
  onTestFinished(async () => {
    await server.close()
    await scheduler.shutdown()
  })
  return (request) => server.fetch(request)
}

/** A request as the web platform has it: no socket, and a body that is a stream. */
function asked(path: string, { method = 'GET', body = null as object | null, headers = {} } = {}): Request {
  return new Request(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens.admin}`, ...headers },
    ...(body !== null && { body: streamOf(JSON.stringify(body)), duplex: 'half' }),
  })
}

function streamOf(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
}

describe('a handler in a server of another make', () => {
  test('reads, writes a body that comes as a stream, and knows what is not there', async () => {
    const handle = await mounted()
    const jobs = await handle(asked('/api/jobs?take=1'))
    expect([jobs.status, await jobs.json()]).toMatchObject([200, { items: [{}] }])
    const put = await handle(asked('/api/jobs/made/new', { method: 'PUT', body: { jobType: 'echo' } }))
    expect([put.status, await put.json()]).toMatchObject([200, { changed: true }])
    const gone = await handle(asked('/api/jobs/made/new', { method: 'DELETE' }))
    expect(gone.status).toBe(200)
    const other = await handle(new Request('http://localhost:3000/api/jobs', asked('/')))
    expect(other.status).toBe(404)
  })

  test('takes changes of the pages that it is told of, under whatever host they come', async () => {
    const handle = await mounted()
    const pause = async (origin: string): Promise<number> =>
      (await handle(asked('/api/scheduler/pause-all?dryRun=true', { method: 'POST', headers: { origin } })))
        .status
    expect(await pause(page)).toBe(200)
    expect(await pause('https://evil.example.com')).toBe(403)
  })

  test('limits each client by the address that it is told', async () => {
    const handle = await mounted()
    const ask = async (address: string): Promise<number> =>
      (await handle(asked('/api/jobs', { headers: { 'x-real-ip': address } }))).status
    const statuses: number[] = []
    for (let count = 0; count < 6; count++) statuses.push(await ask('10.0.0.1'))
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    expect(await ask('10.0.0.2')).toBe(200)
  })

  test.each([
    ['throws', failing],
    ['answers no text', async () => '10.0.0.1'],
    ['answers a promise that rejects', () => Promise.reject(new Error('no header'))],
  ])('answers 500 and says why where the one that it asks for the address %s', async (_, ask) => {
    const lines: string[] = []
    const say = (...words: unknown[]): void => {
      lines.push(inspect(words))
    }
    const logger = { debug: say, info: say, warn: say, error: say }
    const handle = await mounted({ logger, clientAddress: ask as unknown as () => string })
    const answer = await handle(asked('/api/jobs'))
    expect([answer.status, await answer.json()]).toMatchObject([500, { code: 'ERR_INVARIANT' }])
    expect(lines.join()).toMatch(
      /'clientAddress' failed.*no header|'clientAddress' must answer a text, not a Promise/s,
    )
  })

  test('streams events until the reader leaves', async () => {
    const handle = await mounted()
    const open = (): Promise<Response> => handle(asked('/api/events'))
    const response = await open()
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    // Without no-transform, what compresses the answers of an application holds the stream back.
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
    const body: ReadableStream<Uint8Array> = response.body ?? expect.fail('a stream has a body')
    const reader = body.getReader()
    expect((await open()).status).toBe(429)
    const paused = await handle(asked('/api/jobs/mail/hourly/pause', { method: 'POST', body: {} }))
    expect(paused.status).toBe(200)
    let text = ''
    while (!text.includes('jobPaused')) text += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    const again = await open()
    expect(again.status).toBe(200)
    await again.body?.cancel()
  })
})

test('requests after the end of the scheduler, and of the server, are refused and are no failures', async () => {
  const failures: string[] = []
  const ignore = (): void => {}
  const note = (_: object, message: string): void => {
    failures.push(message)
  }
  const scheduler = await filledScheduler()
  const logger = { debug: ignore, info: ignore, warn: note, error: note }
  const server = await createServer({ scheduler, auth, basePath: '/admin/jobs', dashboard: false, logger })
  const codes = async (): Promise<unknown[]> => {
    const answers = [asked('/api/jobs'), asked('/api/triggers')].map((request) => server.fetch(request))
    return Promise.all(
      (await Promise.all(answers)).map(async (answer) => [answer.status, await answer.json()]),
    )
  }
  await scheduler.shutdown()
  const ofScheduler: unknown[] = [503, expect.objectContaining({ code: 'ERR_SCHEDULER_SHUTDOWN' })]
  expect(await codes()).toEqual([ofScheduler, ofScheduler])
  await server.close()
  const ofServer: unknown[] = [503, expect.objectContaining({ code: 'ERR_SERVER_CLOSED' })]
  expect(await codes()).toEqual([ofServer, ofServer])
  expect(failures).toEqual([])
})

describe('the end of a server while a page is open', () => {
  const keptAlive = { connection: 'keep-alive' }

  async function closable(): Promise<SchedulerServer> {
    const scheduler = await filledScheduler()
    const server = await createServer({ scheduler, auth, basePath: '/admin/jobs', dashboard: false })
    onTestFinished(async () => {
      await server.close()
      await scheduler.shutdown()
    })
    return server
  }

  test('ends connections of HTTP/1.1 with streams and with what a closed server answers', async () => {
    const server = await closable()
    const ask = async (path: string, headers = {}): Promise<[number, string | null]> => {
      const answer = await server.fetch(asked(path, { headers }))
      if (path === '/api/events') await answer.body?.cancel()
      return [answer.status, answer.headers.get('connection')]
    }
    expect(await ask('/api/jobs', keptAlive)).toEqual([200, null])
    expect(await ask('/api/events', keptAlive)).toEqual([200, 'close'])
    // HTTP/2 forbids the header, and its requests have none.
    expect(await ask('/api/events')).toEqual([200, null])
    await server.close()
    expect(await ask('/api/jobs', keptAlive)).toEqual([503, 'close'])
    expect(await ask('/api/jobs')).toEqual([503, null])
  })

  test('a host that closes first does not wait for the connection of a stream', async () => {
    const server = await closable()
    // Connections that are kept are kept for good.
    const host = createHttpServer({ keepAliveTimeout: 0 }, (request, response) => {
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ])
      unawaited(
        server.fetch(new Request(`http://localhost${request.url}`, { headers })).then(async (answer) => {
          response.writeHead(answer.status, Object.fromEntries(answer.headers))
          for await (const bytes of answer.body ?? []) response.write(bytes)
          response.end()
        }),
        (error) => {
          response.destroy(error instanceof Error ? error : undefined)
        },
      )
    })
    await once(host.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      host.closeAllConnections()
    })
    const { port } = host.address() as AddressInfo
    const agent = new Agent({ keepAlive: true })
    const headers = { authorization: `Bearer ${tokens.admin}` }
    const request = get({ port, path: '/admin/jobs/api/events', agent, headers })
    const [events] = (await once(request, 'response')) as [IncomingMessage]
    expect(events.statusCode).toBe(200)
    events.resume()
    const hasClosed = once(host, 'close')
    host.close()
    await server.close()
    await hasClosed
  })
})
