import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './source-files.ts'

const fetched = ['npx', '-y', 'node@22'] as const

/** A Node.js that strips types and has `node:sqlite`: this one, or one that npm has or fetches; null where none is. */
export const laterNode: readonly string[] | null = isLater()
  ? [process.execPath]
  : spawnSync(fetched[0], [...fetched.slice(1), '--version'], { timeout: 60_000 }).status === 0
    ? fetched
    : null

function isLater(): boolean {
  return Boolean(Reflect.get(process.features, 'typescript'))
}

/** How Bun and Deno are started, of which npm has binaries; an empty list where it did not fetch them. */
export function otherRuntimes(): readonly { readonly name: string; readonly command: readonly string[] }[] {
  const folder = join(projectRoot, '.cache/runtimes')
  if (!existsSync(join(folder, 'node_modules'))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    // What their scripts of installation do is to find the binary.
    const args = ['install', '--ignore-scripts', '--prefer-offline', 'bun@1.4', 'deno@2.9']
    spawnSync('npm', args, { cwd: folder, timeout: 300_000 })
  }
  const binaries = [
    { name: 'Bun', scope: '@oven', path: 'bin/bun', args: [] },
    { name: 'Deno', scope: '@deno', path: 'deno', args: ['run', '--allow-all'] },
  ]
  return binaries.flatMap(({ name, scope, path, args }) =>
    filesOf(join(folder, 'node_modules', scope))
      .map((platform) => join(folder, 'node_modules', scope, platform, path))
      .filter((binary) => spawnSync(binary, ['--version'], { timeout: 60_000 }).status === 0)
      .slice(0, 1)
      .map((binary) => ({ name, command: [binary, ...args] })),
  )
}

function filesOf(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}
