import { dirname, join } from 'node:path/posix'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { entryPoints } from '../support/entry-points.ts'
import { importsOf, lineOf, parse, projectFiles, type SourceFile } from '../support/source-files.ts'

/** Folders of src from the ground up: a file may import its own folder and folders of earlier rows. */
const layers = [
  ['core'],
  ['time'],
  ['triggers'],
  ['jobs'],
  ['jobstore'],
  ['threadpool', 'listeners'],
  ['scheduler', 'executors', 'xxl-job'],
  ['health', 'metrics'],
  ['alerts'],
  ['plugins', 'annotations', 'server'],
  ['cli'],
]

/**
 * Rooms of a folder from the ground up, where it has floors of its own; '' is what lies in the folder itself. A file
 * may import its own room and rooms of earlier rows.
 */
const floors: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'src/triggers': [
    ['cron'],
    ['calendars'],
    [''],
    ['families/simple', 'families/cron', 'families/interval', 'families/daily'],
    ['families'],
  ],
  'src/xxl-job': [['protocol'], ['executor', 'admin']],
  'src/jobstore': [[''], ['sql', 'ram'], ['sqlite', 'postgres']],
  'src/jobstore/sql': [
    ['kernel'],
    ['tables/encoding'],
    [
      'tables/jobs',
      'tables/firings',
      'tables/calendars',
      'tables/history',
      'tables/groups',
      'tables/nodes',
      'tables/records',
      'tables/notes',
    ],
    ['tables/triggers', 'tables/lists', 'migrations'],
    ['session'],
    ['programs/steps', 'programs/reading'],
    ['programs/firing', 'programs/scheduling'],
    ['cluster'],
    [''],
  ],
}

/** The one folder in which a third-party package may be imported; packages that are not listed may not be used. */
const packageHomes: Record<string, string> = {
  luxon: 'src/time',
  'cron-parser': 'src/triggers/cron',
  cronstrue: 'src/triggers/cron',
  'sorted-btree': 'src/jobstore/ram',
  'better-sqlite3': 'src/jobstore/sqlite',
  piscina: 'src/threadpool',
  pg: 'src/jobstore/postgres',
  hono: 'src/server',
  '@hono/node-server': 'src/server',
  zod: 'src/server',
  'prom-client': 'src/metrics/prometheus',
  '@opentelemetry/api': 'src/metrics/otel',
  nodemailer: 'src/alerts',
}

/** The modules that package.json exports; the only files that may re-export. */
const entries = new Set(entryPoints().map(({ source }) => source))

/** What scheduler/ may import of the layers that have drivers; create-scheduler.ts alone picks the drivers. */
const schedulerSpis = /^src\/(jobstore\/[^/]+\.ts|threadpool\/(thread-pool|wire)\.ts)$/

/** In-process timing knows nothing of stores and what goes with them. */
const executorsMayImport = /^src\/(core|time|jobs|threadpool|executors)\//

/** An executor for XXL-JOB stands alone: the plan is elsewhere. */
const xxlJobMayImport = /^src\/(core|time|jobs|threadpool|xxl-job)\//

/** What methods become in a cluster needs the contract of a scheduler, and of what lies below it. */
const annotationsMayImport = /^src\/(core|time|triggers|executors|jobs|annotations)\//
const contractsForAnnotations = new Set([
  'src/jobstore/cluster-view.ts',
  'src/jobstore/queries.ts',
  'src/listeners/scheduler-listener.ts',
  'src/scheduler/scheduler.ts',
])

const filesIn = (...places: readonly string[]): RegExp => new RegExp(`^src/(${places.join('|')})/`)
const jobStoreContracts = 'jobstore(?=/[^/]+$)'

/** What the entry points may export, so that each has what one kind of reader needs. */
const entryHouses: Readonly<Record<string, RegExp>> = {
  'src/index.ts': filesIn(
    ...['core', 'time', 'triggers', 'jobs', jobStoreContracts, 'jobstore/ram'],
    ...['threadpool', 'listeners', 'scheduler', 'health', 'plugins'],
  ),
  'src/spi.ts': filesIn('core', 'time', 'triggers', jobStoreContracts, 'jobstore/sql', 'threadpool'),
  'src/config.ts': filesIn('cli/config'),
  'src/cron.ts': filesIn('core', 'time', 'triggers/cron'),
  'src/sqlite.ts': filesIn(jobStoreContracts, 'jobstore/sql', 'jobstore/sqlite'),
  'src/postgres.ts': filesIn(jobStoreContracts, 'jobstore/sql', 'jobstore/postgres'),
  'src/executors.ts': executorsMayImport,
  'src/annotations.ts': filesIn('core', 'time', 'executors', 'annotations'),
  'src/server.ts': filesIn('server'),
  'src/xxl-job.ts': filesIn('core', 'xxl-job'),
  'src/metrics.ts': filesIn('metrics/prometheus'),
  'src/alerts.ts': filesIn('alerts'),
  'src/otel.ts': filesIn('metrics/otel'),
  'src/testing.ts': filesIn('core', 'time', 'testing'),
}

