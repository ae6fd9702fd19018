import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { projectFiles, projectRoot } from '../support/source-files.ts'

interface ReleaseChecks {
  readonly changelogSection: (changelog: string, name: string) => string | null
  readonly changelogProblems: (changelog: string, version: string) => string[]
  readonly versionProblems: (release: {
    readonly version: string
    readonly lockVersion: string
    readonly headTags: readonly string[]
    readonly allTags: readonly string[]
    readonly isDryRun: boolean
  }) => string[]
  readonly publishArguments: (tarball: string, version: string) => string[]
}

const file = pathToFileURL(join(projectRoot, 'scripts/release-checks.mjs')).href
const { changelogProblems, changelogSection, publishArguments, versionProblems } = (await import(
  file
)) as ReleaseChecks

const changelog = `# Changelog

## Unreleased

## [1.2.0] - 2026-01-02

### Added

- This.

## [1.1.0] - 2026-01-01

- That.

[1.2.0]: https://example.com/1.2.0
[1.1.0]: https://example.com/1.1.0
`

describe('the changelog of a release', () => {
  test('is right when the version is the newest, dated and described', () => {
    expect(changelogProblems(changelog, '1.2.0')).toEqual([])
    expect(changelogSection(changelog, '1.2.0')).toBe('### Added\n\n- This.')
    expect(changelogSection(changelog, '1.1.0')).toBe('- That.')
    expect(changelogSection(changelog, '1.0.0')).toBeNull()
  })

  test.each([
    [
      'another version',
      changelog,
      '1.3.0',
      /newest version in CHANGELOG.md is 1.2.0; package.json has 1.3.0/,
    ],
    ['an older version', changelog, '1.1.0', /newest version/],
    ['entries left over', changelog.replace('Unreleased\n', 'Unreleased\n\n- More.\n'), '1.2.0', /move them/],
    ['no place for what comes next', changelog.replace('## Unreleased\n', ''), '1.2.0', /does not begin/],
    ['no date', changelog.replace(' - 2026-01-02', ''), '1.2.0', /no date/],
    ['no words', changelog.replace('### Added\n\n- This.\n', ''), '1.2.0', /says nothing about 1.2.0/],
    ['no link', changelog.replace('[1.2.0]: ', '[1.2]: '), '1.2.0', /no link for \[1.2.0\]/],
    ['no version', '# Changelog\n\n## Unreleased\n', '1.2.0', /is missing/],
  ])('is wrong with %s', (_, text, version, problem) => {
    expect(changelogProblems(text, version)).toContainEqual(expect.stringMatching(problem))
  })

  test('of this project begins with "Unreleased" and has a section for each version', () => {
    const own = projectFiles(/^CHANGELOG\.md$/)[0]?.text ?? ''
    const headings = [...own.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
    expect(headings[0]).toBe('Unreleased')
    expect(headings.slice(1).filter((each) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(each))).toEqual(
      [],
    )
    expect(changelogSection(own, '0.1.0')).toMatch(/\S/)
  })
})

describe('the tag of a release', () => {
  const release = {
    version: '1.2.0',
    lockVersion: '1.2.0',
    headTags: [],
    allTags: ['v1.1.0'],
    isDryRun: true,
  }

  test('is made after the dry run and before the publishing', () => {
    expect(versionProblems(release)).toEqual([])
    expect(versionProblems({ ...release, isDryRun: false })).toEqual([
      'This commit does not have the tag v1.2.0.',
    ])
    const tagged = { ...release, headTags: ['v1.2.0'], allTags: ['v1.1.0', 'v1.2.0'] }
    expect(versionProblems({ ...tagged, isDryRun: false })).toEqual([])
    expect(versionProblems(tagged)).toEqual([])
  })

  test('is of one commit only, and its version is that of all files', () => {
    expect(versionProblems({ ...release, allTags: ['v1.2.0'] })).toEqual([
      'v1.2.0 is the tag of another commit: choose the next version.',
    ])
    expect(versionProblems({ ...release, lockVersion: '1.1.0' })).toEqual([
      'package-lock.json has 1.1.0, package.json 1.2.0: run npm install.',
    ])
    expect(versionProblems({ ...release, version: '1.2', lockVersion: '1.2' })).toEqual([
      '1.2 is not a version.',
    ])
  })
})

test('a release is published with provenance, a pre-release beside the latest', () => {
  const args = publishArguments('quartz-ts-1.2.0.tgz', '1.2.0')
  expect(args.slice(0, 2)).toEqual(['publish', 'quartz-ts-1.2.0.tgz'])
  expect(args.join(' ')).toContain('--access public --provenance --tag latest')
  expect(publishArguments('quartz-ts-1.2.0-beta.1.tgz', '1.2.0-beta.1').at(-1)).toBe('next')
})
