// Runs the unit tests under another Node.js: `npm run test:node -- 24 [vitest arguments]`. The binary comes from the
// npm package `node`, which npx fetches and keeps in its cache.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [version = '', ...rest] = process.argv.slice(2)
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  console.error('Say which Node.js: npm run test:node -- 24')
  process.exit(2)
}
const args = ['-y', `node@${version}`, 'node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', ...rest]
const { status } = spawnSync('npx', args, {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
})
process.exit(status ?? 1)