const layerOf = (path: string): string => path.split('/')[1] ?? ''
const rankOf = (path: string): number => layers.findIndex((row) => row.includes(layerOf(path)))
const isTesting = (path: string): boolean => path === 'src/testing.ts' || path.startsWith('src/testing/')

/** The room of a file in a folder that has floors, or null for one that no row lists. */
function roomIn(folder: string, path: string): string | null {
  const inside = dirname(path).slice(folder.length + 1)
  const rooms = floors[folder]?.flat() ?? []
  return rooms.find((room) => room === inside || (room !== '' && inside.startsWith(`${room}/`))) ?? null
}

/** Why `from` may not import `to` within a folder that has floors. */
function upTheStairs(from: string, to: string): string | null {
  const inside = Object.keys(floors).filter((folder) => {
    return from.startsWith(`${folder}/`) && to.startsWith(`${folder}/`)
  })
  for (const folder of inside) {
    const [room, other] = [roomIn(folder, from), roomIn(folder, to)]
    if (room === null) return `no room of ${folder} holds it; list its folder in this test`
    const floorOf = (name: string | null): number => {
      return floors[folder]?.findIndex((row) => name !== null && row.includes(name)) ?? -1
    }
    if (room === other || floorOf(other) < floorOf(room)) continue
    return `room '${room}' of ${folder} must not know room '${other ?? ''}'`
  }
  return null
}

/** Why `from` may not import the file `to`, or null when it may. */
function forbidden(from: string, to: string): string | null {
  if (entries.has(to)) return 'imports an entry point; import the file that defines the name'
  if (isTesting(to) && !isTesting(from)) return 'production code imports test support'
  if (entries.has(from)) {
    const house = entryHouses[from]
    if (house === undefined)
      return 'is exported by an entry point without a house; name what it may export in this test'
    return house.test(to) ? null : 'belongs to another entry point'
  }
  if (isTesting(from)) return null
  if (rankOf(from) < 0) return `'${layerOf(from)}' is not a layer; add it to this test in its place`
  const upwards = layerOf(from) !== layerOf(to) && rankOf(to) >= rankOf(from)
  if (upwards) return `layer '${layerOf(from)}' must not know layer '${layerOf(to)}'`
  const stairs = upTheStairs(from, to)
  if (stairs !== null) return stairs
  if (layerOf(from) === 'executors' && !executorsMayImport.test(to)) return 'executors/ needs no store'
  if (layerOf(from) === 'xxl-job' && !xxlJobMayImport.test(to)) return 'xxl-job/ needs no scheduler'
  if (layerOf(from) === 'annotations' && !annotationsMayImport.test(to) && !contractsForAnnotations.has(to)) {
    return 'annotations/ sees contracts only'
  }
  const wires = layerOf(from) !== 'scheduler' || from === 'src/scheduler/create-scheduler.ts'
  const hasDrivers = /^src\/(jobstore|threadpool)\//.test(to)
  return wires || !hasDrivers || schedulerSpis.test(to) ? null : 'scheduler/ sees SPIs only, not drivers'
}

