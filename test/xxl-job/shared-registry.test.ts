import { describe, expect, test } from 'vitest'
import type { JobStoreNotes } from '../../src/jobs/job-store-notes.ts'
import type { ResultTaker } from '../../src/jobs/remote-job.ts'
import { MemoryNotes } from '../../src/jobstore/memory-notes.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { resolveAdminOptions } from '../../src/xxl-job/admin/admin-options.ts'
import { Admin } from '../../src/xxl-job/admin/create-xxl-job-admin.ts'
import type { XxlJobAdminOptions } from '../../src/xxl-job.ts'
import { latch } from '../support/latch.ts'

const accessToken = 'a-token-of-your-own'
const address = 'http://10.0.0.7:9999/'
const kind = 'xxlJobExecutors'
const taker: ResultTaker = {
  schedulerName: 's',
  awaitsResult: async () => false,
  reportResult: async () => false,
}

/** Nodes whose stores share notes, each with an admin. */
class Cluster {
  readonly clock = new ManualClock()
  readonly notes: JobStoreNotes
  readonly #logged: string[] = []
  readonly #hasTime: boolean

  constructor(notes: JobStoreNotes = new MemoryNotes(), { hasTime = false } = {}) {
    this.notes = notes
    this.#hasTime = hasTime
  }

