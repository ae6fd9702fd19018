import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from './source-files.ts'

const execute = promisify(execFile)

/**
 * An empty project outside of this one, with the packed file in its node_modules and this project's copies of the named
 * packages beside it. dist was built by the set-up of the integration project.
 */
export async function packedProject(packages: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-packed-'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const { stdout } = await execute('npm', args, { cwd: projectRoot })
  const [packed] = JSON.parse(stdout) as { readonly filename: string }[]
  const installed = join(folder, 'node_modules/quartz-ts')
  mkdirSync(installed, { recursive: true })
  await execute('tar', [
    '-xzf',
    join(folder, packed?.filename ?? ''),
    '--strip-components=1',
    '-C',
    installed,
  ])
  for (const name of ['piscina', ...packages]) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(projectRoot, 'node_modules', name), link)
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  return folder
}
