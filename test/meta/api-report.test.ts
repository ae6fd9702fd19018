import { describe, expect, test } from 'vitest'
import { apiReports } from '../support/api-report.ts'
import { entryPoints } from '../support/entry-points.ts'
import { publicFace, unexportedNames } from '../support/public-face.ts'
import { projectFiles } from '../support/source-files.ts'

const face = publicFace()

/**
 * Names that two entries have for what a program may use in place of the other: the expressions of quartz-ts/cron
 * answer what those of quartz-ts answer and are taken wherever those are (decision 13).
 */
const interchangeable = ['CronExpression', 'parseUnixCron']

describe('the public face', () => {
  test('is what the files in api/ say (npm run api writes them)', () => {
    const written = Object.fromEntries(projectFiles(/^api\//).map(({ path, text }) => [path, text]))
    const reports = apiReports(face)
    expect(Object.keys(written)).toEqual(reports.map(({ path }) => path).sort())
    for (const { path, text } of reports) expect(written[path], path).toBe(text)
  })

  test('exports from some entry point every name that its declarations use', () => {
    expect(unexportedNames(face)).toEqual([])
  })

  test('has one meaning for a name in all entry points', () => {
    const meanings = new Map<string, Set<unknown>>()
    for (const { name, symbol } of face.entries.flatMap(({ names }) => names)) {
      meanings.set(name, (meanings.get(name) ?? new Set()).add(symbol))
    }
    const ambiguous = [...meanings].filter(([, symbols]) => symbols.size > 1).map(([name]) => name)
    expect(ambiguous).toEqual(interchangeable)
  })
})

test('tsconfig.json and typedoc.json name every entry point', () => {
  const textOf = (path: string): string =>
    projectFiles(/^(tsconfig|typedoc)\.json$/).find((file) => file.path === path)?.text ?? ''
  for (const { specifier, source } of entryPoints()) {
    expect(textOf('tsconfig.json')).toContain(`"${specifier}": ["./${source}"]`)
    expect(textOf('typedoc.json')).toContain(`"${source}"`)
  }
})
