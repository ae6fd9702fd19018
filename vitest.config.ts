import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const sources = [
  { find: /^quartz-ts\/annotations$/, replacement: at('src/annotations.ts') },
  { find: /^quartz-ts\/cron$/, replacement: at('src/cron.ts') },
  { find: /^quartz-ts\/executors$/, replacement: at('src/executors.ts') },
  { find: /^quartz-ts\/postgres$/, replacement: at('src/postgres.ts') },
  { find: /^quartz-ts\/sqlite$/, replacement: at('src/sqlite.ts') },
  { find: /^quartz-ts\/testing$/, replacement: at('src/testing.ts') },
  { find: /^quartz-ts$/, replacement: at('src/index.ts') },
]

/**
 * Five projects: `unit` runs the sources as they are; `postgres` does so on a real server, started for the run;
 * `integration` runs what is built (worker threads, the command line, the packed package), so its set-up builds dist
 * once; `interop` runs what is built in clusters with Java Quartz, where that is installed; `chaos` kills, freezes and
 * cuts off processes of what is built.
 */
export default defineConfig({
  test: {
    // One worker per core; vitest would leave one core idle.
    maxWorkers: '100%',
    // Concurrent tests start processes of their own.
    maxConcurrency: 2,
    projects: [
      {
        resolve: { alias: sources },
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/integration/**',
            'test/postgres/**',
            'test/chaos/**',
            'test/interop/**',
            '**/node_modules/**',
          ],
          testTimeout: 60_000,
          // The library has no module state and no test mocks a module, so the files of one worker share their imports.
          pool: 'forks',
          isolate: false,
        },
      },
      {
        resolve: { alias: sources },
        test: {
          name: 'postgres',
          include: ['test/postgres/**/*.test.ts'],
          globalSetup: ['test/support/postgres-setup.ts'],
          // The server and its clients share the cores, so they wait for the others to end.
          sequence: { groupOrder: 2 },
          pool: 'forks',
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
          // Processes that are killed, frozen and cut off from their server: one cluster at a time.
          sequence: { groupOrder: 4 },
          maxWorkers: 1,
          pool: 'forks',
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
          // Each file has a cluster of processes of its own: one at a time, after all others.
          sequence: { groupOrder: 3 },
          maxWorkers: 1,
          pool: 'forks',
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        resolve: {
          alias: [
            { find: /^quartz-ts\/annotations$/, replacement: at('dist/annotations.js') },
            { find: /^quartz-ts\/cron$/, replacement: at('dist/cron.js') },
            { find: /^quartz-ts\/executors$/, replacement: at('dist/executors.js') },
            { find: /^quartz-ts\/postgres$/, replacement: at('dist/postgres.js') },
            { find: /^quartz-ts\/sqlite$/, replacement: at('dist/sqlite.js') },
            { find: /^quartz-ts\/testing$/, replacement: at('dist/testing.js') },
            { find: /^quartz-ts$/, replacement: at('dist/index.js') },
          ],
        },
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/build.ts'],
          // After the unit tests: real processes and real time deserve the cores for themselves.
          sequence: { groupOrder: 1 },
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
