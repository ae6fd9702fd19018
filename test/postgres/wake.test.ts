import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WakeListener } from '../../src/jobstore/postgres/wake-listener.ts'
import { readWakeMessage, type WakeMessage, wakeChannel } from '../../src/jobstore/postgres/wake-message.ts'
import { WakeNotifier, type WakeNotifierOptions } from '../../src/jobstore/postgres/wake-notifier.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { testRunner } from '../support/postgres-runner.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database[Symbol.asyncDispose]())

const channel = wakeChannel(sqlNames('test', {}), 'test')

/** A queue that a test takes from as things happen. */
class Happenings<Item> {
  readonly #items: Item[] = []
  #wake: (() => void) | null = null

  push(item: Item): void {
    this.#items.push(item)
    this.#wake?.()
  }

  async next(): Promise<Item> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) return item
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  get count(): number {
    return this.#items.length
  }
}

class Ear implements AsyncDisposable {
  readonly messages = new Happenings<WakeMessage>()
  readonly starts = new Happenings<true>()
  readonly errors = new Happenings<unknown>()
  readonly #listener: WakeListener
  readonly #dispose: () => Promise<void>

  constructor(connectionString: string, heartbeatMs = 15_000) {
    const store = testRunner(connectionString)
    this.#listener = new WakeListener({
      connect: () => store.connections.dedicatedClient(),
      channel,
      clock: systemClock,
      random: () => 0,
      heartbeatMs,
      onWake: (message) => {
        this.messages.push(message)
      },
      onListening: () => {
        this.starts.push(true)
      },
      onError: (error) => {
        this.errors.push(error)
      },
    })
    this.#listener.start()
    this.#dispose = async () => {
      await this.#listener.close()
      await store.runner.close()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose()
  }
}

const send = (earliestMs: number): Promise<unknown> =>
  database.query('SELECT pg_notify($1, $2)', [channel, JSON.stringify({ earliestMs, from: 'peer' })])

const newNotifier = (
  { connections }: Pick<WakeNotifierOptions, 'connections'>,
  clock: Clock = systemClock,
): WakeNotifier =>
  new WakeNotifier({
    connections,
    channel,
    from: 'node-1',
    clock,
    onError: (error) => expect.fail(String(error)),
  })

