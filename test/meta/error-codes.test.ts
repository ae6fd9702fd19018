import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { errorCodes } from '../../src/core/errors.ts'
import { parse, projectFiles, walk } from '../support/source-files.ts'

const page = projectFiles(/^docs\/reference\/errors\.md$/)[0]?.text ?? ''
const sections = page.split(/^### /m).slice(1)
const headings = sections.map((section) => section.split('\n', 1)[0] ?? '')

/** String literals of src that can be handed to an error: not in lists, types, cases and comparisons. */
function codesInUse(): Set<string> {
  const used = new Set<string>()
  for (const file of projectFiles(/^src\/.*\.ts$/)) {
    walk(parse(file), (node) => {
      if (ts.isStringLiteral(node) && !isOnlyCompared(node.parent)) used.add(node.text)
    })
  }
  return used
}

function isOnlyCompared(parent: ts.Node): boolean {
  if (ts.isArrayLiteralExpression(parent) || ts.isLiteralTypeNode(parent) || ts.isCaseClause(parent))
    return true
  return ts.isBinaryExpression(parent) && /^[!=]==$/.test(parent.operatorToken.getText())
}

describe('error codes', () => {
  test('docs/reference/errors.md has one heading per code, and no other', () => {
    expect(headings.toSorted()).toEqual(errorCodes.toSorted())
  })

  test.each(sections.map((section, index) => ({ code: headings[index] ?? '', section })))(
    '$code is documented with its cause and its remedy',
    ({ section }) => {
      expect(section).toMatch(/^\*\*Cause:\*\* \w.{20}/m)
      expect(section).toMatch(/^\*\*Remedy:\*\* \w.{20}/m)
    },
  )

  test('every code is thrown somewhere', () => {
    const used = codesInUse()
    expect(errorCodes.filter((code) => !used.has(code))).toEqual([])
  })
})
