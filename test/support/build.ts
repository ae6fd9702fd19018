import { execFileSync } from 'node:child_process'
import { projectRoot } from './source-files.ts'

/** Builds dist once before the integration project; the build is incremental, so a second run is cheap. */
export default function setup(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: projectRoot, stdio: 'inherit' })
}
