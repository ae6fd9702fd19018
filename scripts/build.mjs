// Compiles src to dist, incrementally, and removes what earlier builds left there of sources that are gone. Comments go
// into the declarations, where editors show them, and not a second time into the code. The dashboard is built beside
// it when it has changed.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const passes = [
  ['--emitDeclarationOnly', '--tsBuildInfoFile', 'dist/.tsbuildinfo'],
  [
    '--declaration',
    'false',
    '--isolatedDeclarations',
    'false',
    '--removeComments',
    '--tsBuildInfoFile',
    'dist/.tsbuildinfo-code',
  ],
]
for (const pass of passes) {
  run(compiler, ['-p', 'tsconfig.build.json', ...pass])
}

for (const path of readdirSync(join(root, 'dist'), { recursive: true })) {
  if (path.startsWith('dashboard')) continue
  const source = /^(.+?)(\.d\.ts|\.js)$/.exec(path)?.[1]
  if (source !== undefined && !existsSync(join(root, 'src', `${source}.ts`))) rmSync(join(root, 'dist', path))
}

const page = join(root, 'dist/dashboard/index.html')
const inputs = [
  'package-lock.json',
  ...readdirSync(join(root, 'dashboard'), { recursive: true }).map(inDashboard),
]
const changedMs = Math.max(...inputs.map((path) => statSync(join(root, path)).mtimeMs))
if (!existsSync(page) || statSync(page).mtimeMs < changedMs) {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  run(vite, ['build', '--config', 'dashboard/vite.config.ts', '--logLevel', 'warn'])
}

/** @param {string} path */
function inDashboard(path) {
  return join('dashboard', path)
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
