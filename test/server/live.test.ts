import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { EventRing } from '../../src/server/live/event-ring.ts'
import type { SchedulerServer } from '../../src/server/server-face.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { EventStream, stuckClient } from '../support/event-stream.ts'
import { addPlainJob, filledScheduler, serverFixture, tokens, type Who } from '../support/server-fixture.ts'

const bearer = (who: Who): Record<string, string> => ({ authorization: `Bearer ${tokens[who]}` })
const named = (name: string): object => ({ event: name, scheduler: 'QuartzScheduler', node: 'NON_CLUSTERED' })

test('a page hears what happens, and an execution from its beginning to its end', async () => {
  await using fixture = await serverFixture()
  const { scheduler, address } = fixture
  await using stream = await EventStream.open(address, bearer('viewer'))
  await scheduler.pauseTrigger(triggerKey('daily', 'reports'))
  expect((await stream.nextData()).data).toMatchObject({
    ...named('triggerPaused'),
    triggerKey: { name: 'daily' },
  })
  await scheduler.start()
  const key = await addPlainJob(scheduler, 'failing', 'bad', 'mail')
  await scheduler.triggerJob(key)
  const names: string[] = []
  for (let event = ''; event !== 'jobWasExecuted'; names.push(event)) {
    const { data } = await stream.nextData()
    event = (data as { event: string }).event
    if (event === 'jobWasExecuted') {
      expect(data).toMatchObject({
        jobKey: { name: 'bad' },
        detail: { failed: true },
        fireInstanceId: expect.any(String) as string,
      })
    }
  }
  expect(names).toEqual(['schedulerStarted', 'jobAdded', 'jobScheduled', 'jobToBeExecuted', 'jobWasExecuted'])
})

test('a client that comes back gets what it missed, or is told to look again', async () => {
  await using fixture = await serverFixture()
  const { scheduler, address } = fixture
  const pause = (): Promise<boolean> => scheduler.pauseTrigger(triggerKey('daily', 'reports'))
  const resume = (): Promise<boolean> => scheduler.resumeTrigger(triggerKey('daily', 'reports'))
  let lastId: string
  {
    await using first = await EventStream.open(address, bearer('viewer'))
    await pause()
    lastId = (await first.nextData()).id
  }
  await resume()
  await pause()
  {
    await using again = await EventStream.open(address, { ...bearer('viewer'), 'last-event-id': lastId })
    expect((await again.nextData()).data).toMatchObject({ event: 'triggerResumed' })
    expect((await again.nextData()).data).toMatchObject({ event: 'triggerPaused' })
  }
  for (const unknown of ['other-server.5', lastId.replace(/\d+$/, '999999'), 'nonsense', '']) {
    await using lost = await EventStream.open(address, { ...bearer('viewer'), 'last-event-id': unknown })
    expect(await lost.nextData()).toMatchObject({
      event: 'resync',
      id: expect.stringMatching(/\.\d+$/) as string,
    })
  }
})

test('events that are no longer kept are not passed over in silence', () => {
  const ring = new EventRing(10, new ManualClock())
  const event = { event: 'jobPaused', scheduler: 's', node: 'n', atMs: 0 }
  for (let count = 0; count < 25; count++) ring.add(event)
  expect(ring.after(20, 100)?.map(({ id }) => id)).toEqual([21, 22, 23, 24, 25])
  expect(ring.after(15, 3)?.map(({ id }) => id)).toEqual([16, 17, 18])
  expect(ring.after(25, 100)).toEqual([])
  for (const id of [14, 0, -1, 26]) expect([id, ring.after(id, 100)]).toEqual([id, null])
})

test('a principal of one job group hears of that group alone', async () => {
  await using fixture = await serverFixture()
  await using stream = await EventStream.open(fixture.address, bearer('reports'))
  await fixture.scheduler.pauseJob(jobKey('hourly', 'mail'))
  await fixture.scheduler.pauseJob(jobKey('daily', 'reports'))
  expect((await stream.nextData()).data).toMatchObject({ event: 'jobPaused', jobKey: { group: 'reports' } })
})

test('a client hears a ping every 15 seconds, also while there are events that it may not see', async () => {
  const clock = new ManualClock()
  await using fixture = await serverFixture({ clock })
  await using stream = await EventStream.open(fixture.address, bearer('reports'))
  const first = await stream.next()
  const next = stream.next()
  for (let second = 0; second < 15; second++) {
    await fixture.scheduler.pauseJob(jobKey('hourly', 'mail'))
    await clock.advance(1000)
  }
  const ping = await next
  expect(ping).toMatchObject({ event: 'ping', data: {} })
  const numberOf = (id = ''): number => Number(id.split('.')[1])
  expect(numberOf(ping?.id)).toBe(numberOf(first?.id) + 15)
})

