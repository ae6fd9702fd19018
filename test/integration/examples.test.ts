import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { projectFiles, projectRoot } from '../support/source-files.ts'

const run = promisify(execFile)

/** What each example must print, in this order, other lines between. */
const expected: Record<string, readonly RegExp[]> = {
  'calendars-and-misfires.js': [
    /^fireOnceNow: due 2026-04-03T05:00:00\.000Z, 0 hours late$/,
    // The weekend and Easter Monday are left out.
    /^doNothing: due 2026-04-07T05:00:00\.000Z, 0 hours late$/,
    /^fireOnceNow: due 2026-04-09T05:00:00\.000Z, 55 hours late$/,
    /^doNothing: due 2026-04-13T05:00:00\.000Z, 0 hours late$/,
  ],
  'class-job.ts': [1, 2, 3, 4, 5].map((count) => new RegExp(`^DEFAULT\\.counter counted to ${count}$`)),
  'express.js': [/^without a user: 401$/, /^jobs: daily$/, /^run: 200$/, /^events: 200$/, /^closed$/],
  'fastify.js': [
    /^without a user: 401$/,
    /^jobs: daily$/,
    /^page: 200$/,
    /^run: 200$/,
    /^events: 200$/,
    /^closed$/,
  ],
  'graceful-shutdown.js': [/being written/, /^SIGTERM$/, /is complete$/, /^the scheduler has shut down/],
  'hello.js': [/^Hello world, \d+ ms late$/, /^Hello world/, /^Hello world/, /^done$/],
  'job-chaining.js': [/^extract is done$/, /^transform is done$/, /^load is done$/],
  'listeners-and-events.js': [
    /about to run$/,
    /run 1$/,
    /2 was vetoed$/,
    /run 3$/,
    /4 was vetoed$/,
    /not fire again$/,
  ],
  // Each of the two jobs has been given a provider.
  'nestjs/main.ts': [/^to ann@example\.com: the report$|^to ops@example\.com: tidied up$/, /^closed$/],
  'retry.js': [/^attempt 1: .*down$/, /^attempt 2: .*down$/, /^attempt 3: uploaded$/],
  'scheduled-methods.ts': [
    /^Heartbeat\.beat, fixedRate$/,
    /^cleanup, fixedDelay$/,
    /^alive \d$/,
    /^alive \d$/,
    /^cleaned up$/,
    /^once in the cluster$/,
  ],
  'schedules.js': [
    // Nothing has changed yet.
    /^removed clean, unchanged daily$/,
    /^changed daily, removed clean$/,
    /^often: added$/,
    /^often again: unchanged$/,
    /^a report to me@example\.com$/,
    /^cleaned$/,
    /^done$/,
  ],
  // Node.js 20 reports in another form than later ones.
  'testing.js': [/^[#ℹ] pass 1$/, /^[#ℹ] fail 0$/],
  // The main thread is number 0.
  'worker-jobs.js': [
    /^hash: read \d+ files$/,
    /threadId: [1-9]/,
    /^primes: { from: 2, to: 100002, count: 9592, threadId: [1-9]\d* }$/,
    /^primes: { from: 200002, to: 300002, count: 8013, threadId: [1-9]\d* }$/,
  ],
}

/** The example as a file that Node runs: TypeScript is compiled into the package, so that it may import it by name. */
function runnable(name: string): string {
  const folder = dirname(name)
  const path = join(projectRoot, 'examples', name)
  if (!name.endsWith('.ts')) return path
  const files = folder === '.' ? [name] : readdirSync(dirname(path)).map((file) => join(folder, file))
  for (const file of files.filter((each) => each.endsWith('.ts')))
    compile(file, { isNest: folder === 'nestjs' })
  return compiledPath(name)
}

const compiledPath = (name: string): string =>
  join(projectRoot, '.cache/examples', name.replace(/\.ts$/, '.js'))

function compile(name: string, { isNest }: { readonly isNest: boolean }): void {
  const { outputText } = ts.transpileModule(readFileSync(join(projectRoot, 'examples', name), 'utf8'), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      rewriteRelativeImportExtensions: true,
      experimentalDecorators: isNest,
      emitDecoratorMetadata: isNest,
    },
  })
  mkdirSync(dirname(compiledPath(name)), { recursive: true })
  writeFileSync(compiledPath(name), outputText)
}

/** The first pattern that no line after those of the patterns before it matches. */
function firstMissing(lines: readonly string[], patterns: readonly RegExp[]): RegExp | undefined {
  let from = 0
  return patterns.find((pattern) => {
    const found = lines.findIndex((line, index) => index >= from && pattern.test(line))
    from = found + 1
    return found < 0
  })
}

describe('examples', () => {
  const names = projectFiles(/^examples\/([^/]+\.(js|ts)|nestjs\/main\.ts)$/).map(({ path }) =>
    path.replace('examples/', ''),
  )

  test('are all expected to print something', () => {
    expect(names).toEqual(Object.keys(expected).toSorted())
  })

  test.each(names)('%s prints what it shows and ends by itself', { concurrent: true }, async (name) => {
    const { stderr, stdout } = await run(process.execPath, [runnable(name)], {
      cwd: projectRoot,
      timeout: 60_000,
      killSignal: 'SIGKILL',
    })
    expect(firstMissing(stdout.split('\n'), expected[name] ?? []), `${stdout}${stderr}`).toBeUndefined()
  })
})
