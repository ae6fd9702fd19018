import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs `use(load)`; `load('/test/support/a.ts')` loads a TypeScript file of the project as it is, through vite. */
export async function withSources(use) {
  const server = await createServer({
    root,
    configFile: false,
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
  })
  try {
    await use((path) => server.ssrLoadModule(path))
  } catch (error) {
    console.error(String(error))
    process.exitCode = 1
  } finally {
    await server.close()
  }
}