test('one stream has the events of every scheduler, or of the one that was asked for', async () => {
  const other = await filledScheduler({ schedulerName: 'other' })
  const served = await filledScheduler()
  await using fixture = await serverFixture({ served, scheduler: [served, other] })
  await using all = await EventStream.open(fixture.address, bearer('viewer'))
  await using one = await EventStream.open(fixture.address, bearer('viewer'), '?scheduler=other')
  await served.pauseAll()
  await other.pauseAll()
  expect((await all.nextData()).data).toMatchObject({ event: 'triggersPaused', scheduler: 'QuartzScheduler' })
  expect((await all.nextData()).data).toMatchObject({ event: 'triggersPaused', scheduler: 'other' })
  expect((await one.nextData()).data).toMatchObject({ event: 'triggersPaused', scheduler: 'other' })
  expect(await fixture.ask('GET /events?scheduler=nosuch')).toMatchObject({
    status: 404,
    json: { code: 'ERR_NOT_FOUND' },
  })
  await other.shutdown()
})

test('clients that do not read do not hold up the others, and not the end', async () => {
  await using fixture = await serverFixture({ maxStreams: 21 })
  const { scheduler, address } = fixture
  const stuck = await Promise.all(Array.from({ length: 20 }, () => stuckClient(address, tokens.viewer)))
  await using reader = await EventStream.open(address, bearer('viewer'))
  // All of them have their streams.
  expect(await fixture.ask('GET /events', { who: 'viewer' })).toMatchObject({ status: 429 })
  let last = ''
  for (let count = 0; count < 3000; count++) {
    await scheduler.pauseTrigger(triggerKey('daily', 'reports'))
    await scheduler.resumeTrigger(triggerKey('daily', 'reports'))
    if (count % 50 === 49) last = (await reader.nextData()).id
  }
  expect(last).toMatch(/\.\d+$/)
  const began = performance.now()
  await fixture.server.close()
  expect(performance.now() - began).toBeLessThan(4000)
  for (const socket of stuck) socket.destroy()
})

async function pauseAndResume(scheduler: Scheduler, times: number): Promise<void> {
  for (let count = 0; count < times; count++) {
    await scheduler.pauseTrigger(triggerKey('daily', 'reports'))
    await scheduler.resumeTrigger(triggerKey('daily', 'reports'))
  }
}

/** Whether live streams observe the scheduler: nothing else here does. */
function isObserved({ events }: Scheduler): boolean {
  return (events as unknown as { has(name: string): boolean }).has('nodeRecovered')
}

/** A stream that is opened without a connection, so that its end is known at once. */
async function openedBy(
  server: SchedulerServer,
  who: Who = 'viewer',
  address = 'desk',
): Promise<{ readonly ending: AbortController; readonly body: ReadableStream<Uint8Array> }> {
  const ending = new AbortController()
  const request = new Request('http://localhost/api/events', {
    headers: { ...bearer(who), 'x-real-ip': address },
    signal: ending.signal,
  })
  const { status, body } = await server.fetch(request)
  if (status !== 200 || body === null) expect.fail(`answered ${status}`)
  return { ending, body }
}

test('for a client that does not read nothing is kept but what all share', async () => {
  const clock = new ManualClock()
  await using fixture = await serverFixture({ clock })
  const { body } = await openedBy(fixture.server)
  // More than the ring holds, in windows that leave nothing out.
  for (let window = 0; window < 12; window++) {
    await pauseAndResume(fixture.scheduler, 250)
    await clock.advance(2000)
  }
  let heard = 0
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    heard += chunk.split('"event":"trigger').length - 1
    if (chunk.includes('resync') || heard > 500) break
  }
  expect(heard).toBeLessThan(500)
})

test('of a flood of events the rest is left out, and one word at its end says so', async () => {
  const clock = new ManualClock()
  await using fixture = await serverFixture({ clock })
  await using stream = await EventStream.open(fixture.address, bearer('viewer'))
  const first = stream.nextData()
  await pauseAndResume(fixture.scheduler, 3000)
  await clock.advance(100)
  expect((await first).data).toMatchObject({ event: 'triggerPaused' })
  let heard = 1
  await clock.advance(2000)
  for (let { event } = await stream.nextData(); event !== 'resync'; { event } = await stream.nextData())
    heard++
  expect(heard).toBe(1000)
  const next = stream.nextData()
  await pauseAndResume(fixture.scheduler, 1)
  await clock.advance(100)
  expect((await next).data).toMatchObject({ event: 'triggerPaused' })
})

test('the rest of a flood is not even observed, and who comes meanwhile hears what follows', async () => {
  const clock = new ManualClock()
  await using fixture = await serverFixture({ clock })
  const { scheduler, address } = fixture
  for (let flood = 0; flood < 2; flood++) {
    const early = await EventStream.open(address, bearer('viewer'))
    await early.next()
    await pauseAndResume(scheduler, 500)
    expect(isObserved(scheduler)).toBe(true)
    await pauseAndResume(scheduler, 1)
    expect(isObserved(scheduler)).toBe(false)
    await using late = await EventStream.open(address, bearer('viewer'))
    await late.next()
    expect(isObserved(scheduler)).toBe(false)
    await early[Symbol.asyncDispose]()
    await clock.advance(2000)
    expect(isObserved(scheduler)).toBe(true)
    expect(await late.nextData()).toMatchObject({ event: 'resync' })
    const next = late.nextData()
    await pauseAndResume(scheduler, 1)
    await clock.advance(100)
    expect((await next).data).toMatchObject({ event: 'triggerPaused' })
    // The window of these two events.
    await clock.advance(2000)
  }
})

