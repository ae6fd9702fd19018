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

/** Codes whose code path is still to come; each leaves this list with the first place that throws it. */
const awaited: readonly string[] = [
  'ERR_INVALID_TRIGGER',
  'ERR_INVALID_CRONTAB',
  'ERR_INVALID_CALENDAR',
  'ERR_UNKNOWN_TIME_ZONE',
  'ERR_JOB_DATA_SCHEMA',
  'ERR_UNKNOWN_JOB_TYPE',
  'ERR_WORKER_MODULE',
  'ERR_TRIGGER_NEVER_FIRES',
  'ERR_JOB_NOT_DURABLE',
  'ERR_SCHEDULER_SHUTDOWN',
  'ERR_SCHEDULER_STATE',
  'ERR_THREAD_POOL_SHUTDOWN',
  'ERR_WORKER_FAILED',
  'ERR_WORKER_UNAVAILABLE',
  'ERR_JOB_TIMEOUT',
  'ERR_JOB_INTERRUPTED',
  'ERR_LISTENER_FAILED',
]

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
    expect(errorCodes.filter((code) => !used.has(code) && !awaited.includes(code))).toEqual([])
  })
})
