import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Projects whose processes wait most of the time run beside each other, with more workers than there are cores. */
const waiting = { sequence: { groupOrder: 2 }, maxWorkers: availableParallelism() + 3 }

/** The library has no module state and no test mocks a module, so the files of one worker share their imports. */
const shared = {
  pool: 'forks',
  isolate: false,
  // A second, which vitest waits by itself, is little on a busy machine.
  expect: { poll: { timeout: 30_000 } },
} as const

/**
 * Where better-sqlite3 is not built for this Node.js, the unit tests and those of what is built open SQLite files by
 * its `node:sqlite`, and the store, which looks for its driver itself, finds that.
 */
const sqliteOfTests = {
  name: 'sqlite-of-tests',
  enforce: 'pre',
  resolveId: (id: string, importer?: string): string | null =>
    id === 'better-sqlite3' && importer?.startsWith(at('test/')) === true && !isSqliteBuilt()
      ? at('test/support/better-sqlite3.ts')
      : null,
} as const

function isSqliteBuilt(): boolean {
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3') as new (
      filename: string,
    ) => { close(): void }
    new Database(':memory:').close()
    return true
  } catch {
    return false
  }
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** The entries of the package as package.json names them: each specifier and its built file. */
const built = Object.entries((JSON.parse(readFileSync(at('package.json'), 'utf8')) as Manifest).exports)
  .flatMap(([subpath, target]) => (typeof target === 'string' ? [] : [{ subpath, file: target.default }]))
  .map(({ subpath, file }) => ({ find: new RegExp(`^quartz-ts${subpath.slice(1)}$`), replacement: at(file) }))

const sources = built.map(({ find, replacement }) => ({
  find,
  replacement: replacement.replace(/dist\/([\w-]+)\.js$/, 'src/$1.ts'),
}))

/**
 * Six projects: `unit` runs the sources as they are; `postgres` does so on a real server, started for the run;
 * `integration` runs what is built (worker threads, the command line, the packed package), so its set-up builds dist
 * once; `interop` runs what is built in clusters with Java Quartz, where that is installed; `chaos` kills, freezes and
 * cuts off processes of what is built; `browser` has a browser open the dashboard of a server that runs the sources.
 */
export default defineConfig({
  test: {
    // One worker per core; vitest would leave one core idle.
    maxWorkers: '100%',
    // Concurrent tests start processes of their own.
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        resolve: { alias: sources },
        plugins: [sqliteOfTests],
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/integration/**',
            'test/browser/**',
            'test/postgres/**',
            'test/chaos/**',
            'test/interop/**',
            '**/node_modules/**',
          ],
          testTimeout: 60_000,
          ...shared,
        },
      },
      {
        resolve: { alias: sources },
        test: {
          name: 'postgres',
          include: ['test/postgres/**/*.test.ts'],
          globalSetup: ['test/support/postgres-setup.ts'],
          // Many of them wait for locks and leases.
          ...waiting,
          ...shared,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve: { alias: sources },
        test: {
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          // For hours, by `npm run soak`.
          exclude: process.env['QUARTZ_TS_SOAK_HOURS'] === undefined ? ['test/chaos/soak.test.ts'] : [],
          globalSetup: ['test/support/build.ts', 'test/support/postgres-setup.ts'],
          // Processes that are killed, frozen and cut off from their server.
          ...waiting,
          ...shared,
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve: { alias: sources },
        test: {
          name: 'interop',
          include: ['test/interop/**/*.test.ts'],
          globalSetup: [
            'test/support/build.ts',
            'test/support/postgres-setup.ts',
            'test/interop/java-setup.ts',
          ],
          // Each file has a cluster of processes of its own.
          ...waiting,
          ...shared,
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve: { alias: sources },
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/support/build-dashboard.ts', 'test/support/postgres-setup.ts'],
          // Each file has a browser and a server, which are busy all the time: beside them, tests of the group before
          // would see a machine that comes late.
          sequence: { groupOrder: 3 },
          maxWorkers: availableParallelism(),
          ...shared,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve: {
          alias: built,
        },
        plugins: [sqliteOfTests],
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/build.ts'],
          // After the unit tests, since they are about real processes and real time; many of them wait.
          sequence: { groupOrder: 1 },
          maxWorkers: availableParallelism() + 1,
          ...shared,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