test('a flood does not end the wait for a client that has gone, nor outlast the server', async () => {
  const clock = new ManualClock()
  await using fixture = await serverFixture({ clock })
  const { server, scheduler } = fixture
  const { ending } = await openedBy(server)
  await pauseAndResume(scheduler, 501)
  ending.abort()
  expect(isObserved(scheduler)).toBe(false)
  await clock.advance(2000)
  expect(isObserved(scheduler)).toBe(true)
  await pauseAndResume(scheduler, 501)
  expect(isObserved(scheduler)).toBe(false)
  await openedBy(server)
  await server.close()
  await clock.advance(2000)
  expect(isObserved(scheduler)).toBe(false)
})

test('a stream ends after an hour, so that its client has to say again who it is', async () => {
  const clock = new ManualClock()
  await using fixture = await serverFixture({ clock })
  const stream = await EventStream.open(fixture.address, bearer('viewer'))
  expect(await stream.next()).toMatchObject({ data: null })
  const next = stream.next()
  await clock.advance(3_600_000)
  for (let event = await next; event !== null; ) event = await stream.next()
})

test('streams are limited in number, and end with the server', async () => {
  await using fixture = await serverFixture({ maxStreams: 2 })
  const first = await EventStream.open(fixture.address, bearer('viewer'))
  const second = await EventStream.open(fixture.address, bearer('viewer'))
  const { status, json } = await fixture.ask('GET /events', { who: 'viewer' })
  expect([status, json]).toMatchObject([429, { code: 'ERR_RATE_LIMITED' }])
  await first[Symbol.asyncDispose]()
  await vi.waitFor(
    async () => {
      await using third = await EventStream.open(fixture.address, bearer('viewer'))
      expect(third).toBeDefined()
    },
    { timeout: 10_000 },
  )
  await second.next()
  const closing = fixture.server.close()
  for (let event = await second.next(); event !== null; ) event = await second.next()
  await closing
})

test('one viewer cannot take the streams of all others', async () => {
  const clientAddress = (request: Request): string => request.headers.get('x-real-ip') ?? 'unknown'
  const { server, ...fixture } = await serverFixture({ maxStreams: 4, clientAddress })
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const nextOf = async ({ body }: { readonly body: ReadableStream<Uint8Array> }): Promise<unknown> => {
    const reader = body.getReader()
    await reader.read()
    return reader.read()
  }
  const refused = async (who: Who, address = 'desk'): Promise<void> => {
    await expect(openedBy(server, who, address)).rejects.toThrow('answered 429')
  }
  const ofOne: Awaited<ReturnType<typeof openedBy>>[] = []
  for (let count = 0; count < 4; count++) ofOne.push(await openedBy(server))
  await refused('viewer')
  // The same viewer elsewhere and others get streams of theirs, until all have as many.
  await openedBy(server, 'viewer', 'phone')
  for (const who of ['operator', 'admin', 'reports'] as const) await openedBy(server, who)
  for (const who of ['viewer', 'operator', 'admin', 'reports'] as const) await refused(who)
  await refused('viewer', 'phone')
  for (const stream of ofOne) expect(await nextOf(stream)).toEqual({ done: true, value: undefined })
})

test('the server does not wait for the connection of a stream that has ended', async () => {
  // Its time stands still, so nothing is cut, and clients keep their connections until Node.js ends them.
  await using fixture = await serverFixture({ clock: new ManualClock() })
  const plain = createServer((_request, response) => response.end())
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void plain.close())
  const { port } = plain.address() as AddressInfo
  const [client, idle] = [
    await stuckClient(fixture.address, tokens.viewer),
    await stuckClient(`http://127.0.0.1:${port}`, ''),
  ]
  const hasData = (socket: Socket) => new Promise((resolve) => socket.resume().once('data', resolve))
  await Promise.all([client, idle].map(hasData))
  const ended = (socket: Socket, name: string) =>
    new Promise<string>((resolve) => {
      socket.once('close', () => {
        resolve(name)
      })
    })
  const first = Promise.race([ended(client, 'the stream'), ended(idle, 'idle')])
  await fixture.server.close()
  expect(await first).toBe('the stream')
})

test('a request that is aborted ends its stream, also where nobody reads or cancels the body', async () => {
  const clock = new ManualClock()
  await using fixture = await serverFixture({ clock, maxStreams: 1 })
  const { server, scheduler } = fixture
  const read = await openedBy(server)
  const reader = read.body.getReader()
  await reader.read()
  const next = reader.read()
  const refused = await fixture.ask('GET /events')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  read.ending.abort()
  expect(await next).toEqual({ done: true, value: undefined })
  const unread = await openedBy(server)
  unread.ending.abort()
  const { ending } = await openedBy(server)
  expect(isObserved(scheduler)).toBe(true)
  ending.abort()
  // A client has two minutes to come back, for which events are kept.
  await clock.advance(120_000)
  expect(isObserved(scheduler)).toBe(false)
})
