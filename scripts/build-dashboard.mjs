// Builds the dashboard into dist/dashboard, when it has changed since it was built last.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = join(root, 'dist/dashboard/index.html')
const files = readdirSync(join(root, 'dashboard'), { recursive: true })
const inputs = ['package-lock.json', 'dashboard', ...files.map((path) => join('dashboard', String(path)))]
const changedMs = Math.max(...inputs.map((path) => statSync(join(root, path)).mtimeMs))

if (!existsSync(page) || statSync(page).mtimeMs < changedMs) {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const args = ['build', '--config', 'dashboard/vite.config.ts', '--logLevel', 'warn']
  const { status } = spawnSync(process.execPath, [vite, ...args], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
