// Makes dist of src: the compiler checks and writes the declarations, incrementally, and beside it the code is bundled
// into few files. What earlier builds left there is removed. The dashboard is built when it has changed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './lib/bundle.mjs'
import { copyDeclarations } from './lib/declarations.mjs'
import { writeChanged } from './lib/write-changed.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const compiled = join(root, '.cache/declarations')
const pass = [
  '--emitDeclarationOnly',
  '--outDir',
  compiled,
  '--tsBuildInfoFile',
  join(compiled, '.tsbuildinfo'),
]
// Neither needs the other, and each keeps one core busy.
const [status, code] = await Promise.all([compile(), bundle(root)])
if (status !== 0) process.exit(status)

const made = new Set([...code, ...copyDeclarations(root, compiled)])
for (const path of readdirSync(join(root, 'dist'), { recursive: true })) {
  const isOld = /(\.d\.ts|\.js|^\.tsbuildinfo.*)$/.test(path) && !made.has(path)
  if (isOld && !path.startsWith('dashboard')) rmSync(join(root, 'dist', path))
}

// Of the repository's, which is for readers, a third less.
const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'))
writeChanged(join(root, 'dist/openapi.json'), JSON.stringify(openapi))

await import('./build-dashboard.mjs')

/** Resolves to the exit code of the compiler, 1 where a signal ended it. */
async function compile() {
  const child = spawn(process.execPath, [compiler, '-p', 'tsconfig.build.json', ...pass], {
    cwd: root,
    stdio: 'inherit',
  })
  const [status] = await once(child, 'exit')
  return status ?? 1
}
