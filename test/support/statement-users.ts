import ts from 'typescript'
import { parse, projectFiles, type SourceFile, walk } from './source-files.ts'

const folder = 'src/jobstore/sql/'

/** Where programs and what runs them stand. */
const programFiles = /^src\/jobstore\/sql\/((programs|cluster|session)\/.*|[^/]+)\.ts$/

/** Finds by the syntax of `src/jobstore/sql` which functions ask for a statement of a table. */
export class StatementUsers {
  readonly #files = projectFiles(/^src\/jobstore\/.*\.ts$/)
  readonly #programs = this.#files.filter(({ path }) => programFiles.test(path))

  /** The public methods of the class in a file, by the statements that they run, themselves or by other methods. */
  methodsOf(path: string, statement: readonly string[]): readonly string[] {
    const methods = methodsIn(this.#file(path))
    const users: string[] = []
    for (const name of methods.keys()) {
      if (!name.startsWith('#') && reaches(methods, name, statement)) users.push(name)
    }
    return users
  }

  /** The functions that call one of these methods on a part of a session that has one of these names. */
  callersOf(parts: readonly string[], methods: readonly string[]): readonly string[] {
    const users = new Map<string, Set<string>>()
    for (const file of this.#programs) {
      walk(parse(file), (node) => {
        if (!ts.isPropertyAccessExpression(node) || !methods.includes(node.name.text)) return
        if (!parts.includes(lastName(node.expression))) return
        const shown = file.path.slice(folder.length)
        const known = users.get(shown) ?? new Set()
        for (const owner of exportedOwnersOf(node)) known.add(owner)
        users.set(shown, known)
      })
    }
    return [...users].map(([path, names]) => `${path} (${[...names].toSorted().join(', ')})`).toSorted()
  }

  #file(path: string): SourceFile {
    const file = this.#files.find((each) => each.path === path)
    if (file === undefined) throw new Error(`there is no ${path}`)
    return file
  }
}

interface Method {
  /** Chains behind `#statements`: `apply` and what is asked of it. */
  readonly names: ReadonlySet<string>
  readonly statements: ReadonlySet<string>
  /** Something is looked up by a name that is not written there. */
  readonly looksUp: boolean
  readonly calls: ReadonlySet<string>
}

function methodsIn(file: SourceFile): Map<string, Method> {
  const methods = new Map<string, Method>()
  walk(parse(file), (node) => {
    if (!ts.isMethodDeclaration(node) || !ts.isClassDeclaration(node.parent)) return
    const names = new Set<string>()
    const statements = new Set<string>()
    const calls = new Set<string>()
    let looksUp = false
    walk(node, (inner) => {
      if (ts.isElementAccessExpression(inner) || inner.getText() === 'Object.values') looksUp = true
      if (ts.isVariableDeclaration(inner) && inner.initializer?.getText() === 'this.#statements') {
        for (const name of inner.name.getText().matchAll(/\w+/g)) statements.add(name[0])
      }
      if (!ts.isPropertyAccessExpression(inner)) return
      names.add(inner.name.text)
      if (inner.expression.kind === ts.SyntaxKind.ThisKeyword) calls.add(inner.name.text)
      if (inner.expression.getText() === 'this.#statements') statements.add(inner.name.text)
    })
    methods.set(node.name.getText(), { names, statements, looksUp, calls })
  })
  return methods
}

function reaches(
  methods: ReadonlyMap<string, Method>,
  name: string,
  [first = '', second]: readonly string[],
): boolean {
  const reached = new Set<string>()
  const add = (method: string): void => {
    if (reached.has(method)) return
    reached.add(method)
    for (const called of methods.get(method)?.calls ?? []) if (methods.has(called)) add(called)
  }
  add(name)
  const found = [...reached].flatMap((method) => methods.get(method) ?? [])
  if (!found.some(({ statements }) => statements.has(first))) return false
  return second === undefined || found.some(({ names, looksUp }) => looksUp || names.has(second))
}

function lastName(node: ts.Expression): string {
  if (ts.isPropertyAccessExpression(node)) return node.name.text
  return ts.isIdentifier(node) ? node.text : ''
}

/** The exported functions and classes of the file that a node is part of, or that reach it. */
function exportedOwnersOf(node: ts.Node): readonly string[] {
  const declarations = node.getSourceFile().statements.filter(isNamed)
  const reached = new Set<NamedDeclaration>()
  const add = (declaration: NamedDeclaration): void => {
    if (reached.has(declaration)) return
    reached.add(declaration)
    if (isExported(declaration)) return
    for (const other of declarations) if (mentions(other, declaration.name.text)) add(other)
  }
  const own = declarations.find((declaration) => declaration.pos <= node.pos && node.end <= declaration.end)
  if (own === undefined)
    throw new Error(`${node.getText()} is in no function of ${node.getSourceFile().fileName}`)
  add(own)
  return [...reached].filter(isExported).map(({ name }) => name.text)
}

type NamedDeclaration = (ts.FunctionDeclaration | ts.ClassDeclaration) & { readonly name: ts.Identifier }

function isNamed(node: ts.Statement): node is NamedDeclaration {
  return (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) && node.name !== undefined
}

function isExported({ modifiers }: NamedDeclaration): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
}

function mentions(declaration: NamedDeclaration, name: string): boolean {
  let found = false
  walk(declaration, (node) => {
    if (ts.isIdentifier(node) && node.text === name && node !== declaration.name) found = true
  })
  return found
}
