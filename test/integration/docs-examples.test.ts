import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docsExamples, type Example, examplesFolder, examplesOf } from '../support/docs-examples.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { projectRoot } from '../support/source-files.ts'

const run = promisify(execFile)
const examples = docsExamples()

/** Writes an example as the JavaScript that Node runs, where a package may import itself by its name. */
function write({ path, code }: Example): void {
  const target = join(projectRoot, path.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      rewriteRelativeImportExtensions: true,
    },
  })
  writeFileSync(target, outputText)
}

/** Runs what was written; rejects when it fails or has to be ended. */
async function runExample({ path, needs }: Example, timeoutMs: number): Promise<void> {
  const target = path.replace(/\.ts$/, '.js')
  const options = { cwd: projectRoot, timeout: timeoutMs, killSignal: 'SIGKILL' } as const
  if (needs === 'nothing') {
    await run(process.execPath, [target], options)
    return
  }
  await using database = await freshDatabase(serverUrl)
  const env = { ...process.env, DATABASE_URL: database.connectionString }
  await run(process.execPath, [target], { ...options, env })
}

/** Of the server that QUARTZ_TS_TEST_PG names, or of one that is started here, as the other tests do. */
let serverUrl = process.env['QUARTZ_TS_TEST_PG'] ?? ''
let server: PostgresServer | null = null

beforeAll(async () => {
  if (serverUrl === '' && examples.some(({ needs }) => needs === 'postgres')) {
    server = await startPostgres()
    serverUrl = server.connectionString
  }
  rmSync(join(projectRoot, examplesFolder), { recursive: true, force: true })
  for (const example of examples) write(example)
})

afterAll(async () => {
  await server?.remove()
})

/** The whole conformance suite, which one of them runs, took 70 seconds beside other tests on two cores. */
const exampleMaxMs = 240_000

describe('examples of README and docs run', { concurrent: true, timeout: exampleMaxMs + 30_000 }, () => {
  const runnable = examples.filter(({ kind }) => kind === 'run')

  test.each(runnable)('$name ends by itself', (example) => runExample(example, exampleMaxMs))
})

describe('the examples run', () => {
  const planted = (code: string): Example => {
    const [example] = examplesOf('docs/planted.md', `\`\`\`ts\n${code}\n\`\`\`\n`)
    if (example === undefined) throw new Error('the planted example was not found')
    write(example)
    return example
  }

  test('fails for an example that throws', async () => {
    await expect(runExample(planted(`throw new Error('planted')`), 30_000)).rejects.toThrow('Error: planted')
  })

  test('fails for an example that does not end', async () => {
    await expect(runExample(planted('setInterval(() => {}, 1000)'), 500)).rejects.toMatchObject({
      killed: true,
    })
  })
})
