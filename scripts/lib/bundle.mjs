// Bundles src into the few files of dist that a program loads: one for each entry, and the chunks that they share.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { rollup } from 'rollup'
import { shrink } from './shrink.mjs'
import { writeChanged } from './write-changed.mjs'

const target = 'es2022'

/** Packages that become a part of chunks, so that a program does not load them file by file; of each what is used. */
const moduleOf = {
  'cron-parser': 'packages',
  cronstrue: 'cronstrue',
  luxon: 'zones',
  'sorted-btree/extended/index.js': 'packages',
}
const bundled = {
  cronstrue: "export { default } from 'cronstrue'",
  packages: `export { CronExpressionParser } from './node_modules/cron-parser/dist/CronExpressionParser.js'
    export { default as BTreeEx } from 'sorted-btree'`,
}
/** What cron-parser gets in place of two modules: it reads fields here, and computes no times. */
const keepsFields = 'exports.CronExpression = class { constructor(fields) { this.fields = fields } }'
const standIns = [
  [/cron-parser.dist.CronExpression\.js$/, keepsFields],
  [/node_modules.luxon./, ''],
]

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
    external: (id) => !/^[./]/.test(id) && !(id in moduleOf) && !isPackage(id) && id !== forTests,
    plugins: [internals(insides.map(source)), packages(root), typescript(root)],
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
    if (isPackage(id)) return 'packages'
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

const isPackage = (id) => Object.values(moduleOf).includes(id)

/** Packages as modules that can be looked into: most are in CommonJS. */
function packages(root) {
  return {
    name: 'packages',
    resolveId: (id) => moduleOf[id] ?? null,
    async load(id) {
      if (id === 'zones') return zonesOfLuxon(root)
      if (!(id in bundled)) return null
      const { outputFiles } = await build({
        stdin: { contents: bundled[id], resolveDir: root },
        bundle: true,
        format: 'esm',
        platform: 'neutral',
        mainFields: ['module', 'main'],
        plugins: [standingIn],
        target,
        minifySyntax: true,
        write: false,
      })
      return outputFiles[0].text
    },
  }
}

const standingIn = {
  name: 'stand-ins',
  setup: ({ onLoad }) => {
    for (const [filter, contents] of standIns) onLoad({ filter }, () => ({ contents }))
  },
}

/** Its dates, formats and locales are ten times as much, and rollup finds that the zones need none of them. */
async function zonesOfLuxon(root) {
  const made = await rollup({
    input: join(root, 'node_modules/luxon/src/zones/IANAZone.js'),
    treeshake: { moduleSideEffects: false },
    // Its modules ask for one another in circles.
    onwarn: (warning) => {
      if (warning.code !== 'CIRCULAR_DEPENDENCY') throw new Error(warning.message)
    },
  })
  const { output } = await made.generate({ format: 'es' })
  await made.close()
  return `${output[0].code}\nexport { IANAZone }\n`
}

function typescript(root) {
  return {
    name: 'typescript',
    async transform(code, id) {
      if (!id.endsWith('.ts')) return null
      const tsconfigRaw = { compilerOptions: { target, verbatimModuleSyntax: true } }
      return { code: (await transform(code, { loader: 'ts', target, tsconfigRaw })).code, map: null }
    },
    renderChunk: async (code, { fileName }) => ({
      code: await shrink(code, join(root, '.cache/shrunk', fileName)),
      map: null,
    }),
  }
}
