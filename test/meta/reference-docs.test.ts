import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { entryPoints } from '../support/entry-points.ts'
import { parse, projectFiles, projectOptions, projectRoot, walk } from '../support/source-files.ts'

interface Member {
  readonly name: string
  /** The doc comment as one line; what the page must say. */
  readonly comment: string
  /** Names inside of an object type, as the payload of an event has them. */
  readonly fields: readonly string[]
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The members that an interface declares itself, with their doc comments. */
function eventsOf(path: string, interfaceName: string): Member[] {
  const members: Member[] = []
  for (const file of projectFiles(/^src\/.*\.ts$/).filter((candidate) => candidate.path === path)) {
    walk(parse(file), (node) => {
      if (!ts.isInterfaceDeclaration(node) || node.name.text !== interfaceName) return
      members.push(...node.members.filter(ts.isPropertySignature).map(describeEvent))
    })
  }
  return members
}

function describeEvent(member: ts.PropertySignature): Member {
  const documented = ts.getJSDocCommentsAndTags(member).at(-1)?.comment
  const { type } = member
  return {
    name: member.name.getText(),
    comment: oneLine(ts.getTextOfJSDocComment(documented) ?? ''),
    fields:
      type && ts.isTypeLiteralNode(type) ? type.members.map((field) => field.name?.getText() ?? '') : [],
  }
}

/**
 * The types `*Options` (and the one nested in them) that the entry points export, with their members: also inherited
 * ones, unless those have a chapter of their own.
 */
function publicOptions(): { name: string; members: Member[] }[] {
  const entries = entryPoints().map(({ source }) => join(projectRoot, source))
  const program = ts.createProgram(entries, projectOptions())
  const checker = program.getTypeChecker()
  const symbols = entries
    .flatMap((entry) => checker.getSymbolAtLocation(program.getSourceFile(entry) ?? expect.fail(entry)) ?? [])
    .flatMap((entry) => checker.getExportsOfModule(entry))
    .filter(({ name }) => /^[A-Z]\w*(Options|Backoff|Config)$/.test(name))
  // Some are exported by two entry points.
  const byName = new Map(symbols.map((symbol) => [symbol.name, symbol]))
  const names = new Set(byName.keys())
  return [...byName.values()].map((symbol) => {
    const exported = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const members = checker
      .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(exported))
      .filter((property) => {
        const owner = property.declarations?.[0]?.parent
        const chapter = owner && ts.isInterfaceDeclaration(owner) ? owner.name.text : symbol.name
        return chapter === symbol.name || !names.has(chapter)
      })
    return {
      name: symbol.name,
      members: members.map((member) => ({
        name: member.name,
        comment: oneLine(ts.displayPartsToString(member.getDocumentationComment(checker))),
        fields: [],
      })),
    }
  })
}

/** Splits a page at its headings of one level: heading text -> what stands below it. */
function sectionsOf(text: string, level: '##' | '###'): Map<string, string> {
  const parts = text.split(new RegExp(`^${level} `, 'm')).slice(1)
  return new Map(parts.map((part) => [part.split('\n', 1)[0]?.trim() ?? '', part]))
}

/** What is wrong with the part of a page that describes these members. */
function differences(members: readonly Member[], text: string): string[] {
  const sections = sectionsOf(text, '###')
  const names = new Set(members.map(({ name }) => name))
  const surplus = [...sections.keys()].filter((heading) => !names.has(heading))
  return [
    ...surplus.map((heading) => `'### ${heading}' describes nothing that the code has`),
    ...members.flatMap(({ name, comment, fields }) => {
      const section = sections.get(name)
      if (comment === '') return [`${name} has no doc comment in the code`]
      if (section === undefined) return [`'### ${name}' is missing; it must say: ${comment}`]
      const unsaid = fields.filter((field) => !section.includes(`\`${field}\``))
      return [
        ...(oneLine(section).includes(comment)
          ? []
          : [`'### ${name}' must say what the code says: ${comment}`]),
        ...unsaid.map((field) => `'### ${name}' does not name \`${field}\``),
      ]
    }),
  ]
}

const page = (name: string): string =>
  projectFiles(new RegExp(`^docs/reference/${name}\\.md$`))[0]?.text ?? ''

describe('reference pages', () => {
  const options = publicOptions()

  test('events.md says of every event what the code says, and names its payload', () => {
    const events = eventsOf('src/listeners/events.ts', 'SchedulerEventMap')
    expect(events.length).toBeGreaterThan(20)
    expect(differences(events, page('events'))).toEqual([])
  })

  test('options.md has a chapter for every public options type, and no other', () => {
    const names = options.map(({ name }) => name)
    expect(names).toContain('SchedulerOptions')
    expect([...sectionsOf(page('options'), '##').keys()].toSorted()).toEqual(names.toSorted())
  })

  test.each(options)('options.md says of every member of $name what the code says', ({ name, members }) => {
    const chapter = sectionsOf(page('options'), '##').get(name) ?? ''
    expect(differences(members, chapter)).toEqual([])
  })

  test('the check catches a missing, a surplus, a stale and an incomplete section', () => {
    const members: Member[] = [
      { name: 'gone', comment: 'Says so.', fields: [] },
      { name: 'stale', comment: 'Default 5.', fields: [] },
      { name: 'partial', comment: 'Tells.', fields: ['who', 'why'] },
      { name: 'bare', comment: '', fields: [] },
    ]
    const text = '### stale\n\nDefault 6.\n\n### partial\n\nTells.\n\n`who`\n\n### invented\n\nNo.\n'
    expect(differences(members, text)).toEqual([
      expect.stringContaining("'### invented' describes nothing"),
      expect.stringContaining("'### gone' is missing"),
      expect.stringContaining("'### stale' must say"),
      expect.stringContaining('does not name `why`'),
      expect.stringContaining('bare has no doc comment'),
    ])
  })
})
