import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { callExecutor } from '../support/xxl-job-admin.ts'
import { postgresQuery } from './leftovers.ts'

interface Message {
  readonly kind: string
  readonly address?: string
  readonly code?: string | null
  readonly text?: string
}

/** A process, and what it says. */
class Program {
  readonly #child: ChildProcess
  readonly #heard: Message[] = []

  constructor(name: string, args: readonly string[]) {
    this.#child = fork(fileURLToPath(new URL(name, import.meta.url)), args)
    this.#child.on('message', (message) => this.#heard.push(message as Message))
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  all(kind: string): readonly Message[] {
    return this.#heard.filter((message) => message.kind === kind)
  }

  /** Resolves with the first message of its kind, also when it came already. */
  async heard(kind: string): Promise<Message> {
    for (;;) {
      const [message] = this.all(kind)
      if (message !== undefined) return message
      if (this.#child.exitCode !== null) throw new Error(`A program ended before it said '${kind}'.`)
      await Promise.race([once(this.#child, 'message'), once(this.#child, 'exit')])
    }
  }

  tell(message: 'schedule' | 'finish' | object): void {
    this.#child.send(message)
  }

  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }
}

interface AdminSettings {
  readonly instanceId?: string
  readonly resultTimeoutMs?: number
  /** Default: a free one. */
  readonly port?: string
}

interface ExecutorSettings {
  readonly folder?: string
  /** How many times as fast its timers run. */
  readonly pace?: number
}

/** A cluster without nodes, and how to start them and executors. */
async function ground() {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const query = postgresQuery(database)
  const startAdmin = async (settings: AdminSettings = {}) => {
    const { instanceId = 'one', resultTimeoutMs = 600_000, port = '0' } = settings
    const args = [database.connectionString, instanceId, String(resultTimeoutMs), port]
    const admin = new Program('./xxl-admin.mjs', args)
    const { address = '' } = await admin.heard('ready')
    return { admin, address }
  }
  const startExecutor = async (addresses: string, settings: ExecutorSettings = {}) => {
    const { folder = temporaryFolder(), pace = 1 } = settings
    const executor = new Program('./xxl-executor.mjs', [addresses, folder, String(pace)])
    await executor.heard('ready')
    return executor
  }
  /** Resolves when the order has ended so often, and nothing of it is left. */
  const ended = (outcomes: readonly string[]): Promise<void> =>
    vi.waitFor(
      async () => {
        const rows = await query('SELECT outcome FROM qrtz_execution_history ORDER BY fired_time')
        const left = await query(
          'SELECT entry_id FROM qrtz_fired_triggers UNION ALL ' +
            // One that its deadline ended leaves what a late result needs.
            'SELECT reference FROM qrtz_awaited_results WHERE deadline > 0',
        )
        expect([rows.map(({ outcome }) => outcome), left]).toEqual([outcomes, []])
      },
      { timeout: 60_000, interval: 20 },
    )
  return { query, startAdmin, startExecutor, ended }
}

describe('an executor that is killed while it runs', () => {
  test('leaves a run that ends once, by its deadline', async () => {
    const { startAdmin, startExecutor, ended } = await ground()
    const { admin, address } = await startAdmin({ resultTimeoutMs: 1500 })
    const executor = await startExecutor(address)
    await admin.heard('registered')
    admin.tell('schedule')
    await executor.heard('began')
    await executor.kill()
    await ended(['timedOut'])
    expect(admin.all('sent')).toHaveLength(1)
  })
})

test('an admin that is killed between a run and its result gets it from the disk of the executor', async () => {
  const { startAdmin, startExecutor, ended } = await ground()
  const victim = await startAdmin()
  const folder = temporaryFolder()
  const executor = await startExecutor(victim.address, { folder })
  await victim.admin.heard('registered')
  victim.admin.tell('schedule')
  await executor.heard('began')
  await victim.admin.kill()
  executor.tell('finish')
  await executor.heard('waiting')
  await executor.kill()
  const heir = await startAdmin({ instanceId: 'two' })
  const again = await startExecutor(heir.address, { folder })
  await again.heard('reported')
  await ended(['succeeded'])
  expect(heir.admin.all('sent')).toEqual([])
})

/** Two admins of one cluster, and an executor that knows both and works on an order of the first one. */
async function workOfTwo({ pace = 1 }: ExecutorSettings = {}) {
  const { query, startAdmin, startExecutor, ended } = await ground()
  const [one, two] = await Promise.all([startAdmin(), startAdmin({ instanceId: 'two' })])
  const executor = await startExecutor(`${one.address},${two.address}`, { pace })
  await one.admin.heard('registered')
  one.admin.tell('schedule')
  await executor.heard('began')
  const holders = () => query(`SELECT instance_name, state FROM qrtz_fired_triggers`)
  expect(await holders()).toEqual([{ instance_name: 'one', state: 'EXECUTING' }])
  const heldBy = (name: string): Promise<void> =>
    vi.waitFor(
      async () => {
        expect(await holders()).toEqual([{ instance_name: name, state: 'EXECUTING' }])
      },
      { timeout: 60_000, interval: 20 },
    )
  /** It ended once, as the executor said, and was sent once. */
  const endedAsTold = async (): Promise<void> => {
    await ended(['succeeded'])
    expect(await query('SELECT result FROM qrtz_execution_history')).toEqual([{ result: '"seven ordered"' }])
    expect([one, two].map(({ admin }) => admin.all('sent').length)).toEqual([1, 0])
    expect(executor.all('began')).toHaveLength(1)
  }
  return { startAdmin, one, two, executor, heldBy, endedAsTold }
}

describe('of two admins that an executor knows', () => {
  test('the other one takes over from one that is killed, and gets the result', async () => {
    const { one, two, executor, heldBy, endedAsTold } = await workOfTwo()
    await one.admin.kill()
    await heldBy('two')
    executor.tell('finish')
    expect((await executor.heard('reported')).address).toBe(two.address)
    await endedAsTold()
    expect(two.admin.all('ended')).toHaveLength(1)
    expect(executor.all('reported')).toHaveLength(1)
  })

  test('none lives when a run ends: the next one gets the result', async () => {
    // An executor sends again what was not taken after half a minute.
    const { startAdmin, one, two, executor, endedAsTold } = await workOfTwo({ pace: 10 })
    await Promise.all([one.admin.kill(), two.admin.kill()])
    executor.tell('finish')
    await executor.heard('waiting')
    const heir = await startAdmin({ instanceId: 'three', port: new URL(two.address).port })
    expect((await executor.heard('reported')).address).toBe(two.address)
    await endedAsTold()
    expect(heir.admin.all('sent')).toEqual([])
    expect(executor.all('reported')).toHaveLength(1)
  })
})

test('a result that comes before the answer to its run, and twice, ends the run once', async () => {
  const { startAdmin, ended } = await ground()
  const { admin, address } = await startAdmin()
  const headers = { 'xxl-job-access-token': 'chaos' }
  const answers: unknown[] = []
  const fake = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const run = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { logId?: number }
      const report = async (): Promise<void> => {
        const results = [{ logId: run.logId, handleCode: 200, handleMsg: '' }]
        for (let count = 0; count < 2 && run.logId !== undefined; count++) {
          answers.push((await callExecutor(address, '/api/callback', results, { headers })).json)
        }
        response.end('{"code":200}')
      }
      report().catch(() => response.destroy())
    })
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void fake.close())
  await once(fake, 'listening')
  const registryValue = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/`
  const place = { registryGroup: 'EXECUTOR', registryKey: 'orders', registryValue }
  await callExecutor(address, '/api/registry', place, { headers })
  admin.tell('schedule')
  await admin.heard('late')
  await ended(['succeeded'])
  expect(answers).toMatchObject([{ code: 200 }, { code: 200 }])
  expect(admin.all('ended')).toHaveLength(1)
})

test('the log of a run is one, though midnight passes on the executor', async () => {
  const { startAdmin, startExecutor, ended } = await ground()
  const { admin, address } = await startAdmin()
  const executor = await startExecutor(address)
  await admin.heard('registered')
  admin.tell('schedule')
  await executor.heard('began')
  executor.tell('finish')
  await ended(['succeeded'])
  admin.tell({ ...(await admin.heard('sent')), op: 'log' })
  const { text } = await admin.heard('log')
  expect(text).toContain('before midnight')
  expect(text).toContain('after midnight')
})
