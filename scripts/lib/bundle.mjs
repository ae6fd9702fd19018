// Bundles src into the few files of dist that a program loads: one for each entry, and the chunks that they share.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { rollup } from 'rollup'
import { writeChanged } from './write-changed.mjs'

const target = 'es2022'

/**
 * What is written: no comments, which are in the declarations, where editors show them. Names and lines stay, for who
 * reads a stack: Node.js prints the line of an error that nobody caught.
 */
const compact = { target, legalComments: 'none', minifyWhitespace: true, lineLimit: 120 }

/**
 * Packages that become a part of chunks, so that a program does not load them file by file. cron-parser's index would
 * bring what reads files, and its luxon is ours.
 */
const luxon = './node_modules/luxon/src/luxon.js'
const bundled = {
  cronstrue: "export { default } from 'cronstrue'",
  packages: `export { IANAZone } from '${luxon}'
    export { CronExpressionParser } from './node_modules/cron-parser/dist/CronExpressionParser.js'
    export { BTreeEx } from 'sorted-btree/extended/index.js'`,
}
const moduleOf = {
  'cron-parser': 'packages',
  cronstrue: 'cronstrue',
  luxon: 'packages',
  'sorted-btree/extended/index.js': 'packages',
}

/** What threads and workers load by a file's path, and the command. */
const startedByPath = [
  'cli/main',
  'cli/workers/find-primes',
  'cli/workers/hash-folder',
  'testing/thread-pool/worker-jobs',
  'xxl-job/executor/handlers/worker-bridge',
]

/** What tests and benchmarks take from the inside; not packed. */
const forTests = 'internal-for-tests'
const insides = ['executors/delay-heap', 'threadpool/worker-threads']

/** Writes the code into dist and answers the paths there. */
export async function bundle(root) {
  const { exports: targets } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const exported = Object.values(targets)
    .map((target) => /^\.\/dist\/(.+)\.js$/.exec(target.default ?? target)?.[1])
    .filter((name) => name !== undefined)
  const source = (name) => join(root, 'src', `${name}.ts`)
  const names = [...exported, ...startedByPath]
  const made = await rollup({
    input: { ...Object.fromEntries(names.map((name) => [name, source(name)])), [forTests]: forTests },
    external: (id) => !/^[./]/.test(id) && !(id in moduleOf) && !(id in bundled) && id !== forTests,
    plugins: [internals(insides.map(source)), packages(root), typescript()],
    // Takes seconds and finds nothing: the linter refuses what is not used.
    treeshake: false,
    onwarn: (warning) => {
      throw new Error(warning.message)
    },
  })
  const { output } = await made.generate({
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    manualChunks: chunks(source, new Set(names.map(source))),
    hoistTransitiveImports: false,
    minifyInternalExports: false,
    generatedCode: 'es2015',
  })
  await made.close()
  for (const { fileName, code } of output) writeChanged(join(root, 'dist', fileName), code)
  return output.map(({ fileName }) => fileName)
}

/**
 * A chunk has the modules that the same programs need. The few programs that decide are those of a browser, of a
 * thread, and of a node: with all entries there would be a chunk for each combination of them, and each file that is
 * loaded costs more than what it has in it.
 */
function chunks(source, entries) {
  let reached = null
  return (id, { getModuleInfo }) => {
    reached ??= Object.fromEntries(
      ['cron', 'threadpool/worker-entry', 'index', 'executors', 'sqlite', 'postgres', 'metrics', 'otel'].map(
        (name) => [name, closure(source(name), getModuleInfo)],
      ),
    )
    const isIn = (name) => reached[name].has(id)
    if (entries.has(id)) return null
    if (isIn('threadpool/worker-entry')) return isIn('cron') ? 'base' : 'thread'
    if (isIn('cron')) return 'cron'
    if (id in bundled) return id
    if (isIn('index')) return 'scheduler'
    if (isIn('executors')) return 'executors'
    if (isIn('sqlite') && isIn('postgres')) return 'sql'
    return isIn('metrics') && isIn('otel') ? 'telemetry' : null
  }
}

/** A module and all that it imports, but for what it imports later. */
function closure(id, getModuleInfo, found = new Set()) {
  if (!found.has(id)) {
    found.add(id)
    for (const imported of getModuleInfo(id)?.importedIds ?? []) closure(imported, getModuleInfo, found)
  }
  return found
}

function internals(paths) {
  return {
    name: 'internals',
    resolveId: (id) => (id === forTests ? id : null),
    load: (id) => (id === forTests ? paths.map((path) => `export * from '${path}'\n`).join('') : null),
  }
}

/** Packages as modules that can be looked into: theirs are in CommonJS. */
function packages(root) {
  return {
    name: 'packages',
    resolveId: (id) => moduleOf[id] ?? null,
    async load(id) {
      if (!(id in bundled)) return null
      const { outputFiles } = await build({
        stdin: { contents: bundled[id], resolveDir: root },
        alias: { luxon: join(root, luxon) },
        bundle: true,
        format: 'esm',
        platform: 'neutral',
        mainFields: ['module', 'main'],
        ...compact,
        minifySyntax: true,
        write: false,
      })
      return outputFiles[0].text
    },
  }
}

function typescript() {
  return {
    name: 'typescript',
    async transform(code, id) {
      if (!id.endsWith('.ts')) return null
      const tsconfigRaw = { compilerOptions: { target, verbatimModuleSyntax: true } }
      return { code: (await transform(code, { loader: 'ts', target, tsconfigRaw })).code, map: null }
    },
    async renderChunk(code) {
      return { code: (await transform(code, { format: 'esm', ...compact })).code, map: null }
    },
  }
}
