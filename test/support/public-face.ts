import { join } from 'node:path'
import ts from 'typescript'
import { type EntryPoint, entryPoints } from './entry-points.ts'
import { projectRoot, walk } from './source-files.ts'

/** What an entry point exports under a name. */
export interface PublicName {
  readonly name: string
  readonly symbol: ts.Symbol
  /** As the package declares it, members marked `@internal` left out. */
  readonly declarations: readonly ts.Declaration[]
}

export interface PublicFace {
  readonly checker: ts.TypeChecker
  /** The exports of each entry point, sorted by name. */
  readonly entries: readonly { readonly entry: EntryPoint; readonly names: readonly PublicName[] }[]
  /** Whether a file is one of this package, and not of Node.js, TypeScript or a dependency. */
  readonly isOwn: (file: ts.SourceFile) => boolean
}

/** The package as a program sees it that imports it: by its declarations, which are made in memory. */
export function publicFace(): PublicFace {
  const options = buildOptions()
  const entries = entryPoints()
  const files = declarationFiles(entries, options)
  const host = ts.createCompilerHost(options)
  const onDisk = { ...host }
  // Without this the compiler asks the disk first and finds none of the folders there.
  delete host.directoryExists
  host.fileExists = (path) => files.has(path) || onDisk.fileExists(path)
  host.readFile = (path) => files.get(path) ?? onDisk.readFile(path)
  const paths = entries.map(({ name }) => join(projectRoot, 'dist', `${name}.d.ts`))
  const program = ts.createProgram(paths, options, host)
  const checker = program.getTypeChecker()
  return {
    checker,
    entries: entries.map((entry, index) => {
      const module = program.getSourceFile(paths[index] ?? '')
      const symbol = module && checker.getSymbolAtLocation(module)
      if (symbol === undefined) throw new Error(`${entry.source} exports nothing`)
      return { entry, names: namesOf(checker, symbol) }
    }),
    isOwn: ({ fileName }) => files.has(fileName),
  }
}

function buildOptions(): ts.CompilerOptions {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(projectRoot, 'tsconfig.build.json'),
    { emitDeclarationOnly: true },
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => {
        throw new Error('tsconfig.build.json cannot be read')
      },
    },
  )
  const options = config?.options ?? {}
  // Nothing is kept from one run to the next.
  delete options.incremental
  delete options.tsBuildInfoFile
  return options
}

/** Path to text of all declarations that `npm run build` would write for these entry points. */
function declarationFiles(
  entries: readonly EntryPoint[],
  options: ts.CompilerOptions,
): ReadonlyMap<string, string> {
  const sources = entries.map(({ source }) => join(projectRoot, source))
  const files = new Map<string, string>()
  ts.createProgram(sources, options).emit(undefined, (path, text) => files.set(path, text), undefined, true)
  return files
}

function namesOf(checker: ts.TypeChecker, module: ts.Symbol): PublicName[] {
  return checker
    .getExportsOfModule(module)
    .map((exported) => {
      const symbol = aimOf(checker, exported)
      return { name: exported.name, symbol, declarations: symbol.declarations ?? [] }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function aimOf(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** One sentence for every name of this package that a public declaration uses and no entry point exports. */
export function unexportedNames({ checker, entries, isOwn }: PublicFace): string[] {
  const exported = new Set(entries.flatMap(({ names }) => names.map(({ symbol }) => symbol)))
  const found = new Set<string>()
  for (const { entry, names } of entries) {
    for (const { name, declarations } of names) {
      for (const used of declarations.flatMap((declaration) => namesIn(declaration))) {
        const located = checker.getSymbolAtLocation(used)
        const symbol = located && aimOf(checker, located)
        const isOurs = symbol?.declarations?.some(
          (declaration) => isTopLevel(declaration) && isOwn(declaration.getSourceFile()),
        )
        if (symbol === undefined || isOurs !== true || exported.has(symbol)) continue
        found.add(
          `${used.getText()} is named by ${name} of ${entry.specifier}, and no entry point exports it`,
        )
      }
    }
  }
  return [...found].sort()
}

/** The names in a declaration that stand for types, and for the values of `typeof`. */
function namesIn(declaration: ts.Declaration): ts.Node[] {
  const found: ts.Node[] = []
  walk(declaration, (node) => {
    if (ts.isTypeReferenceNode(node)) found.push(node.typeName)
    if (ts.isExpressionWithTypeArguments(node)) found.push(node.expression)
    if (ts.isTypeQueryNode(node)) found.push(node.exprName)
    if (ts.isImportTypeNode(node) && node.qualifier) found.push(node.qualifier)
    if (ts.isTypePredicateNode(node)) found.push(node.parameterName)
  })
  return found
}

/** Not a type parameter, nor a member of something. */
function isTopLevel(declaration: ts.Declaration): boolean {
  const holder = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  return ts.isSourceFile(holder.parent)
}
