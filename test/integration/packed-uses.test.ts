import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { laterNode, otherRuntimes } from '../support/other-runtimes.ts'
import { packedProject } from '../support/packed-package.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { projectRoot } from '../support/source-files.ts'

const execute = promisify(execFile)

/** Runs a job of each kind in the store that the arguments name, and ends by itself. */
const program = `
  import { createScheduler, defineJob, defineWorkerJob } from 'quartz-ts'
  const [kind, place] = process.argv.slice(2)
  const stores = {
    ram: () => ({}),
    sqlite: async () => ({ jobStore: (await import('quartz-ts/sqlite')).sqliteJobStore({ filename: place }) }),
    postgres: async () => {
      const { postgresJobStore } = await import('quartz-ts/postgres')
      return { jobStore: postgresJobStore({ connectionString: place }) }
    },
  }
  const jobs = [
    defineJob('inline', () => 'inline ran'),
    defineWorkerJob('worker', new URL('./worker-job.js', import.meta.url)),
  ]
  try {
    const scheduler = await createScheduler({ jobs, ...(await stores[kind]()) })
    await scheduler.start()
    for (const jobType of ['inline', 'worker']) {
      const ran = scheduler.events.next('jobWasExecuted')
      await scheduler.schedule(jobType, { key: jobType, in: 1 })
      console.log((await ran).context.result)
    }
    await scheduler.shutdown()
  } catch (error) {
    console.log(error.code)
  }
`
const runtimes = otherRuntimes()
const bothRan = 'inline ran\nworker ran\n'

let folder = ''
const write = (name: string, text: string): void => {
  const path = join(folder, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}
async function run(command: readonly string[], ...args: readonly string[]): Promise<string> {
  const [file = '', ...first] = command
  const { stdout } = await execute(file, [...first, ...args], { cwd: folder, timeout: 110_000 })
  return stdout
}

const nestPackages = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs']

beforeAll(async () => {
  folder = await packedProject(['pg', ...nestPackages])
  write('program.mjs', program)
  write('worker-job.js', "export default () => 'worker ran'")
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('with PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await server.remove()
  })
  const database = async (): Promise<string> =>
    (await freshDatabase(server.connectionString)).connectionString

  describe.each(['Bun', 'Deno'])('%s runs inline and worker jobs', (name) => {
    const command = runtimes.find((runtime) => runtime.name === name)?.command ?? []
    const there = test.skipIf(command.length === 0) // reason: npm did not fetch its binary
    there('from memory', async () => {
      await expect(run(command, 'program.mjs', 'ram')).resolves.toBe(bothRan)
    })

    there('from an SQLite file, by its node:sqlite', async () => {
      await expect(run(command, 'program.mjs', 'sqlite', `${name}.db`)).resolves.toBe(bothRan)
    })

    // The process ends only when the check-in thread has ended.
    there('from PostgreSQL, with the check-in thread', async () => {
      await expect(run(command, 'program.mjs', 'postgres', await database())).resolves.toBe(bothRan)
    })
  })

  test('a bundle runs with the check-in file that is named, and says so without it', async () => {
    const bundled = (checkInEntry: string): string => `
      import { createScheduler, defineJob } from 'quartz-ts'
      import { postgresJobStore } from 'quartz-ts/postgres'
      import { pathToFileURL } from 'node:url'
      const jobStore = postgresJobStore({ connectionString: process.argv[2], ${checkInEntry} })
      createScheduler({ jobs: [defineJob('inline', () => 'inline ran')], jobStore }).then(async (scheduler) => {
        try {
          await scheduler.start()
          const ran = scheduler.events.next('jobWasExecuted')
          await scheduler.schedule('inline', { key: 'inline', in: 1 })
          console.log((await ran).context.result)
        } catch (error) {
          console.log(error.code)
        }
        await scheduler.shutdown()
      })`
    const runBundle = async (checkInEntry: string): Promise<string> => {
      write('bundled.js', bundled(checkInEntry))
      const outfile = join(folder, 'bundle/bundled.mjs')
      await build({
        ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'error', absWorkingDir: folder },
        ...{ entryPoints: ['bundled.js'], external: ['piscina', 'pg', 'better-sqlite3'], outfile },
      })
      return run([process.execPath], outfile, await database())
    }
    const path = "process.cwd() + '/node_modules/quartz-ts/dist/jobstore/postgres/check-in-entry.js'"
    await expect(runBundle('')).resolves.toBe('ERR_ENTRY_MISSING\n')
    await expect(runBundle(`checkInEntry: pathToFileURL(${path})`)).resolves.toBe('inline ran\n')
  })
})

