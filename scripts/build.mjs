// Compiles src to dist, incrementally, and removes what earlier builds left there of sources that are gone. Comments go
// into the declarations, where editors show them, and not a second time into the code. The dashboard is built beside
// it when it has changed.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
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
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', ...pass], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

for (const path of readdirSync(join(root, 'dist'), { recursive: true })) {
  if (path.startsWith('dashboard')) continue
  const source = /^(.+?)(\.d\.ts|\.js)$/.exec(path)?.[1]
  if (source !== undefined && !existsSync(join(root, 'src', `${source}.ts`))) rmSync(join(root, 'dist', path))
}

await import('./build-dashboard.mjs')
