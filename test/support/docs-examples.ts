import { basename, dirname, join } from 'node:path'
import { projectFiles } from './source-files.ts'

/**
 * A fenced `ts` or `js` block of README.md or docs/. What stands after the language says what to do with it:
 *
 * - nothing: it is type-checked and run, and must end by itself with exit code 0;
 * - `postgres`: the same, with the URL of an empty database of its own in `DATABASE_URL`;
 * - `no-run`: it is type-checked only; the line above the fence says why: `<!-- no-run: waits for Monday -->`;
 * - `file=thumbs.ts`: it is type-checked and lies beside the page's other examples under that name, to be imported
 *   or named by `new URL('./thumbs.js', import.meta.url)`.
 */
export interface Example {
  /** The page and line of the opening fence, as in `docs/guide/jobs.md:12`. */
  readonly name: string
  /** Path, from the project root, of the file that the example is when it is checked and run. */
  readonly path: string
  readonly code: string
  readonly kind: 'run' | 'no-run' | 'file'
  readonly reason: string | null
  readonly needs: 'nothing' | 'postgres'
}

/** Where examples are written to be run: inside the package, so that they import it by its name, and not in git. */
export const examplesFolder = '.cache/docs-examples'

export function docsExamples(): Example[] {
  return projectFiles(/^(README\.md|docs\/.*\.md)$/).flatMap(({ path, text }) => examplesOf(path, text))
}

const fence =
  /^(?<indent> *)```(?<language>ts|js)(?: +(?<mode>.*?))? *\n(?<code>[\s\S]*?)\n\k<indent>``` *$/gm

export function examplesOf(page: string, text: string): Example[] {
  return [...text.matchAll(fence)].map(({ groups = {}, index }) => {
    const before = text.slice(0, index).split('\n')
    const line = before.length
    const mode = groups['mode'] ?? ''
    const file = /^file=(\S+)$/.exec(mode)?.[1]
    if (!['', 'no-run', 'postgres'].includes(mode) && file === undefined) {
      throw new Error(`${page}:${line}: '${mode}' is neither no-run nor postgres nor file=NAME`)
    }
    const folder = join(examplesFolder, dirname(page), basename(page, '.md'))
    const indented = new RegExp(`^ {${groups['indent']?.length ?? 0}}`, 'gm')
    return {
      name: `${page}:${line}`,
      path: join(folder, file ?? `line-${line}.${groups['language'] ?? 'ts'}`),
      code: `${(groups['code'] ?? '').replace(indented, '')}\n`,
      kind: file === undefined ? (mode === 'no-run' ? 'no-run' : 'run') : 'file',
      reason: /^ *<!-- no-run: (.{10,}) -->$/.exec(before.at(-2) ?? '')?.[1] ?? null,
      needs: mode === 'postgres' ? 'postgres' : 'nothing',
    }
  })
}

/** The commands of README.md's `sh` blocks, one per line and part of an `&&` chain; comments and prompts are cut. */
export function readmeCommands(): string[] {
  const text = projectFiles(/^README\.md$/)[0]?.text ?? ''
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = '']) => block.split('\n'))
    .flatMap((line) =>
      line
        .replace(/\s#.*$/, '')
        .replace(/^\$ /, '')
        .split('&&'),
    )
    .map((command) => command.trim())
    .filter((command) => command !== '' && !command.startsWith('#'))
}
