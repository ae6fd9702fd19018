// Writes the declarations of many modules into one file. A module that cannot stand there, because another one has a
// name of its, stays a file of its own.
import { posix } from 'node:path'
import ts from 'typescript'

const collection = 'types.d.ts'

/** The texts of the files of dist, by path. `pathOf` answers the path in dist of a module's file. */
export function collected(modules, entries, pathOf) {
  const inner = modules
    .filter((module) => !entries.has(module))
    .map((module) => ({ module, path: pathOf(module.file) }))
  inner.sort((a, b) => (a.path < b.path ? -1 : 1))
  const { members, others } = divided(inner)
  const isMember = new Set(members.map(({ path }) => path))
  const place = (path) => (isMember.has(path) ? collection : path)
  const texts = new Map([[collection, membersText(members)]])
  const separate = [...others, ...[...entries].map((module) => ({ module, path: pathOf(module.file) }))]
  for (const { module, path } of separate) texts.set(path, moduleText(module, path, place))
  return texts
}

/** Those that can share one scope, and those that would take a name from one before or from the global scope. */
function divided(inner) {
  const owners = new Map()
  const free = new Set()
  const members = []
  const others = []
  for (const each of inner) {
    const own = declaredBy(each.module)
    const globals = globalsOf(each.module)
    const isTaken = [...own].some(
      ([name, origin]) => free.has(name) || (owners.get(name) ?? origin) !== origin,
    )
    if (isTaken || [...globals].some((name) => owners.has(name))) {
      others.push(each)
      continue
    }
    members.push(each)
    for (const [name, origin] of own) owners.set(name, origin)
    for (const name of globals) free.add(name)
  }
  return { members, others }
}

/** The names that a module declares or imports from packages, and from where each comes. */
function declaredBy(module) {
  const own = neededOf(module).filter(isOwn)
  return new Map(
    own.flatMap((statement) =>
      namesOf(statement).map((name) => [name, statement.moduleSpecifier?.text ?? module]),
    ),
  )
}

/** What has no place among declarations of the same file: imports and exports of other files of dist. */
function isOwn({ moduleSpecifier }) {
  return moduleSpecifier === undefined || !moduleSpecifier.text.startsWith('.')
}

/** Names of types that a module has from nowhere. */
function globalsOf(module) {
  const known = new Set(neededOf(module).flatMap(namesOf))
  const found = new Set()
  for (const statement of neededOf(module)) visit(statement, known)
  return found

  function visit(node, scope) {
    const parameters = (node.typeParameters ?? []).map(({ name }) => name.text)
    const inner = parameters.length === 0 ? scope : new Set([...scope, ...parameters])
    const name = nameUsedBy(node)
    if (name !== undefined && !inner.has(name) && !isInferred(node, name)) found.add(name)
    ts.forEachChild(node, (child) => visit(child, inner))
  }
}

function nameUsedBy(node) {
  if (ts.isTypeReferenceNode(node)) return leftmost(node.typeName)
  if (ts.isTypeQueryNode(node)) return leftmost(node.exprName)
  return ts.isExpressionWithTypeArguments(node) ? leftmost(node.expression) : undefined
}

function leftmost(name) {
  return ts.isIdentifier(name) ? name.text : leftmost(name.left ?? name.expression)
}

/** `infer Item` and `[Name in keyof Type]` name types, too. */
function isInferred(node, name) {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (ts.isMappedTypeNode(outer) && outer.typeParameter.name.text === name) return true
    if (ts.isConditionalTypeNode(outer) && infers(outer.extendsType, name)) return true
  }
  return false
}

function infers(node, name) {
  if (ts.isInferTypeNode(node) && node.typeParameter.name.text === name) return true
  return ts.forEachChild(node, (child) => infers(child, name) || undefined) === true
}

function membersText(members) {
  const imports = new Map()
  const texts = []
  for (const { module } of members) {
    for (const statement of neededOf(module).filter(isOwn)) {
      if (ts.isImportDeclaration(statement)) {
        const from = statement.moduleSpecifier.getText(module.source)
        imports.set(from, [...(imports.get(from) ?? []), ...usedNames(statement, module)])
      } else if (!isEmptyExport(statement)) texts.push(statement.getFullText(module.source))
    }
  }
  const head = [...imports].map(
    ([from, names]) => `import type { ${[...new Set(names)].toSorted().join(', ')} } from ${from};\n`,
  )
  return `${head.join('')}${texts.join('').trimStart()}\n`
}

function isEmptyExport(statement) {
  return ts.isExportDeclaration(statement) && statement.exportClause?.elements.length === 0
}

/** A file of its own: what it needs of others comes from where they are now. */
function moduleText(module, path, place) {
  const { source } = module
  const texts = neededOf(module).map((statement) => {
    const { moduleSpecifier } = statement
    if (moduleSpecifier === undefined) return statement.getFullText(source)
    const from = moduleSpecifier.text.startsWith('.')
      ? `'${newPlace(moduleSpecifier.text)}'`
      : moduleSpecifier.getText()
    const start = statement.getFullText(source).slice(0, statement.getLeadingTriviaWidth(source))
    if (ts.isExportDeclaration(statement)) {
      const exported = statement.exportClause.elements.map((each) => each.getText(source)).join(', ')
      return `${start}export ${statement.isTypeOnly ? 'type ' : ''}{ ${exported} } from ${from};`
    }
    return `${start}import type { ${usedNames(statement, module).join(', ')} } from ${from};`
  })
  const hasMark = neededOf(module).some(
    (each) => ts.isExportDeclaration(each) || ts.isImportDeclaration(each),
  )
  const body = texts.join('').trimStart()
  return `${body}\n${hasMark || /^export /m.test(body) ? '' : 'export {};\n'}`

  function newPlace(specifier) {
    const folder = posix.dirname(path)
    const target = place(posix.join(folder, specifier.replace(/\.[jt]s$/, '.d.ts')))
    const way = posix.relative(folder, target).replace(/\.d\.ts$/, '.js')
    return way.startsWith('.') ? way : `./${way}`
  }
}

function neededOf({ statements, kept, used }) {
  return statements.filter((statement) => {
    if (!kept.has(statement)) return false
    if (!ts.isImportDeclaration(statement)) return true
    return statement.importClause.namedBindings.elements.some(({ name }) => used.has(name.text))
  })
}

/** The names of an import that are needed. */
function usedNames(statement, { source, used }) {
  const { elements } = statement.importClause.namedBindings
  return elements
    .filter(({ name }) => used.has(name.text))
    .map((element) => element.getText(source).replace(/^type /, ''))
}

/** What a statement declares, imports or exports from elsewhere. */
export function namesOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.text)
  const named = statement.importClause?.namedBindings ?? statement.exportClause
  const single = [statement.name, statement.importClause?.name, named?.name]
  return [...single, ...(named?.elements ?? []).map(({ name }) => name)]
    .filter((name) => name !== undefined)
    .map(({ text }) => text)
}
