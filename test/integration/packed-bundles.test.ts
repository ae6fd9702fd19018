import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { build as viteBuild } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packedProject } from '../support/packed-package.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'

const execute = promisify(execFile)

interface Named {
  readonly job: string
  readonly workerEntry?: string
  readonly checkInEntry?: string
}

/** Prints the result of a worker job that a node on PostgreSQL ran, or why the scheduler refused. */
function program({ job, workerEntry, checkInEntry }: Named): string {
  const option = (name: string, value: string | undefined): string =>
    value === undefined ? '' : `${name}: ${value}`
  return `
    import { createScheduler, defineWorkerJob, piscinaThreadPool } from 'quartz-ts'
    import { postgresJobStore } from 'quartz-ts/postgres'
    import { join } from 'node:path'
    import { pathToFileURL } from 'node:url'
    const connectionString = process.argv[2]
    async function main() {
      const scheduler = await createScheduler({
        jobs: [defineWorkerJob('worker', ${job})],
        threadPool: piscinaThreadPool({ ${option('workerEntry', workerEntry)} }),
        jobStore: postgresJobStore({ connectionString, ${option('checkInEntry', checkInEntry)} }),
      })
      try {
        await scheduler.start()
        const ran = scheduler.events.next('jobWasExecuted')
        await scheduler.schedule('worker', { key: 'worker', in: 1 })
        console.log((await ran).context.result)
      } finally {
        await scheduler.shutdown()
      }
    }
    main().catch((error) => { console.log(error.code, error.message) })`
}

const external = ['piscina', 'pg', 'better-sqlite3', 'hono', 'zod', '@hono/node-server']
const threadEntries = {
  'worker-entry': 'quartz-ts/worker-entry',
  'check-in-entry': 'quartz-ts/check-in-entry',
}

let folder = ''
let server: PostgresServer
beforeAll(async () => {
  folder = await packedProject(['pg'])
  server = await startPostgres()
  writeFileSync(join(folder, 'worker-job.js'), "export default () => 'worker ran'")
})
afterAll(async () => {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** What the bundle prints, on both streams, when it has ended by itself. */
async function run(file: string): Promise<string> {
  await using database = await freshDatabase(server.connectionString)
  const { stdout, stderr } = await execute(process.execPath, [file, database.connectionString], {
    cwd: folder,
    timeout: 110_000,
  })
  return stdout + stderr
}

describe('a bundle of vite for a server, with the entries of the threads', () => {
  async function bundle(
    named: Named,
    outDir: string,
    entries: Readonly<Record<string, string>>,
  ): Promise<string> {
    writeFileSync(join(folder, 'app.js'), program(named))
    await viteBuild({
      ...{ root: folder, configFile: false, logLevel: 'error' },
      build: {
        ...{ ssr: true, outDir },
        rollupOptions: {
          input: { app: join(folder, 'app.js'), 'worker-job': join(folder, 'worker-job.js'), ...entries },
        },
      },
      ssr: { noExternal: true, external },
    })
    return join(folder, outDir, 'app.js')
  }
  const job = "new URL('./worker-job.js', import.meta.url)"
  const workerEntry = "new URL('./worker-entry.js', import.meta.url)"
  const checkInEntry = "new URL('./check-in-entry.js', import.meta.url)"

  test('runs worker jobs and checks in, where they are named', async () => {
    const file = await bundle({ job, workerEntry, checkInEntry }, 'vite-named', threadEntries)
    await expect(run(file)).resolves.toBe('worker ran\n')
  })

  test('says which of them is missing', async () => {
    const withWorker = { 'worker-entry': threadEntries['worker-entry'] }
    const file = await bundle({ job, workerEntry }, 'vite-without', withWorker)
    const said = await run(file)
    expect(said).toMatch(/^ERR_ENTRY_MISSING /)
    expect(said).toContain("'quartz-ts/check-in-entry'")
  })
})

describe('a bundle in CommonJS', () => {
  async function bundle(
    outdir: string,
    extension: '.js' | '.cjs',
    entries: Readonly<Record<string, string>>,
    define: Readonly<Record<string, string>> = {},
  ) {
    const job = `pathToFileURL(join(__dirname, 'worker-job${extension}'))`
    writeFileSync(join(folder, 'app.js'), program({ job }))
    await build({
      ...{ bundle: true, platform: 'node', format: 'cjs', logLevel: 'error', absWorkingDir: folder },
      entryPoints: { app: 'app.js', 'worker-job': 'worker-job.js', ...entries },
      ...{ external, outdir, outExtension: { '.js': extension }, define },
    })
    if (extension === '.js') writeFileSync(join(folder, outdir, 'package.json'), '{ "type": "commonjs" }')
    return join(folder, outdir, `app${extension}`)
  }

  test.each(['.js', '.cjs'] as const)('finds entries (%s) beside it', async (extension) => {
    const file = await bundle(`beside-${extension.slice(1)}`, extension, threadEntries)
    await expect(run(file)).resolves.toBe('worker ran\n')
  })

  test('says which of them is missing', async () => {
    const withWorker = { 'worker-entry': threadEntries['worker-entry'] }
    const said = await run(await bundle('cjs-without', '.cjs', withWorker))
    expect(said).toMatch(/^ERR_ENTRY_MISSING /)
    expect(said).toContain("'quartz-ts/check-in-entry'")
  })

  test('has its place where it is, when the bundler wrote down that of the package', async () => {
    // As webpack does, and the bundle then runs on another machine than the one that made it.
    const written = { 'import.meta.url': JSON.stringify('file:///made/elsewhere/chunks/scheduler.js') }
    const file = await bundle('moved', '.cjs', threadEntries, written)
    await expect(run(file)).resolves.toBe('worker ran\n')
  })

  test('says what is wrong with a pg that is there and cannot be loaded', async () => {
    const file = await bundle('broken-pg', '.cjs', threadEntries)
    const pg = join(folder, 'broken-pg/node_modules/pg')
    mkdirSync(pg, { recursive: true })
    writeFileSync(join(pg, 'index.js'), "throw new Error('its parts are in the bundle')")
    await expect(run(file)).resolves.toBe(
      'ERR_DRIVER_MISSING The PostgreSQL job store needs the package pg, which could not be loaded: its parts are in ' +
        'the bundle. If this is a bundle, leave the package out of it (external: pg).\n',
    )
  })
})