function forbiddenPackage(from: string, specifier: string): string | null {
  if (specifier.startsWith('node:')) return null
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  const home = packageHomes[name]
  if (home === undefined) return `package '${name}' has no home folder; name one in this test`
  return from.startsWith(`${home}/`) ? null : `package '${name}' is imported in ${home} only`
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path)
    if (at >= 0) found.push(`cycle: ${[...trail.slice(at), path].join(' -> ')}`)
    if (at >= 0 || done.has(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return found
}

/** Re-exports outside the entry points, and state that outlives a scheduler: `let` or `var` at the top of a module. */
function statementProblems(file: SourceFile): string[] {
  return parse(file).statements.flatMap((statement) => {
    const at = `${file.path}:${lineOf(statement)}`
    if (ts.isExportDeclaration(statement) && statement.moduleSpecifier && !entries.has(file.path)) {
      return [`${at}: re-exports; only ${[...entries].join(' and ')} are barrels`]
    }
    const kind =
      ts.isVariableStatement(statement) && statement.declarationList.flags & ts.NodeFlags.BlockScoped
    const mutable = kind === ts.NodeFlags.None || kind === ts.NodeFlags.Let
    return mutable ? [`${at}: module-level let; keep state in an object that someone owns`] : []
  })
}

function problemsOf(files: readonly SourceFile[]): string[] {
  const graph = new Map<string, string[]>()
  const problems = files.flatMap((file) => {
    const local: string[] = []
    graph.set(file.path, local)
    const refused = importsOf(file).flatMap(({ specifier, line }) => {
      const relative = specifier.startsWith('.')
      const target = join(dirname(file.path), specifier)
      if (relative) local.push(target)
      const reason = relative ? forbidden(file.path, target) : forbiddenPackage(file.path, specifier)
      return reason === null ? [] : [`${file.path}:${line}: ${reason} (${specifier})`]
    })
    return [...refused, ...statementProblems(file)]
  })
  return [...problems, ...cycles(graph)]
}

const sql = 'src/jobstore/sql'

describe('import layers', () => {
  const sources = projectFiles(/^src\/.*\.ts$/)

  test('every import of src points down the layers and stays in its house', () => {
    expect(sources.length).toBeGreaterThan(20)
    expect(problemsOf(sources)).toEqual([])
  })

  test.each([
    ['an upward import', 'src/core/a.ts', `import { b } from '../time/b.ts'`, 'must not know'],
    ['an upward type', 'src/time/a.ts', `import type { B } from '../jobs/b.ts'`, 'must not know'],
    ['an upward import type', 'src/time/a.ts', `export type A = import('../jobs/b.ts').B`, 'must not know'],
    ['a dynamic import', 'src/jobs/a.ts', `export const a = () => import('../cli/b.ts')`, 'must not know'],
    ['a worker URL', 'src/jobs/a.ts', `f(new URL('../cli/b.ts', import.meta.url))`, 'must not know'],
    ['neighbours', 'src/listeners/a.ts', `import '../threadpool/b.ts'`, 'must not know'],
    ['a new folder', 'src/helpers/a.ts', `import '../core/b.ts'`, 'is not a layer'],
    [
      'a table in the kernel',
      `${sql}/kernel/a.ts`,
      `import '../tables/jobs/b.ts'`,
      `not know room 'tables/jobs'`,
    ],
    [
      'a program in a table',
      `${sql}/tables/jobs/a.ts`,
      `import '../../programs/firing/b.ts'`,
      'must not know',
    ],
    ['a neighbouring table', `${sql}/tables/jobs/a.ts`, `import '../firings/b.ts'`, 'must not know'],
    ['the store in a program', `${sql}/programs/firing/a.ts`, `import '../../b.ts'`, `not know room ''`],
    ['a new room', `${sql}/attic/a.ts`, `import '../kernel/b.ts'`, 'no room of'],
    ['an engine', `${sql}/kernel/a.ts`, `import '../../postgres/b.ts'`, `not know room 'postgres'`],
    ['a family', 'src/triggers/a.ts', `import './families/cron/b.ts'`, `not know room 'families/cron'`],
    ['two families', 'src/triggers/families/cron/a.ts', `import '../simple/b.ts'`, 'must not know'],
    ['a driver', 'src/scheduler/a.ts', `import '../jobstore/ram/b.ts'`, 'SPIs only'],
    ['a pool', 'src/scheduler/a.ts', `import '../threadpool/piscina-pool.ts'`, 'SPIs only'],
    ['wiring', 'src/annotations/a.ts', `import '../scheduler/create-scheduler.ts'`, 'contracts only'],
    ['a store', 'src/executors/a.ts', `import '../jobstore/job-store.ts'`, 'needs no store'],
    ['a strayed package', 'src/cli/a.ts', `import { DateTime } from 'luxon'`, 'src/time only'],
    ['an unknown package', 'src/cli/a.ts', `import x from '@a/b/c'`, `'@a/b' has no home`],
    ['vitest', 'src/testing/a.ts', `import { test } from 'vitest'`, 'has no home'],
    ['a trigger', 'src/xxl-job/executor/a.ts', `import '../../triggers/b.ts'`, 'needs no scheduler'],
    ['an executor', 'src/xxl-job/protocol/a.ts', `import '../executor/b.ts'`, 'must not know'],
    ['test support', 'src/scheduler/a.ts', `import '../testing/b.ts'`, 'test support'],
    ['the barrel', 'src/cli/a.ts', `import '../index.ts'`, 'entry point'],
    ['a second barrel', 'src/core/a.ts', `export * from './b.ts'`, 're-exports'],
    ['a driver in the main entry', 'src/index.ts', `export * from './jobstore/sqlite/b.ts'`, 'another entry'],
    ['the scheduler in an entry', 'src/executors.ts', `export * from './scheduler/b.ts'`, 'another entry'],
    ['module state', 'src/core/a.ts', 'export let a = 1', 'module-level let'],
    ['a var', 'src/core/a.ts', 'var a = 1', 'module-level let'],
    ['a cycle', 'src/core/a.ts', `import type { A } from './a.ts'`, 'cycle: src/core/a.ts -> src/core/a.ts'],
  ])('catches %s', (_what, path, text, message) => {
    expect(problemsOf([{ path, text }])).toEqual([expect.stringContaining(message)])
  })

  test('finds a cycle through three files once', () => {
    const file = (name: string, next: string): SourceFile => ({
      path: `src/core/${name}.ts`,
      text: `import { x } from './${next}.ts'`,
    })
    const files = [file('a', 'b'), file('b', 'c'), file('c', 'a'), file('d', 'a')]
    expect(problemsOf(files)).toEqual([
      'cycle: src/core/a.ts -> src/core/b.ts -> src/core/c.ts -> src/core/a.ts',
    ])
  })

  test('lets the wiring file pick drivers, and test support import what it tests', () => {
    const wiring = { path: 'src/scheduler/create-scheduler.ts', text: `import '../jobstore/ram/b.ts'` }
    const suite = { path: 'src/testing/a.ts', text: `import '../scheduler/b.ts'` }
    expect(problemsOf([wiring, suite])).toEqual([])
  })
})