const onLaterNode = test.skipIf(laterNode === null) // reason: Node.js 20 has no node:sqlite, and npm fetched no 22
onLaterNode('a later Node.js opens SQLite files without better-sqlite3', async () => {
  await expect(run(laterNode ?? [], 'program.mjs', 'sqlite', 'node.db')).resolves.toBe(bothRan)
})

describe('TypeScript that compiles to CommonJS', () => {
  /** The codes of what the compiler says with such options of a tsconfig. */
  function codesOf(given: Readonly<Record<string, string>>, type: 'commonjs' | 'module'): readonly number[] {
    write('compiled/package.json', JSON.stringify({ type }))
    write('compiled/program.ts', "import { sqliteJobStore } from 'quartz-ts/sqlite'\nvoid sqliteJobStore\n")
    const { options } = ts.convertCompilerOptionsFromJson(
      {
        ...{ strict: true, noEmit: true, skipLibCheck: true, ignoreDeprecations: '6.0' },
        ...{ types: [], lib: ['es2023', 'esnext.disposable', 'dom'], ...given },
      },
      folder,
    )
    const program = ts.createProgram([join(folder, 'compiled/program.ts')], options)
    return ts.getPreEmitDiagnostics(program).map(({ code }) => code)
  }

  test('is refused under node16 (TS1479), and taken with "type": "module" or under nodenext', () => {
    expect(codesOf({ module: 'node16' }, 'commonjs')).toEqual([1479])
    expect(codesOf({ module: 'node16' }, 'module')).toEqual([])
    expect(codesOf({ module: 'nodenext' }, 'commonjs')).toEqual([])
  })

  test('finds no entry under node10 (TS2307), and finds it as a bundler does', () => {
    expect(codesOf({ module: 'commonjs', moduleResolution: 'node10' }, 'commonjs')).toEqual([2307])
    expect(codesOf({ module: 'esnext', moduleResolution: 'bundler' }, 'commonjs')).toEqual([])
  })
})

describe('the example for NestJS, compiled with decorators that emit metadata', () => {
  const writeCompiled = (name: string, code: string): void => {
    const { outputText } = ts.transpileModule(code, {
      compilerOptions: {
        ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
        ...{
          rewriteRelativeImportExtensions: true,
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
        },
      },
    })
    write(`nestjs/${name.replace(/\.ts$/, '.js')}`, outputText)
  }
  beforeAll(() => {
    const source = join(projectRoot, 'examples/nestjs')
    for (const name of readdirSync(source).filter((each) => each.endsWith('.ts'))) {
      writeCompiled(name, readFileSync(join(source, name), 'utf8'))
    }
  })

  test('runs', async () => {
    const stdout = await run([process.execPath], 'nestjs/main.js')
    expect(stdout).toMatch(/^to ann@example\.com: the report$/m)
    expect(stdout).toMatch(/^closed$/m)
  })

  test('shuts down before open requests are waited for, and refuses methods of objects for one request', async () => {
    const code = `
      import 'reflect-metadata'
      import { Controller, Injectable, Module, Scope } from '@nestjs/common'
      import { NestFactory } from '@nestjs/core'
      import { Scheduled } from 'quartz-ts/annotations'
      import { QuartzModule, SCHEDULER } from './quartz-module.ts'

      const ran = Promise.withResolvers?.() ?? {}
      ran.promise ??= new Promise((resolve) => (ran.resolve = resolve))
      @Controller()
      class Pages {
        @Scheduled({ fixedRate: '1h' })
        refresh() { ran.resolve() }
      }
      @Module({ imports: [QuartzModule.forRoot()], controllers: [Pages] })
      class App {
        scheduler = null
        // Where Nest closes its server comes between the two.
        onApplicationShutdown() { console.log('scheduler shut down: ' + this.scheduler.isShutdown) }
      }
      const app = await NestFactory.createApplicationContext(App, { logger: false })
      app.get(App).scheduler = app.get(SCHEDULER)
      await ran.promise
      console.log('a controller ran')
      await app.close()

      @Injectable({ scope: Scope.REQUEST })
      class OfRequest {
        @Scheduled({ fixedRate: '1h' })
        refresh() {}
      }
      @Module({ imports: [QuartzModule.forRoot()], providers: [OfRequest] })
      class Wrong {}
      const options = { logger: false, abortOnError: false }
      await NestFactory.createApplicationContext(Wrong, options).catch(({ message }) => console.log(message))
      process.exit()
    `
    writeCompiled('scopes.ts', code)
    expect(await run([process.execPath], 'nestjs/scopes.js')).toBe(
      'a controller ran\nscheduler shut down: true\n' +
        'OfRequest has @Scheduled methods, so its scope must be Scope.DEFAULT.\n',
    )
  })
})