describe('waking other nodes', () => {
  test('what one node says, another hears', async () => {
    await using ear = new Ear(database.connectionString)
    await ear.starts.next()
    await using store = testRunner(database.connectionString)
    const notifier = newNotifier(store)
    notifier.notify(3000)
    expect(await ear.messages.next()).toEqual({ earliestMs: 3000, from: 'node-1' })
    await notifier.close()
  })

  test('what comes while one is under way becomes one, of the earliest', async () => {
    await using ear = new Ear(database.connectionString)
    await ear.starts.next()
    await using store = testRunner(database.connectionString)
    const notifier = newNotifier(store)
    notifier.notify(9)
    // The first is on its way after this turn.
    await new Promise((resolve) => setImmediate(resolve))
    for (const earliestMs of [7, 5, 8, 6]) notifier.notify(earliestMs)
    await notifier.close()
    expect([await ear.messages.next(), await ear.messages.next()]).toMatchObject([
      { earliestMs: 9 },
      { earliestMs: 5 },
    ])
    notifier.notify(1)
    await send(2)
    expect(await ear.messages.next()).toMatchObject({ earliestMs: 2 })
    expect(ear.messages.count).toBe(0)
  })

  test('a change that lets nothing fire earlier is told as well, and hides no instant', async () => {
    await using ear = new Ear(database.connectionString)
    await ear.starts.next()
    await using store = testRunner(database.connectionString)
    const notifier = newNotifier(store)
    notifier.notify(null)
    expect(await ear.messages.next()).toEqual({ earliestMs: null, from: 'node-1' })
    for (const earliestMs of [null, 5, null]) notifier.notify(earliestMs)
    expect(await ear.messages.next()).toEqual({ earliestMs: 5, from: 'node-1' })
    await notifier.close()
    expect(ear.messages.count).toBe(0)
  })

  test('messages that no loop waits for gather, and what is due soon takes them along', async () => {
    await using ear = new Ear(database.connectionString)
    await ear.starts.next()
    await using store = testRunner(database.connectionString)
    const clock = new ManualClock(1_000_000)
    const notifier = newNotifier(store, clock)
    notifier.notify(null)
    expect(await ear.messages.next()).toMatchObject({ earliestMs: null })

    const [far, farther] = [clock.now() + 60_000, clock.now() + 70_000]
    for (const earliestMs of [null, farther, far, null]) notifier.notify(earliestMs)
    await clock.advance(49)
    // What is sent now comes behind all that was sent before.
    await send(1)
    expect(await ear.messages.next()).toMatchObject({ earliestMs: 1 })
    await clock.advance(1)
    expect(await ear.messages.next()).toMatchObject({ earliestMs: far })

    notifier.notify(null)
    notifier.notify(clock.now() + 1999)
    expect(await ear.messages.next()).toMatchObject({ earliestMs: clock.now() + 1999 })

    notifier.notify(far)
    await notifier.close()
    expect(await ear.messages.next()).toMatchObject({ earliestMs: far })
    expect(ear.messages.count).toBe(0)
  })

  test('a notifier without a database says so and throws nothing', async () => {
    await using store = testRunner('postgres://127.0.0.1:1/nothing')
    const errors: unknown[] = []
    const onError = (error: unknown): number => errors.push(error)
    const { connections } = store
    const notifier = new WakeNotifier({ connections, channel, from: 'node-1', clock: systemClock, onError })
    notifier.notify(1)
    await notifier.close()
    expect(errors).toHaveLength(1)
  })

  test('passes over what is no message', async () => {
    await using ear = new Ear(database.connectionString)
    await ear.starts.next()
    for (const payload of ['', 'x', '5', 'null', '{}', '{"earliestMs":"1","from":"a"}']) {
      expect(readWakeMessage(payload)).toBeNull()
      await database.query('SELECT pg_notify($1, $2)', [channel, payload])
    }
    await send(4)
    expect(await ear.messages.next()).toEqual({ earliestMs: 4, from: 'peer' })
  })

  test('listens on where the server ends idle sessions', async () => {
    await using impatient = await freshDatabase()
    const name = new URL(impatient.connectionString).pathname.slice(1)
    await impatient.query(`ALTER DATABASE ${name} SET idle_session_timeout = '300ms'`)
    await using ear = new Ear(impatient.connectionString)
    await ear.starts.next()
    const other = new pg.Client({ connectionString: impatient.connectionString })
    const ended = new Promise((resolve) => other.on('error', resolve))
    await other.connect()
    // It has been idle for less time than the one that listens.
    expect(await ended).toMatchObject({ code: '57P05' })
    await impatient.query('SELECT pg_notify($1, $2)', [
      channel,
      JSON.stringify({ earliestMs: 6, from: 'peer' }),
    ])
    expect(await ear.messages.next()).toMatchObject({ earliestMs: 6 })
    expect(ear.errors.count).toBe(0)
  })

  test('listens again after its server process was ended', async () => {
    await using ear = new Ear(database.connectionString)
    await ear.starts.next()
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
    )
    await ear.errors.next()
    await ear.starts.next()
    await send(5)
    expect(await ear.messages.next()).toMatchObject({ earliestMs: 5 })
  })

  test('listens again when the network came back, also from a silent death', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    await using ear = new Ear(proxy.through(database.connectionString), 50)
    await ear.starts.next()
    proxy.refuse()
    await ear.errors.next()
    proxy.heal()
    await ear.starts.next()
    proxy.blackHole()
    await ear.errors.next()
    proxy.heal()
    await ear.starts.next()
    await send(6)
    expect(await ear.messages.next()).toMatchObject({ earliestMs: 6 })
  })

  test('closes at once, whatever the network does', async () => {
    await using proxy = await TcpProxy.startFor(database.connectionString)
    {
      await using ear = new Ear(proxy.through(database.connectionString))
      await ear.starts.next()
      proxy.blackHole()
    }
    {
      await using unheard = new Ear(proxy.through(database.connectionString))
      expect(unheard.starts.count).toBe(0)
    }
    proxy.heal()
  })

  test('every scheduler has a channel of its own, short enough for PostgreSQL', () => {
    const longest = { prefix: 'p'.repeat(40), schema: 's'.repeat(40) }
    const channels = [
      wakeChannel(sqlNames('test', {}), 'a'),
      wakeChannel(sqlNames('test', {}), 'b'),
      wakeChannel(sqlNames('test', { schema: 'other' }), 'a'),
      wakeChannel(sqlNames('test', { prefix: 'other_' }), 'a'),
      wakeChannel(sqlNames('test', longest), 'n'.repeat(200)),
    ]
    expect(new Set(channels).size).toBe(channels.length)
    expect(Math.max(...channels.map((name) => Buffer.byteLength(name)))).toBeLessThanOrEqual(63)
    expect(wakeChannel(sqlNames('test', { schema: 'PUBLIC' }), 'a')).toBe(channels[0])
  })
})
