import { describe, expect, test } from 'vitest'
import { projectFiles } from '../support/source-files.ts'

const textOf = (path: RegExp): string => projectFiles(path)[0]?.text ?? expect.fail(String(path))

const locked = JSON.parse(textOf(/^bench\/package-lock\.json$/)) as {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>
}
const { dependencies } = JSON.parse(textOf(/^bench\/package\.json$/)) as {
  readonly dependencies: Readonly<Record<string, string>>
}

/** The versions that a page says were measured, by the name of the package. */
function measuredIn(page: string, from: string): Readonly<Record<string, string>> {
  const sentence = page.slice(page.indexOf(from)).match(/^[\s\S]*?\.(?=\s)/)?.[0] ?? ''
  return Object.fromEntries(
    [...sentence.matchAll(/([\w-]+)\s(\d+\.\d+\.\d+)/g)].map(([, name = '', version = '']) => [
      name,
      version,
    ]),
  )
}

describe.each([
  { path: /^docs\/performance\.md$/, from: 'Measured beside it:' },
  { path: /^docs\/index\.md$/, from: 'Measured were' },
])('$path names versions', ({ path, from }) => {
  const measured = measuredIn(textOf(path), from)

  test('that the benchmarks have installed', () => {
    const packages = Object.entries(measured).filter(([name]) => name in dependencies)
    expect(packages.length).toBeGreaterThan(3)
    const installed = packages.map(([name]) => [name, locked.packages[`node_modules/${name}`]?.version])
    expect(packages).toEqual(installed)
  })
})

test('docs/performance.md names the version of all that it is compared with', () => {
  const measured = measuredIn(textOf(/^docs\/performance\.md$/), 'Measured beside it:')
  const compared = Object.keys(dependencies).filter((name) => name !== 'tinybench')
  expect(compared.filter((name) => !(name in measured))).toEqual([])
})