  async admin(options: Partial<XxlJobAdminOptions> = {}): Promise<Admin> {
    const warn = (_: object, message: string): void => {
      this.#logged.push(message)
    }
    const quiet = (): void => {}
    const logger = { debug: quiet, info: quiet, warn, error: warn }
    const admin = new Admin(resolveAdminOptions({ accessToken, clock: this.clock, logger, ...options }))
    // Each store has notes of its own over the same table.
    const { notes } = this
    admin.connect(taker, {
      list: (of) => notes.list(of),
      get: (...note) => notes.get(...note),
      put: (of, name, text, version) => notes.put(of, name, text, version),
      delete: (of, name, version) => notes.delete(of, name, version),
      ...(this.#hasTime && { now: async () => this.clock.now() }),
    })
    await this.clock.advance(0)
    return admin
  }

  get logged(): readonly string[] {
    return this.#logged
  }
}

async function send(admin: Admin, path: string, appName: string, of: string = address): Promise<void> {
  const body = { registryGroup: 'EXECUTOR', registryKey: appName, registryValue: of }
  const answer = await admin.fetch(
    new Request(`http://admin/api/${path}`, {
      method: 'POST',
      headers: { 'xxl-job-access-token': accessToken, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )
  expect(await answer.json()).toMatchObject({ code: 200 })
}

const beat = (admin: Admin, of?: string) => send(admin, 'registry', 'billing', of)
const known = (admin: Admin) =>
  admin.executors().flatMap(({ appName, executors }) => executors.map((each) => `${appName} ${each.address}`))
const silentMs = (admin: Admin) => admin.executors()[0]?.executors[0]?.silentMs

describe('executors that register with one node of a cluster', () => {
  test('are known to all, with their last beat, until they leave', async () => {
    const cluster = new Cluster()
    const [one, other] = [await cluster.admin(), await cluster.admin()]
    await beat(one)
    await cluster.clock.advance(11_000)
    expect(known(other)).toEqual([`billing ${address}`])
    // It is not known when in the 10 seconds between two looks the note was written.
    expect(Number(silentMs(one)) - Number(silentMs(other))).toBeGreaterThanOrEqual(0)
    expect(Number(silentMs(one)) - Number(silentMs(other))).toBeLessThanOrEqual(10_000)
    await send(one, 'registryRemove', 'billing')
    expect(known(one)).toEqual([])
    await cluster.clock.advance(11_000)
    expect(known(other)).toEqual([])
  })

  test('are gone on all soon after they say so while the database is slow', async () => {
    const memory = new MemoryNotes()
    let answer = Promise.resolve()
    const cluster = new Cluster({
      list: async (of) => {
        await answer
        return memory.list(of)
      },
      get: (...note) => memory.get(...note),
      put: (...note) => memory.put(...note),
      delete: (...note) => memory.delete(...note),
    })
    const one = await cluster.admin()
    await beat(one)
    await cluster.clock.advance(2000)
    const toldOf = async (): Promise<string> => (await memory.list(kind)).map(({ text }) => text).join()
    expect(await toldOf()).not.toContain('goneMs')
    const { promise, open } = latch()
    answer = promise
    await cluster.clock.advance(10_000)
    await send(one, 'registryRemove', 'billing')
    // Longer than it takes until others are told.
    await cluster.clock.advance(3000)
    open()
    await cluster.clock.advance(0)
    await cluster.clock.advance(1000)
    expect(await toldOf()).toContain('goneMs')
  })

  test('are gone 90 seconds after their last beat, and everywhere 10 seconds later', async () => {
    const cluster = new Cluster()
    const [one, other] = [await cluster.admin(), await cluster.admin()]
    await beat(one)
    await cluster.clock.advance(89_000)
    expect([known(one).length, known(other).length]).toEqual([1, 1])
    await cluster.clock.advance(1000)
    expect(known(one)).toEqual([])
    await cluster.clock.advance(10_000)
    expect([known(one), known(other)]).toEqual([[], []])
  })

  test('stay when they turn to another node, and are told of by that one', async () => {
    const cluster = new Cluster()
    const [one, other] = [await cluster.admin(), await cluster.admin()]
    await beat(one)
    await cluster.clock.advance(20_000)
    await one.close()
    for (let beats = 0; beats < 5; beats++) {
      await beat(other)
      await cluster.clock.advance(30_000)
    }
    const third = await cluster.admin()
    await cluster.clock.advance(20_000)
    expect([known(other), known(third)]).toEqual([[`billing ${address}`], [`billing ${address}`]])
  })

  test('cost one small write of a node in 20 seconds, however many beat', async () => {
    const memory = new MemoryNotes()
    let writes = 0
    const cluster = new Cluster({
      list: (of) => memory.list(of),
      get: (...note) => memory.get(...note),
      delete: (of, name, version) => memory.delete(of, name, version),
      put: (...note) => {
        writes++
        return memory.put(...note)
      },
    })
    const one = await cluster.admin()
    for (let second = 0; second < 60; second += 10) {
      for (let index = 0; index < 100; index++) await beat(one, `http://10.0.0.${index}:9999/`)
      await cluster.clock.advance(10_000)
    }
    expect(writes).toBeLessThanOrEqual(5)
    await cluster.admin()
    expect(writes).toBeLessThanOrEqual(5)
  })

  test('are not believed from what a node wrote long ago, which is deleted after 10 minutes', async () => {
    const cluster = new Cluster()
    const text = JSON.stringify([{ appName: 'billing', address, silentMs: 0 }])
    await cluster.notes.put(kind, 'gone', text, null)
    const one = await cluster.admin()
    await cluster.clock.advance(60_000)
    expect(known(one)).toEqual([])
    await cluster.clock.advance(600_000)
    expect(await cluster.notes.list(kind)).toEqual([])
  })

  test('are left out where a note holds junk', async () => {
    const cluster = new Cluster()
    const one = await cluster.admin({ accessToken: null, accessTokens: { billing: accessToken } })
    const good = { appName: 'billing', address, silentMs: 5 }
    const junk = [
      '{"a":1}',
      '[',
      JSON.stringify([
        null,
        5,
        { ...good, address: 'file:///etc/passwd' },
        { ...good, address: `http://${'x'.repeat(300)}/` },
        { ...good, appName: 'without a token' },
        { ...good, appName: 'other' },
        { ...good, silentMs: -1 },
        { ...good, silentMs: '5' },
        good,
      ]),
    ]
    await Promise.all(junk.map((text, index) => cluster.notes.put(kind, `n${index}`, text, null)))
    await cluster.clock.advance(10_000)
    expect(known(one)).toEqual([`billing ${address}`])
  })

  test('are at most as many as may register', async () => {
    const cluster = new Cluster()
    const one = await cluster.admin()
    const small = await cluster.admin({ maxExecutors: 2 })
    for (const port of [1, 2, 3]) await beat(one, `http://10.0.0.7:${port}/`)
    await cluster.clock.advance(11_000)
    expect([known(one).length, known(small).length]).toEqual([3, 2])
  })

  test('go on where the store fails, which is said once', async () => {
    const memory = new MemoryNotes()
    let fails = true
    const cluster = new Cluster({
      list: (of) => (fails ? Promise.reject(new Error('away')) : memory.list(of)),
      get: (...note) => memory.get(...note),
      put: (...note) => memory.put(...note),
      delete: (of, name, version) => memory.delete(of, name, version),
    })
    const [one, other] = [await cluster.admin(), await cluster.admin()]
    await beat(one)
    await cluster.clock.advance(40_000)
    expect(known(one)).toEqual([`billing ${address}`])
    expect(cluster.logged).toHaveLength(2)
    fails = false
    await beat(one)
    await cluster.clock.advance(40_000)
    expect(known(other)).toEqual([`billing ${address}`])
  })

  test('are not told of any more by an admin that was closed', async () => {
    const cluster = new Cluster()
    const one = await cluster.admin()
    await beat(one)
    await cluster.clock.advance(5000)
    expect(await cluster.notes.list(kind)).toHaveLength(1)
    await one.close()
    expect(await cluster.notes.list(kind)).toEqual([])
  })
})

describe.each([true, false])(
  'an executor that says that it shuts down (store with a time: %s)',
  (hasTime) => {
    const remove = (admin: Admin) => send(admin, 'registryRemove', 'billing')

    async function threeNodes() {
      const cluster = new Cluster(new MemoryNotes(), { hasTime })
      const nodes = [await cluster.admin(), await cluster.admin(), await cluster.admin()] as const
      return { cluster, nodes, all: () => nodes.map((node) => known(node).length) }
    }

    test('is gone on all nodes, also where it beat last, and stays so', async () => {
      const { cluster, nodes, all } = await threeNodes()
      const [one, other] = nodes
      await beat(other)
      await cluster.clock.advance(21_000)
      expect(all()).toEqual([1, 1, 1])
      await remove(one)
      expect(all()).toEqual([0, 1, 1])
      for (let looks = 0; looks < 10; looks++) {
        await cluster.clock.advance(10_000)
        expect(all()).toEqual([0, 0, 0])
      }
    })

    test('is gone also for a node that had not heard of it', async () => {
      const { cluster, nodes, all } = await threeNodes()
      const [one, other] = nodes
      await beat(other)
      await remove(one)
      await cluster.clock.advance(21_000)
      expect(all()).toEqual([0, 0, 0])
    })

    test('is there again when it beats again, at whichever node', async () => {
      const { cluster, nodes, all } = await threeNodes()
      const [one, other, third] = nodes
      await beat(other)
      await cluster.clock.advance(21_000)
      await remove(one)
      await cluster.clock.advance(21_000)
      await beat(third)
      await cluster.clock.advance(21_000)
      expect(all()).toEqual([1, 1, 1])
      await remove(third)
      await beat(third)
      expect(known(third)).toEqual([`billing ${address}`])
    })
  },
)

describe('executors, in a store that has a time', () => {
  const memory = () => new Cluster(new MemoryNotes(), { hasTime: true })

  test('are known to a node as soon as it starts', async () => {
    const cluster = memory()
    const one = await cluster.admin()
    await beat(one)
    await cluster.clock.advance(15_000)
    const late = await cluster.admin()
    expect([known(late), silentMs(late)]).toEqual([[`billing ${address}`], 15_000])
    await cluster.clock.advance(74_999)
    expect(known(late)).toEqual([`billing ${address}`])
    await cluster.clock.advance(1)
    expect(known(late)).toEqual([])
  })

  test('are gone everywhere 90 seconds after their last beat, whenever others saw it', async () => {
    const cluster = memory()
    const [one, other] = [await cluster.admin(), await cluster.admin()]
    await beat(one)
    // It is told within a second, and read by the other one 9 seconds later.
    await cluster.clock.advance(89_999)
    expect([silentMs(one), silentMs(other)]).toEqual([89_999, 89_999])
    await cluster.clock.advance(1)
    expect([known(one), known(other)]).toEqual([[], []])
  })

  test('stay known for 90 seconds after their node has shut down, also to the next one', async () => {
    const cluster = memory()
    const [one, other] = [await cluster.admin(), await cluster.admin()]
    await beat(one)
    await cluster.clock.advance(11_000)
    await one.close()
    await cluster.clock.advance(60_000)
    const next = await cluster.admin()
    expect([known(other), known(next)]).toEqual([[`billing ${address}`], [`billing ${address}`]])
    await cluster.clock.advance(30_000)
    expect([known(other), known(next)]).toEqual([[], []])
    await cluster.clock.advance(600_000)
    expect(await cluster.notes.list(kind)).toEqual([])
  })

  test('are not believed from a note of long ago, or of a time to come', async () => {
    const cluster = memory()
    const noted = (toldMs: number) =>
      JSON.stringify([{ toldMs }, { appName: 'billing', address, silentMs: 0 }])
    await cluster.notes.put(kind, 'old', noted(cluster.clock.now() - 90_000), null)
    await cluster.notes.put(kind, 'new', noted(cluster.clock.now() + 60_000), null)
    await cluster.notes.put(kind, 'odd', JSON.stringify([{ toldMs: 'now' }, { toldMs: 1e300 }]), null)
    expect(known(await cluster.admin())).toEqual([])
  })
})
