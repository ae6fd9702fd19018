import { once, setMaxListeners } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import { Poster, type PostOptions } from '../../src/xxl-job/protocol/post.ts'
import { selfSignedCertificate } from '../support/self-signed-certificate.ts'

const clock = new ManualClock()
const options: PostOptions = { headers: {}, timeoutMs: 3000, answerBytesMax: 1000, clock }

async function listen(answer: (response: ServerResponse, request: IncomingMessage) => unknown) {
  const paths: string[] = []
  let connections = 0
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    request.resume().once('end', () => answer(response, request))
  })
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/run`
  return { url, server, paths, connections: () => connections }
}

test('requests that follow each other share a connection', async () => {
  const { url, connections } = await listen((response) => response.end('yes'))
  const poster = new Poster()
  for (let count = 0; count < 5; count++) {
    expect(await poster.post(url, '{}', options)).toEqual({ status: 200, text: 'yes' })
  }
  expect(connections()).toBe(1)
})

test('a connection that was closed meanwhile is not used again', async () => {
  const { url, server, connections } = await listen((response) => response.end('yes'))
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  const poster = new Poster()
  for (let count = 0; count < 3; count++) {
    await poster.post(url, '{}', options)
    const closed = once(sockets.at(-1) as Socket, 'close')
    server.closeAllConnections()
    await closed
    // The other end hears of it in the next turn.
    await clock.settle()
  }
  expect(connections()).toBe(3)
})

test('a redirect is an answer like others', async () => {
  const { url, paths } = await listen((response) => response.writeHead(302, { location: '/other' }).end())
  expect(await new Poster().post(url, '{}', options)).toEqual({ status: 302, text: '' })
  expect(paths).toEqual(['/run'])
})

test('no more of an answer is read than is wanted', async () => {
  const { url } = await listen((response) => response.end('x'.repeat(5_000_000)))
  const { text } = await new Poster().post(url, '{}', options)
  expect(text.length).toBeGreaterThan(1000)
  expect(text.length).toBeLessThan(1_000_000)
})

test('a request that waits for a free connection was not sent', async () => {
  const { url, server, paths } = await listen(() => {})
  const poster = new Poster()
  const others = Array.from({ length: 64 }, () => poster.post(url, '{}', { ...options, timeoutMs: 10_000 }))
  const ended = Promise.allSettled(others)
  while (paths.length < 64) await clock.settle()
  const last = poster.post(url, '{}', options)
  const refused = expect(last).rejects.toMatchObject({ isSent: false })
  await clock.advance(3000)
  await refused
  server.closeAllConnections()
  const isLost = { status: 'rejected', reason: expect.objectContaining({ isSent: true }) as unknown }
  expect(await ended).toEqual(others.map(() => isLost))
  expect(paths).toHaveLength(64)
})

test('a request may wait for a connection as long as it says, also before the time for the answer begins', async () => {
  const held: ServerResponse[] = []
  const { url, paths } = await listen((response) => held.push(response))
  const poster = new Poster()
  const others = Array.from({ length: 64 }, () => poster.post(url, '{}', { ...options, timeoutMs: 60_000 }))
  while (held.length < 64) await clock.settle()
  let hasConnection = false
  const onConnection = () => {
    hasConnection = true
  }
  const last = poster.post(url, '{}', { ...options, waitMs: 60_000, onConnection })
  await clock.advance(59_999)
  expect([paths.length, hasConnection]).toEqual([64, false])
  for (const response of held.splice(0)) response.end('yes')
  await Promise.all(others)
  while (held.length < 1) await clock.settle()
  expect(hasConnection).toBe(true)
  await clock.advance(2999)
  held[0]?.end('late')
  expect(await last).toMatchObject({ text: 'late' })
})

test('a request is ended while it waits for a connection, and not when it may have been sent', async () => {
  const held: ServerResponse[] = []
  const { url, paths } = await listen((response) => held.push(response))
  const poster = new Poster()
  const [early, sent, waiting] = [new AbortController(), new AbortController(), new AbortController()]
  early.abort()
  const unsent = { isSent: false }
  await expect(poster.post(url, '{}', { ...options, signal: early.signal })).rejects.toMatchObject(unsent)
  setMaxListeners(100, sent.signal)
  const others = Array.from({ length: 64 }, () => poster.post(url, '{}', { ...options, signal: sent.signal }))
  while (held.length < 64) await clock.settle()
  const last = poster.post(url, '{}', { ...options, signal: waiting.signal })
  sent.abort()
  waiting.abort()
  await expect(last).rejects.toMatchObject(unsent)
  for (const response of held) response.end('yes')
  expect(await Promise.all(others)).toHaveLength(64)
  expect(paths).toHaveLength(64)
})

test('a request whose header is impossible was not sent', async () => {
  const { url, paths } = await listen((response) => response.end())
  const failure = new Poster().post(url, '{}', { ...options, headers: { token: 'a\nb' } })
  await expect(failure).rejects.toMatchObject({ isSent: false })
  expect(paths).toEqual([])
})

test('a certificate that cannot be trusted ends it before anything was sent', async () => {
  const { certificate, key } = selfSignedCertificate()
  const paths: string[] = []
  const server = createTlsServer({ cert: certificate, key }, (request, response) => {
    paths.push(request.url ?? '')
    response.end('yes')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const ended = new Promise((resolve) => {
    server.once('connection', (socket: Socket) => socket.once('close', resolve))
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/run`
  await expect(new Poster().post(url, '{}', options)).rejects.toMatchObject({
    isSent: false,
    cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  })
  await ended
  expect(paths).toEqual([])
})
