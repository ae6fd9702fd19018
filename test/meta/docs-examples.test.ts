import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { examples as pasted } from '../../dashboard/src/examples.ts'
import { docsExamples, type Example, examplesOf, readmeCommands } from '../support/docs-examples.ts'
import { projectFiles, projectOptions, projectRoot } from '../support/source-files.ts'

/** Type-checks the examples as one program in which `quartz-ts` is src, without writing them anywhere. */
function typeErrors(examples: readonly Example[]): string[] {
  // An example shows a value without using it; everything else is as strict as the library itself.
  const relaxed = { noUnusedLocals: false, noUnusedParameters: false, allowJs: true, skipLibCheck: true }
  const options = projectOptions(relaxed)
  const virtual = new Map(examples.map((example) => [join(projectRoot, example.path), example]))
  const host = ts.createCompilerHost(options)
  const onDisk = { ...host }
  // Without this the compiler asks the disk first and finds none of the examples' folders there.
  delete host.directoryExists
  host.fileExists = (path) => virtual.has(path) || onDisk.fileExists(path)
  host.readFile = (path) => virtual.get(path)?.code ?? onDisk.readFile(path)
  const program = ts.createProgram([...virtual.keys()], options, host)
  return [...virtual].flatMap(([path, example]) => {
    const file = program.getSourceFile(path)
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return found.map(({ start = 0, messageText }) => {
      const line = (file?.getLineAndCharacterOfPosition(start).line ?? 0) + 1
      return `${example.name} (line ${line} of the example): ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
  })
}

/** Lines of a JavaScript file that the oldest Node.js cannot parse: it has no `using`, which TypeScript compiles. */
function unparsableLines(path: string, code: string): string[] {
  const file = ts.createSourceFile(path, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.Using) !== 0) {
      found.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

describe('examples of README and docs', () => {
  const examples = docsExamples()

  test('have the types that the library has', () => {
    expect(examples.length).toBeGreaterThan(0)
    expect(typeErrors(examples)).toEqual([])
    // Compiles some hundred files, on a machine that may have much else to do.
  }, 240_000)

  test('that the dashboard shows to be pasted have them as well', () => {
    const page = Object.values(pasted).map((code) => `\`\`\`ts\n${code}\n\`\`\`\n`)
    expect(page.length).toBeGreaterThan(0)
    expect(typeErrors(examplesOf('dashboard/examples.md', page.join('\n')))).toEqual([])
  })

  test('in JavaScript, and those in files, parse on the oldest Node.js', () => {
    const inPages = examples.filter(({ path }) => path.endsWith('.js'))
    const inFiles = projectFiles(/^examples\/.*\.js$/).map(({ path, text }) => ({
      path,
      code: text,
      name: path,
    }))
    expect(inPages.length).toBeGreaterThan(0)
    expect(inFiles.length).toBeGreaterThan(0)
    expect([...inPages, ...inFiles].flatMap(({ name, code }) => unparsableLines(name, code))).toEqual([])
  })

  test('run, or say above the fence why they cannot', () => {
    const silent = examples.filter(({ kind, reason }) => kind === 'no-run' && reason === null)
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  test('of the command line are run by .ci/run, each under its own words', () => {
    const ci = projectFiles(/^\.ci\/run$/)[0]?.text ?? ''
    const own = readmeCommands().filter((command) => /^(npm|npx|quartz-ts|node)\b/.test(command))
    expect(own.filter((command) => !ci.includes(`'${command}'`))).toEqual([])
  })
})

describe('the examples check', () => {
  const page = (mode: string, code: string): string => `Text.\n\n\`\`\`${mode}\n${code}\n\`\`\`\n`

  test('catches a type error and says where it is', () => {
    const planted = examplesOf('docs/planted.md', page('ts', 'const ok = 1\nexport const a: string = ok'))
    expect(typeErrors(planted)).toEqual([
      expect.stringMatching(/^docs\/planted\.md:3 \(line 2 of the example\): Type 'number'/),
    ])
  })

  test('catches what the oldest Node.js cannot parse', () => {
    const code = 'const a = 1\nawait using b = open()\nfor (using c of d) e(c)\n// await using f\n'
    expect(unparsableLines('planted.js', code)).toEqual(['planted.js:2', 'planted.js:3'])
  })

  test('knows the examples that lie beside one another', () => {
    const beside =
      page('ts file=job.ts', 'export const job = 1') + page('ts', `import { job } from './job.ts'`)
    expect(typeErrors(examplesOf('docs/planted.md', beside))).toEqual([])
  })

  test('takes the reason of an example that is not run from the line above it', () => {
    const text = `<!-- no-run: it waits for Monday -->\n\`\`\`ts no-run\nwait()\n\`\`\`\n`
    expect(examplesOf('docs/planted.md', text)).toMatchObject([
      { kind: 'no-run', reason: 'it waits for Monday' },
    ])
    expect(examplesOf('docs/planted.md', page('ts no-run', 'wait()'))).toMatchObject([{ reason: null }])
  })

  test('refuses a mode that it does not know', () => {
    expect(() => examplesOf('docs/planted.md', page('ts norun', 'f()'))).toThrow("'norun' is neither")
  })
})
