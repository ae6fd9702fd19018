import { describe, expect, test } from 'vitest'
import { projectFiles } from '../support/source-files.ts'

interface LockEntry {
  readonly version?: string
  readonly resolved?: string
  readonly optionalDependencies?: Record<string, string>
}

interface LockFile {
  readonly packages: Record<string, LockEntry>
}

const locks = projectFiles(/^(bench\/)?package-lock\.json$/).map(({ path, text }) => ({
  path,
  lock: JSON.parse(text) as LockFile,
}))

/** True when Node would find `name` from the package at `path`: in its own node_modules or in one further up. */
function isLocked(lock: LockFile, path: string, name: string): boolean {
  if (`${path === '' ? '' : `${path}/`}node_modules/${name}` in lock.packages) return true
  return (
    path !== '' && isLocked(lock, path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1)), name)
  )
}

test('no .npmrc names a registry', () => {
  const files = projectFiles(/(^|\/)\.npmrc$/)
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter(({ text }) => /registry|_auth/.test(text))).toEqual([])
})

describe.each(locks)('$path', ({ lock }) => {
  test('names no registry but the public one', () => {
    const urls = Object.values(lock.packages).flatMap(({ resolved }) => (resolved ? [resolved] : []))
    expect(urls.filter((url) => !url.startsWith('https://registry.npmjs.org/'))).toEqual([])
  })

  // npm leaves out a platform whose binary the registry did not have at that moment, and then `npm ci` refuses the
  // lock file everywhere. Take the newest version of the package that has all of its platforms instead.
  test('has the optional packages of every platform', () => {
    const missing = Object.entries(lock.packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {})
        .filter((name) => !isLocked(lock, path, name))
        .map((name) => `${path} wants ${name}`),
    )
    expect(missing).toEqual([])
  })
})
