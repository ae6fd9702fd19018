// Compiles src to dist, incrementally, and removes what earlier builds left there of sources that are gone. Comments go
// into the declarations, where editors show them, and not a second time into the code. The dashboard is built beside
// it when it has changed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
// Neither needs the other, and each keeps one core busy.
const statuses = await Promise.all(passes.map(compile))
const failed = statuses.find((status) => status !== 0)
if (failed !== undefined) process.exit(failed)

for (const path of readdirSync(join(root, 'dist'), { recursive: true })) {
  if (path.startsWith('dashboard')) continue
  const source = /^(.+?)(\.d\.ts|\.js)$/.exec(path)?.[1]
  if (source !== undefined && !existsSync(join(root, 'src', `${source}.ts`))) rmSync(join(root, 'dist', path))
}

await import('./build-dashboard.mjs')

/** Resolves to the exit code of the compiler, 1 where a signal ended it. */
async function compile(pass) {
  const child = spawn(process.execPath, [compiler, '-p', 'tsconfig.build.json', ...pass], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return code ?? 1
}
