import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds dist once before the integration project; the build is incremental, so a second run is cheap. */
export default function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
}
