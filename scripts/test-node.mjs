// Runs the unit tests under another Node.js: `npm run test:node -- 24 [vitest arguments]`. The binary comes from the
// npm package `node`, which npx fetches and keeps in its cache.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [version = '', ...rest] = process.argv.slice(2)
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  console.error('Say which Node.js: npm run test:node -- 24')
  process.exit(2)
}
const cwd = fileURLToPath(new URL('..', import.meta.url))
const node = ['-y', `node@${version}`]
// better-sqlite3 loads its binary with the first database.
const opens = "new (require('better-sqlite3'))(':memory:').close()"
if (spawnSync('npx', [...node, '-e', opens], { cwd }).status !== 0) {
  console.log(
    `better-sqlite3 is not built for Node.js ${version}: tests open SQLite files by its node:sqlite.`,
  )
}
const args = [...node, 'node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', ...rest]
const { status } = spawnSync('npx', args, {
  cwd,
  stdio: 'inherit',
})
process.exit(status ?? 1)
