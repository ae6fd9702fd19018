import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The folder that holds package.json. */
export const projectRoot: string = fileURLToPath(new URL('../..', import.meta.url))

/** A file by its path from the project root, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** What .gitignore leaves out, so that the checks need no git. */
const generated =
  /(^|\/)node_modules$|^(dist|coverage|\.git|\.cache|docs\/\.vitepress\/(cache|dist)|docs\/reference\/api)$/

/** Every file of the project that is written by hand and whose path matches, sorted by path. */
export function projectFiles(accept: RegExp): SourceFile[] {
  return pathsBelow('')
    .filter((path) => accept.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }))
}

function pathsBelow(folder: string): string[] {
  const entries = readdirSync(join(projectRoot, folder), { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (generated.test(path) || entry.isSymbolicLink()) return []
    return entry.isDirectory() ? pathsBelow(path) : [path]
  })
}

/** The compiler options of tsconfig.json, with changes. */
export function projectOptions(changes: ts.CompilerOptions = {}): ts.CompilerOptions {
  const project = ts.getParsedCommandLineOfConfigFile(join(projectRoot, 'tsconfig.json'), changes, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: () => {
      throw new Error('tsconfig.json cannot be read')
    },
  })
  return project?.options ?? {}
}

const parsed = new WeakMap<SourceFile, ts.SourceFile>()

/** The syntax tree of a file, parsed once. */
export function parse(file: SourceFile): ts.SourceFile {
  const tree = parsed.get(file) ?? ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true)
  parsed.set(file, tree)
  return tree
}

/** Calls `visit` for the node and everything below it, parents first. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node)
  node.forEachChild((child) => {
    walk(child, visit)
  })
}

/** The 1-based line on which a node starts. */
export function lineOf(node: ts.Node): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1
}

export interface Import {
  readonly specifier: string
  readonly line: number
}

/** Every module a file names: static and dynamic imports, re-exports, `import('...')` types and worker URLs. */
export function importsOf(file: SourceFile): Import[] {
  const imports: Import[] = []
  walk(parse(file), (node) => {
    const specifier = moduleSpecifier(node)
    if (specifier !== undefined && ts.isStringLiteralLike(specifier)) {
      imports.push({ specifier: specifier.text, line: lineOf(node) })
    }
  })
  return imports
}

function moduleSpecifier(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return node.arguments[0]
  }
  const isModuleUrl =
    ts.isNewExpression(node) &&
    node.expression.getText() === 'URL' &&
    node.arguments?.[1]?.getText() === 'import.meta.url'
  return isModuleUrl ? node.arguments[0] : undefined
}
