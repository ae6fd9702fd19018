import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/**
 * Two projects: `unit` runs the sources as they are; `integration` runs what is built (worker threads, the command
 * line, the packed package), so its set-up builds dist once.
 */
export default defineConfig({
  test: {
    projects: [
      {
        resolve: {
          alias: [
            { find: /^quartz-ts\/testing$/, replacement: at('src/testing.ts') },
            { find: /^quartz-ts$/, replacement: at('src/index.ts') },
          ],
        },
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/integration/**', '**/node_modules/**'],
          testTimeout: 60_000,
        },
      },
      {
        resolve: {
          alias: [
            { find: /^quartz-ts\/testing$/, replacement: at('dist/testing.js') },
            { find: /^quartz-ts$/, replacement: at('dist/index.js') },
          ],
        },
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/build.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
