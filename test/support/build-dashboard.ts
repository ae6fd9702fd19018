import { execFileSync } from 'node:child_process'
import { projectRoot } from './source-files.ts'

/** Builds the page once before the tests in a browser, unless it was built since it has changed. */
export default function setup(): void {
  execFileSync(process.execPath, ['scripts/build-dashboard.mjs'], { cwd: projectRoot, stdio: 'inherit' })
}
