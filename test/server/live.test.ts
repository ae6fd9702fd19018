import { expect, test, vi } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
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
  for (let count = 0; count < 1100; count++) {
    await resume()
    await pause()
  }
  await using late = await EventStream.open(address, { ...bearer('viewer'), 'last-event-id': lastId })
  expect(await late.nextData()).toMatchObject({ event: 'resync' })
})

test('a principal of one job group hears of that group alone', async () => {
  await using fixture = await serverFixture()
  await using stream = await EventStream.open(fixture.address, bearer('reports'))
  await fixture.scheduler.pauseJob(jobKey('hourly', 'mail'))
  await fixture.scheduler.pauseJob(jobKey('daily', 'reports'))
  expect((await stream.nextData()).data).toMatchObject({ event: 'jobPaused', jobKey: { group: 'reports' } })
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
  await other.shutdown()
})

test('a client that does not read costs nothing, and does not hold up the end', async () => {
  await using fixture = await serverFixture({ maxStreams: 21 })
  const { scheduler, address } = fixture
  const stuck = await Promise.all(Array.from({ length: 20 }, () => stuckClient(address, tokens.viewer)))
  await using reader = await EventStream.open(address, bearer('viewer'))
  // All of them have their streams.
  expect(await fixture.ask('GET /events')).toMatchObject({ status: 429 })
  const before = process.memoryUsage().heapUsed
  let last = ''
  for (let count = 0; count < 3000; count++) {
    await scheduler.pauseTrigger(triggerKey('daily', 'reports'))
    await scheduler.resumeTrigger(triggerKey('daily', 'reports'))
    if (count % 50 === 49) last = (await reader.nextData()).id
  }
  expect(last).toMatch(/\.\d+$/)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60_000_000)
  const began = performance.now()
  await fixture.server.close()
  expect(performance.now() - began).toBeLessThan(4000)
  for (const socket of stuck) socket.destroy()
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
