import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { type ServerFixture, serverFixture, tokens } from '../support/server-fixture.ts'

async function opened(): Promise<ServerFixture> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  return fixture
}

const put = async (
  { address }: ServerFixture,
  body: Uint8Array<ArrayBuffer>,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly json: unknown }> => {
  const headers = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json', ...more }
  const answer = await fetch(`${address}/api/jobs/raw/latin`, { method: 'PUT', headers, body })
  return { status: answer.status, json: await answer.json() }
}

const bytesOf = (text: string, encoding: BufferEncoding): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, encoding))

test('a body that is not UTF-8 is refused, and nothing of it is stored', async () => {
  const fixture = await opened()
  const body = JSON.stringify({ jobType: 'echo', durable: true, description: 'caf\u{E9}' })
  expect(await put(fixture, bytesOf(body, 'latin1'))).toMatchObject({
    status: 400,
    json: { field: 'body', problems: [{ field: 'body', message: 'must be UTF-8' }] },
  })
  const key = new JobKey('latin', 'raw')
  expect(await fixture.scheduler.getJobDetail(key)).toBeNull()
  expect(await put(fixture, bytesOf(body, 'utf8'))).toMatchObject({ status: 200 })
  expect(await fixture.scheduler.getJobDetail(key)).toMatchObject({ description: 'caf\u{E9}' })
})

test('a body that is compressed is refused, and says that it is', async () => {
  const fixture = await opened()
  const whole = { jobType: 'echo', durable: true }
  const body = new Uint8Array(gzipSync(JSON.stringify(whole)))
  const message = 'is gzip, and compressed bodies are not taken: send the body as it is, without this header'
  expect(await put(fixture, body, { 'content-encoding': 'gzip' })).toMatchObject({
    status: 400,
    json: { problems: [{ field: 'content-encoding', message }] },
  })
  const plain = bytesOf(JSON.stringify(whole), 'utf8')
  expect(await put(fixture, plain, { 'content-encoding': 'identity' })).toMatchObject({ status: 200 })
})

test('a body may begin with a byte order mark', async () => {
  const fixture = await opened()
  const body = bytesOf(`\u{FEFF}${JSON.stringify({ jobType: 'echo', durable: true })}`, 'utf8')
  expect(await put(fixture, body)).toMatchObject({ status: 200 })
})

test('a body that the application has read already is refused with how to mount the server', async () => {
  const { server } = await opened()
  const mounting = 'mount the server before what reads bodies, such as express.json()'
  const ask = async (body: string | ReadableStream, read: boolean): Promise<unknown> => {
    const headers = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json' }
    const init: RequestInit = { method: 'POST', headers, body, ...{ duplex: 'half' } }
    const request = new Request('http://localhost/api/jobs/reports/daily/pause', init)
    if (read) await request.text()
    return (await server.fetch(request)).json()
  }
  const messages = (message: unknown): object => ({ code: 'ERR_INVALID_ARGUMENT', problems: [{ message }] })
  const problem = `has been read before the server got the request: ${mounting}`
  expect(await ask('{}', true)).toMatchObject(messages(problem))
  const gone = new ReadableStream({
    start: (controller) => {
      controller.error(new Error('aborted'))
    },
  })
  const other = `has not come to its end; where the application has read it before, ${mounting}`
  expect(await ask(gone, false)).toMatchObject(messages(other))
})

test('a key for repetitions that came with another request is refused with what to do', async () => {
  const fixture = await opened()
  const headers = { 'idempotency-key': 'one' }
  const pause = (reason: string) =>
    fixture.ask('POST /jobs/reports/daily/pause', { headers, body: { reason, untilMs: null } })
  expect(await pause('a')).toMatchObject({ status: 200 })
  expect((await pause('b')).json).toMatchObject({
    code: 'ERR_IDEMPOTENCY_KEY',
    detail: expect.stringContaining('Make a new one for each request') as string,
  })
})

test.each(['%ff', '%', '%zz', 'a%E6%8A', '%ED%A0%80'])(
  'a path with %j is refused, and names nothing',
  async (name) => {
    const fixture = await opened()
    const body = { jobType: 'echo', durable: true }
    const refused = await fixture.ask(`PUT /jobs/raw/${name}`, { body })
    expect(refused).toMatchObject({ status: 400, json: { field: 'path' } })
    expect(refused.json).toMatchObject({ detail: expect.stringContaining('percent-encoded UTF-8') as string })
    expect(await fixture.scheduler.getJobDetail(new JobKey(name, 'raw'))).toBeNull()
    const encoded = `PUT /jobs/raw/${encodeURIComponent(name)}`
    expect(await fixture.ask(encoded, { body })).toMatchObject({ status: 200 })
    expect(await fixture.scheduler.getJobDetail(new JobKey(name, 'raw'))).not.toBeNull()
  },
)

test.each(['search=%ff', 'search=100%', '%ff=1', 'take=1&search=a%E6%8A'])(
  'a query with %j is refused',
  async (query) => {
    const fixture = await opened()
    const refused = await fixture.ask(`GET /jobs?${query}`)
    expect(refused).toMatchObject({ status: 400, json: { problems: [{ field: 'query' }] } })
    expect(await fixture.ask(`GET /jobs?search=${encodeURIComponent('100%')}`)).toMatchObject({ status: 200 })
  },
)

test('a part of a path is not told to be left out', async () => {
  const fixture = await opened()
  const { json } = await fixture.ask('POST /jobs/reports/daily/shards/x/disable')
  const message = 'must be a whole number in digits from 0 to 999'
  expect(json).toMatchObject({ problems: [{ field: 'path.item', message }] })
})

test('a field has one problem, with its own bounds', async () => {
  const fixture = await opened()
  const inQuery = await fixture.ask('GET /completion?of=jobs&take=9007199254740992')
  const message = 'must be a whole number in digits from 1 to 50, or be left out'
  expect(inQuery.json).toMatchObject({ problems: [{ field: 'query.take', message }] })
  const body = { reason: null, untilMs: 1e308 }
  const { json } = await fixture.ask('POST /jobs/reports/daily/pause', { body })
  expect(json).toMatchObject({
    problems: [{ field: 'body.untilMs', message: expect.stringContaining('8640000000000000') as string }],
  })
})
