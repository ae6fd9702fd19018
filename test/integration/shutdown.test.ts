import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const script = fileURLToPath(new URL('../fixtures/shutdown/process.mjs', import.meta.url))

/** Less than any timer of a store that could keep the process, and more than a loaded machine needs. */
const exitWithinMs = 8000

interface End {
  readonly tookMs: number
  readonly left: {
    readonly executions: number
    readonly completionsUnwritten: number
    readonly isStoreCutOff: boolean
  } | null
  readonly outcomes: readonly string[]
  readonly resources: readonly string[]
}

interface Life {
  readonly phase: 'created' | 'start' | 'acquire' | 'fire' | 'completions' | 'schedule'
  readonly store: object
  readonly shutdown: object
  /** Takes the store away; it stays away. */
  readonly takeAway: () => Promise<void> | void
}

/** Runs the process to its end, which must come by itself. */
async function run({ takeAway, ...life }: Life): Promise<End> {
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(life)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const { stdout } = child
  if (stdout === null) throw new Error('no output')
  const lines = createInterface(stdout)[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')
  await takeAway()
  child.kill('SIGUSR2')
  const end = JSON.parse((await lines.next()).value as string) as End
  const endedMs = performance.now()
  expect(await exited).toEqual([0, null])
  expect(performance.now() - endedMs).toBeLessThan(exitWithinMs)
  expect(end.resources).toEqual([])
  return end
}

const atOnce = { waitForJobsToComplete: false }
const inThreeSeconds = { waitForJobsToComplete: true, timeoutMs: 3000 }

function expectBounded({ tookMs }: End, shutdown: typeof atOnce | typeof inThreeSeconds): void {
  const boundMs = 'timeoutMs' in shutdown ? 5000 : 2000
  // Twice that, as the machine may be busy with other things.
  expect(tookMs).toBeLessThan(2 * boundMs)
}

describe('a shutdown without its PostgreSQL server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await server.remove()
  })

  async function proxied(): Promise<{ readonly proxy: TcpProxy; readonly connectionString: string }> {
    const proxy = await TcpProxy.startFor(server.connectionString)
    onTestFinished(async () => {
      await proxy[Symbol.asyncDispose]()
    })
    const database = await freshDatabase(server.connectionString)
    return { proxy, connectionString: proxy.through(database.connectionString) }
  }

  test.each([
    ['blackHole', atOnce],
    ['blackHole', inThreeSeconds],
    ['refuse', atOnce],
  ] as const)('that is away (%s) while it starts (%o)', async (how, shutdown) => {
    const { proxy, connectionString } = await proxied()
    const end = await run({
      phase: 'start',
      shutdown,
      store: { connectionString },
      takeAway: () => {
        proxy[how]()
      },
    })
    expectBounded(end, shutdown)
    expect(end.outcomes).toEqual([expect.stringMatching(/^start ERR_(SCHEDULER_SHUTDOWN|DATABASE)/)])
  })

  test.each([atOnce, inThreeSeconds])(
    'that stands still while nothing is asked of it (%o)',
    async (shutdown) => {
      const { proxy, connectionString } = await proxied()
      const end = await run({
        phase: 'created',
        shutdown,
        store: { connectionString },
        takeAway: () => {
          proxy.blackHole()
        },
      })
      expectBounded(end, shutdown)
    },
  )

  test('that does not answer while it looks for triggers', async () => {
    const { proxy, connectionString } = await proxied()
    const end = await run({
      phase: 'acquire',
      shutdown: atOnce,
      store: { connectionString },
      takeAway: () => {
        proxy.blackHole()
      },
    })
    expectBounded(end, atOnce)
    expect(end.left).toEqual({ executions: 0, completionsUnwritten: 0, isStoreCutOff: true })
  })

  test.each([
    ['blackHole', atOnce],
    ['refuse', atOnce],
    ['refuse', inThreeSeconds],
  ] as const)('that is away (%s) while a firing is committed (%o)', async (how, shutdown) => {
    const { proxy, connectionString } = await proxied()
    const end = await run({
      phase: 'fire',
      shutdown,
      store: { connectionString },
      takeAway: async () => {
        // Check-ins commit too; 'often' is the trigger.
        await proxy.cutOn('COMMIT', 'before', { behind: 'often' })
        proxy[how]()
      },
    })
    expectBounded(end, shutdown)
    expect(end.left).toMatchObject({ executions: 0, isStoreCutOff: true })
  })

  test.each([
    ['blackHole', inThreeSeconds],
    ['refuse', atOnce],
    ['refuse', inThreeSeconds],
  ] as const)('that is away (%s) with 30 ends to be written (%o)', async (how, shutdown) => {
    const { proxy, connectionString } = await proxied()
    const end = await run({
      phase: 'completions',
      shutdown,
      store: { connectionString },
      takeAway: () => {
        proxy[how]()
      },
    })
    expectBounded(end, shutdown)
    expect(end.left).toMatchObject({ executions: 0, completionsUnwritten: 30 })
  })

  test('that does not answer during calls, which wait for the only connection', async () => {
    const { proxy, connectionString } = await proxied()
    const end = await run({
      phase: 'schedule',
      shutdown: atOnce,
      store: { connectionString, poolSize: 1 },
      takeAway: () => {
        proxy.blackHole()
      },
    })
    expectBounded(end, atOnce)
    expect(end.outcomes).toHaveLength(10)
    expect(end.outcomes.filter((outcome) => outcome.endsWith('done'))).toEqual([])
  })

  test('writes nothing of an execution that ended too late', async () => {
    const { proxy, connectionString } = await proxied()
    const end = await run({
      phase: 'completions',
      shutdown: atOnce,
      store: { connectionString },
      takeAway: () => {
        proxy.blackHole()
      },
    })
    expect(end.left).toMatchObject({ completionsUnwritten: 30 })
    proxy.heal()
    const client = new pg.Client({ connectionString })
    await client.connect()
    const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM qrtz_fired_triggers')
    await client.end()
    expect(rows).toEqual([{ count: '30' }])
  })
})

describe('a shutdown while another process has the SQLite file locked', () => {
  test.each([
    ['start', atOnce],
    ['acquire', atOnce],
    ['fire', atOnce],
    ['completions', inThreeSeconds],
    ['schedule', atOnce],
  ] as const)('during %s (%o)', async (phase, shutdown) => {
    const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-shutdown-'))
    const filename = join(folder, 'jobs.db')
    const database = new Database(filename, { timeout: 10_000 })
    onTestFinished(() => {
      database.close()
      rmSync(folder, { recursive: true })
    })
    const end = await run({
      phase,
      shutdown,
      store: { filename },
      takeAway: () => {
        database.exec('BEGIN EXCLUSIVE')
      },
    })
    expectBounded(end, shutdown)
    expect(end.left).toMatchObject({ isStoreCutOff: true })
    if (phase === 'completions') expect(end.left).toMatchObject({ completionsUnwritten: 30 })
  })
})
