import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { lineOf, parse, projectFiles, type SourceFile, walk } from '../support/source-files.ts'

const limits = { fileLines: 500, medianFileLines: 150, lineColumns: 120, functionLines: 70 }

type Check = (file: SourceFile) => string[]

const lineCount = (text: string): number => text.trimEnd().split('\n').length

/** Makes a check of a pattern that must not occur in a line. */
function refuseLines(pattern: RegExp, message: string): Check {
  return ({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${message}`] : []))
}

/** Makes a check of the syntax tree: a message for each node that is wrong. */
function refuseNodes(messageFor: (node: ts.Node) => string | null): Check {
  return (file) => {
    const problems: string[] = []
    walk(parse(file), (node) => {
      const message = messageFor(node)
      if (message !== null) problems.push(`${file.path}:${lineOf(node)}: ${message}`)
    })
    return problems
  }
}

const tooLongFile: Check = ({ path, text }) =>
  lineCount(text) > limits.fileLines ? [`${path}: ${lineCount(text)} lines; split it by subject`] : []

const tooLongLine = refuseLines(new RegExp(`.{${limits.lineColumns + 1}}`), 'line too long')

/** Puts together what these checks look for, so that this file does not find itself. */
const word = (...parts: readonly string[]): string => parts.join('')

const unfinished = refuseLines(new RegExp(word('\\b(TO', 'DO|FIX', 'ME|XX', 'X)\\b')), 'left open')

/** Also where a formatter has moved the mark into a paragraph. */
const leftConflict = refuseLines(/(<{7}|>{7})(?![<>])|(^|\s)={7}$/, 'mark of a merge')

const machinePath = refuseLines(
  /(?<![\w.~-])\/(work|farm|root|home\/\w+|Users\/\w+)\/|[A-Z]:\\Users\\/,
  'path of one machine',
)

const suppressions = /(eslint-disable|@ts-(ignore|nocheck|expect-error)|biome-ignore)/
const suppressionWithReason =
  /eslint-disable(-next-line|-line)? @?[\w/-]+(, @?[\w/-]+)* -- .{10}|@ts-expect-error .{10}|biome-ignore \S+: .{10}/
const silentSuppression: Check = (file) =>
  commentsOf(file).flatMap(({ text, line }) =>
    suppressions.test(text) && !suppressionWithReason.test(text)
      ? [`${file.path}:${line}: name the rule and the reason: eslint-disable-next-line rule -- why`]
      : [],
  )

function commentsOf(file: SourceFile): { text: string; line: number }[] {
  const source = parse(file)
  const starts = new Map<number, { text: string; line: number }>()
  const add = (range: ts.CommentRange): void => {
    const line = source.getLineAndCharacterOfPosition(range.pos).line + 1
    starts.set(range.pos, { text: file.text.slice(range.pos, range.end), line })
  }
  walk(source, (node) => {
    ts.getLeadingCommentRanges(file.text, node.pos)?.forEach(add)
    ts.getTrailingCommentRanges(file.text, node.end)?.forEach(add)
  })
  return [...starts.values()]
}

/** A test that does not always run says why: `// reason: ...` on its line. One that silences the others never stays. */
const silencedTest = refuseNodes((node) => {
  if (!ts.isPropertyAccessExpression(node)) return null
  const names = /^(it|test|describe|suite|bench)\b/.test(node.expression.getText())
  if (!names || !/^(skip|only|todo|fails|skipIf|runIf)$/.test(node.name.text)) return null
  const line = node.getSourceFile().text.split('\n')[lineOf(node) - 1] ?? ''
  const excused = node.name.text !== 'only' && /\/\/ reason: .{10}/.test(line)
  return excused ? null : `.${node.name.text} without '// reason: ...' on its line`
})

/** A random test can be repeated, and one that waits for a condition stays patient on a busy machine. */
const unsteadyTest = refuseNodes((node) => {
  if (!ts.isCallExpression(node)) return null
  const [name, second] = [node.expression.getText(), node.arguments[1]?.getText() ?? '']
  if (name === 'fc.assert' && !/seed/i.test(second)) return 'fc.assert without a fixed seed'
  const isHasty = /^vi\.(waitFor|waitUntil)$/.test(name) && !/timeout/i.test(second)
  return isHasty ? `${name} waits for one second only; give it a timeout` : null
})

/** Among tests that run at the same time, vitest takes one that another has begun since for the one that asks. */
const hookOfAnotherTest = refuseNodes((node) => {
  if (!ts.isImportSpecifier(node) || !/^(onTestF\w+|temporaryFolder)$/.test(node.name.text)) return null
  const isConcurrent = /concurrent: true|\.concurrent\b/.test(node.getSourceFile().text)
  return isConcurrent
    ? `${node.name.text} may go with another test of the file; use what goes with the file`
    : null
})

const clockNames = /^(setTimeout|setInterval|setImmediate|clearTimeout|clearInterval|performance)$/
const clockModules = /^(node:)?(timers|timers\/promises|perf_hooks)$/
const clockMembers = /^(Date\.now|process\.hrtime|process\.uptime|AbortSignal\.timeout|Temporal\.Now)$/

/** Nothing but src/time reads a clock or arms a timer. */
const readsClock = refuseNodes((node) => {
  const use =
    (ts.isIdentifier(node) && clockNames.test(node.text) && isGlobalUse(node)) ||
    (ts.isStringLiteral(node) && clockModules.test(node.text)) ||
    (ts.isPropertyAccessExpression(node) && clockMembers.test(node.getText())) ||
    (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0)
  return use ? `${node.getText()}: take time and timers from the Clock` : null
})

/** False for a member or property that happens to have the name, as in `clock.setImmediate(f)`. */
function isGlobalUse(node: ts.Identifier): boolean {
  const parent = node.parent
  if (ts.isPropertyAccessExpression(parent)) {
    return parent.expression === node || parent.expression.getText() === 'globalThis'
  }
  return !('name' in parent && parent.name === node)
}

/** `${group}.${name}` is one text for `a.b` and `c` as for `a` and `b.c`, so it is for people, not for look-ups. */
const joinedKey = refuseNodes((node) => {
  const keys = isLookUp(node) ? [node.arguments[0]] : isCollection(node) ? entryKeysOf(node) : []
  const joined = keys.find((key) => key !== undefined && isJoinedText(key))
  return joined ? `${joined.getText()}: joined texts can collide; use KeyMap, or a map of maps` : null
})

function isLookUp(node: ts.Node): node is ts.CallExpression {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  return /^(get|set|has|add|delete)$/.test(node.expression.name.text)
}

function isCollection(node: ts.Node): node is ts.NewExpression {
  return ts.isNewExpression(node) && /^(Map|Set)$/.test(node.expression.getText())
}

/** What is made in place in `new Set(list.map((each) => key))` and `new Map(list.map((each) => [key, value]))`. */
function entryKeysOf({ arguments: [list] = ts.factory.createNodeArray() }: ts.NewExpression): ts.Node[] {
  const callback = list && ts.isCallExpression(list) ? list.arguments.at(-1) : undefined
  if (callback === undefined || !ts.isArrowFunction(callback)) return []
  const { body } = callback
  return [ts.isArrayLiteralExpression(body) ? (body.elements[0] ?? body) : body]
}

function isJoinedText(node: ts.Node): boolean {
  if (ts.isIdentifier(node)) return isJoinedText(initializerOf(node) ?? node.getSourceFile())
  if (ts.isTemplateExpression(node)) return node.templateSpans.length > 1
  if (!ts.isCallExpression(node)) return false
  return /(^String|\.toString|\.join)$/.test(node.expression.getText())
}

/** Of a constant of the functions around. */
function initializerOf(name: ts.Identifier): ts.Expression | undefined {
  for (let scope: ts.Node = name; !ts.isSourceFile(scope); scope = scope.parent) {
    if (!ts.isBlock(scope)) continue
    const declarations = scope.statements
      .filter(ts.isVariableStatement)
      .flatMap(({ declarationList }) => declarationList.declarations)
    const own = declarations.find((each) => each.name.getText() === name.text)
    if (own !== undefined) return own.initializer
  }
  return undefined
}

/** Counts a function with everything in it; the body of a `describe` is a list of tests, not one function. */
const tooLongFunction = refuseNodes((node) => {
  if (!ts.isFunctionLike(node) || !('body' in node) || isDescribeBody(node)) return null
  const lines = lineCount(node.getText())
  return lines > limits.functionLines ? `function of ${lines} lines; give its parts names` : null
})

function isDescribeBody(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node.parent) &&
    /^(describe|suite|inBrowser|inBrowserOnEngines|inDashboard)\b/.test(node.parent.expression.getText())
  )
}

const code = projectFiles(/^(src|dashboard|test|bench|examples|scripts)\/.*\.(ts|tsx|mts|js|mjs)$/)
const src = code.filter(({ path }) => path.startsWith('src/'))
const clockless = src.filter(({ path }) => !path.startsWith('src/time/'))
const everything = projectFiles(/(\.(ts|tsx|css|html|mts|js|mjs|json|md|yml|sh)|\.ci\/run|\.npmrc|crontab)$/)

const rules: { name: string; check: Check; files: readonly SourceFile[] }[] = [
  { name: 'files have at most 500 lines', check: tooLongFile, files: code },
  { name: 'lines have at most 120 columns', check: tooLongLine, files: code },
  { name: 'functions have at most 70 lines', check: tooLongFunction, files: code },
  { name: 'a suppressed finding names the rule and the reason', check: silentSuppression, files: code },
  { name: 'nothing is left open', check: unfinished, files: everything },
  { name: 'no merge has left its marks', check: leftConflict, files: everything },
  { name: 'no path of one machine is written down', check: machinePath, files: everything },
  { name: 'no test is silenced without a reason', check: silencedTest, files: code },
  { name: 'tests are steady: seeds are fixed, waits are patient', check: unsteadyTest, files: code },
  { name: 'tests at the same time tidy up with their file', check: hookOfAnotherTest, files: code },
  { name: 'only src/time reads clocks and arms timers', check: readsClock, files: clockless },
  { name: 'no joined text is the key of a map', check: joinedKey, files: src },
]

describe('tidy', () => {
  test.each(rules)('$name', ({ check, files }) => {
    expect(files.length).toBeGreaterThan(0)
    expect(files.flatMap(check)).toEqual([])
  })

  test('half of the files of src have fewer than 150 lines', () => {
    const sizes = src.map(({ text }) => lineCount(text)).sort((a, b) => a - b)
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThan(limits.medianFileLines)
  })
})

describe('the tidy checks catch what they are for', () => {
  const disable = word('// eslint-', 'disable-next-line eqeqeq')
  test.each([
    [tooLongFile, 'f()\n'.repeat(501)],
    [tooLongLine, 'x'.repeat(121)],
    [tooLongFunction, `const f = () => {${'\n'.repeat(70)}}`],
    [tooLongFunction, `class A { m() {${'\n'.repeat(70)}} }`],
    [silentSuppression, disable],
    [silentSuppression, word('/* eslint-', 'disable */ f()')],
    [silentSuppression, word('f() // @ts-', 'ignore because it is hard')],
    [unfinished, word('f() // TO', 'DO: finish')],
    [leftConflict, word('<<<<', '<<< HEAD')],
    [leftConflict, word('  ====', '===')],
    [leftConflict, word('the end of a sentence. >>>>', '>>>')],
    [machinePath, word(`cat('/ro`, `ot/x')`)],
    [silencedTest, `test.skip('a', f)`],
    [silencedTest, `describe.only('a', f) // reason: only this one matters`],
    [silencedTest, `test.skipIf(process.platform === 'x')('a', f)`],
    [unsteadyTest, 'fc.assert(property, { numRuns: 5 })'],
    [unsteadyTest, 'await vi.waitFor(() => expect(a).toBe(1))'],
    [hookOfAnotherTest, "import { onTestFinished } from 'vitest'; test.concurrent('a', f)"],
    [hookOfAnotherTest, "import { temporaryFolder } from './a.ts'; describe('a', { concurrent: true }, f)"],
    [readsClock, 'Date.now()'],
    [readsClock, 'new Date()'],
    [readsClock, 'setTimeout(f, 1)'],
    [readsClock, 'globalThis.setTimeout(f, 1)'],
    [readsClock, 'AbortSignal.timeout(1)'],
    [readsClock, `import { setTimeout as sleep } from 'node:timers/promises'`],
    [joinedKey, 'links.get(first.toString())'],
    [joinedKey, 'links.has(String(first))'],
    [joinedKey, "seen.add([group, name].join('.'))"],
    [joinedKey, `links.set(${word('`$', '{group}\\0$', '{name}`')}, 1)`],
    [joinedKey, `function f() { const key = ${word('`$', '{a} $', '{b}`')}; if (c) { seen.add(key) } }`],
    [joinedKey, 'new Set(jobs.map(({ key }) => key.toString()))'],
    [joinedKey, 'new Map(jobs.map(({ key, value }) => [key.toString(), value]))'],
  ])('%o refuses %j', (check, text) => {
    expect(check({ path: 'src/planted.ts', text })).not.toEqual([])
  })

  test.each([
    [tooLongFunction, `describe('a', () => {${'\n'.repeat(70)}})`],
    [silentSuppression, `${disable} -- null and undefined are one here`],
    [silencedTest, `test.skipIf(windows)('a', f) // reason: signals do not exist there`],
    [hookOfAnotherTest, "import { onTestFinished } from 'vitest'; test('a', f)"],
    [unsteadyTest, 'fc.assert(property, { seed: 1 }); vi.waitFor(f, { timeout: 30_000 })'],
    [readsClock, 'clock.setImmediate(f); new Date(5); const a = { performance: 1 }'],
    [
      joinedKey,
      `links.get(first); new Map(jobs.map((job) => [job.key, 1])); fires.get(${word('`$', '{id}-1`')})`,
    ],
  ])('%o accepts %j', (check, text) => {
    expect(check({ path: 'src/planted.ts', text })).toEqual([])
  })
})
