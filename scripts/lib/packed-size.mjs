// How large the packed file is without the dashboard, which has a limit of its own.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** What `npm pack --json` says of the package as it is built. */
export function packedFile(root, args = ['--dry-run']) {
  const command = ['pack', '--json', '--ignore-scripts', ...args]
  const [packed] = JSON.parse(execFileSync('npm', command, { cwd: root, encoding: 'utf8' }))
  return packed
}

/** Bytes of the packed file but for those of the page, compressed as npm does. */
export function sizeWithoutDashboard(root, { size, files }) {
  const page = files.filter(({ path }) => path.startsWith('dist/dashboard/'))
  return page.reduce(
    (rest, { path }) => rest - gzipSync(readFileSync(join(root, path)), { level: 9 }).length,
    size,
  )
}
