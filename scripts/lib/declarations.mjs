// Puts those declarations into dist that a program can reach from an entry; most modules have few that matter there.
// They stand in one file beside the entries, so that none has to import another; decision 23 says what that saves.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { collected, namesOf } from './collected-types.mjs'
import { writeChanged } from './write-changed.mjs'

/** Copies them from the folder of the compiler, and answers their paths in dist. */
export function copyDeclarations(root, compiled) {
  const { exports: targets } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const modules = new Map()
  const moduleOf = (file) => {
    if (!modules.has(file)) modules.set(file, readModule(file))
    return modules.get(file)
  }
  const entries = new Set()
  for (const target of Object.values(targets)) {
    const name = /^\.\/dist\/(.+)\.(js|d\.ts)$/.exec(target.types ?? target)?.[1]
    if (name === undefined) continue
    const entry = moduleOf(join(compiled, `${name}.d.ts`))
    entries.add(entry)
    for (const statement of entry.statements) keep(statement, entry, moduleOf)
  }
  const texts = collected([...modules.values()], entries, (file) => relative(compiled, file))
  for (const [path, text] of texts) writeChanged(join(root, 'dist', path), text)
  return [...texts.keys()]
}

/** The statements of a file, those that each name comes from, and which are needed. */
function readModule(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const byName = new Map()
  for (const statement of source.statements)
    for (const name of namesOf(statement)) byName.set(name, [...(byName.get(name) ?? []), statement])
  return { file, source, statements: source.statements, byName, kept: new Set(), used: new Set() }
}

/** A name that is used keeps what declares it, also where it only happens to be the name of a property. */
function keep(statement, module, moduleOf) {
  if (module.kept.has(statement)) return
  module.kept.add(statement)
  const { importClause, exportClause, moduleSpecifier } = statement
  if (ts.isImportDeclaration(statement) && importClause !== undefined) return
  const other = moduleSpecifier && otherModule(module, moduleSpecifier.text, moduleOf)
  if (exportClause?.elements !== undefined) {
    for (const { name, propertyName } of exportClause.elements)
      use((propertyName ?? name).text, other ?? module, moduleOf)
    return
  }
  // All of another module: `export *`, `import './module.js'`.
  for (const each of other?.statements ?? []) keep(each, other, moduleOf)
  visit(statement)

  function visit(node) {
    if (ts.isIdentifier(node)) use(node.text, module, moduleOf)
    else if (ts.isImportTypeNode(node)) {
      const imported = otherModule(module, node.argument.literal.text, moduleOf)
      for (const each of imported?.statements ?? []) keep(each, imported, moduleOf)
    }
    ts.forEachChild(node, visit)
  }
}

function use(name, module, moduleOf) {
  if (module.used.has(name)) return
  module.used.add(name)
  for (const statement of module.byName.get(name) ?? []) {
    keep(statement, module, moduleOf)
    if (!ts.isImportDeclaration(statement)) continue
    const other = otherModule(module, statement.moduleSpecifier.text, moduleOf)
    const bindings = statement.importClause.namedBindings
    const imported = bindings?.elements?.find((element) => element.name.text === name)
    if (imported !== undefined && other !== undefined)
      use((imported.propertyName ?? imported.name).text, other, moduleOf)
    // A namespace has everything.
    if (imported === undefined) for (const each of other?.statements ?? []) keep(each, other, moduleOf)
  }
}

/** One of ours; undefined for a package. */
function otherModule({ file }, specifier, moduleOf) {
  if (!specifier.startsWith('.')) return undefined
  return moduleOf(join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
}
