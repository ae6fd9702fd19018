// Compiles src to dist, incrementally, and removes what earlier builds left there of sources that are gone.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)

for (const path of readdirSync(join(root, 'dist'), { recursive: true })) {
  const source = /^(.+?)(\.d\.ts|\.js)$/.exec(path)?.[1]
  if (source !== undefined && !existsSync(join(root, 'src', `${source}.ts`))) rmSync(join(root, 'dist', path))
}
