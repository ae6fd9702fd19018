import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { lineOf, parse, projectFiles, type SourceFile, walk } from '../support/source-files.ts'

/** Where SQL stands: statements about our tables, migrations, what statements are made of, and the engines. */
const places =
  /^src\/jobstore\/(sql\/(tables\/|migrations\/|kernel\/(row-set|newest-first)\.)|sqlite\/sqlite-dialect\.|postgres\/)/

const sql =
  /\bSELECT\s|\bINSERT INTO\b|\bDELETE FROM\b|\bUPDATE \S+ (AS \w+ )?SET\b|\bCREATE (TABLE|INDEX)\b|\bORDER BY\b/

function strayedSql(file: SourceFile): string[] {
  if (places.test(file.path)) return []
  const found: string[] = []
  walk(parse(file), (node) => {
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    if (isText && sql.test(node.text)) found.push(`${file.path}:${lineOf(node)}: SQL; give it to a table`)
    if (ts.isCallExpression(node) && node.expression.getText() === 'sqlQuery') {
      found.push(`${file.path}:${lineOf(node)}: makes a statement; give it to a table`)
    }
  })
  return found
}

/** Statements that a method makes each time, which `docs/internals/statements.sql` would lack. */
function unprintedSql(file: SourceFile): string[] {
  const found: string[] = []
  walk(parse(file), (node) => {
    if (!ts.isClassDeclaration(node)) return
    walk(node, (inner) => {
      if (ts.isCallExpression(inner) && inner.expression.getText() === 'sqlQuery') {
        found.push(`${file.path}:${lineOf(inner)}: make it in the function that statements are printed from`)
      }
    })
  })
  return found
}

describe('SQL', () => {
  const sources = projectFiles(/^src\/.*\.ts$/)

  test('stands in tables, migrations and engines only', () => {
    expect(sources.filter((file) => places.test(file.path)).length).toBeGreaterThan(20)
    expect(sources.flatMap(strayedSql)).toEqual([])
  })

  test('is not made in methods of tables, so that all of it is printed', () => {
    const text = 'class A { *b() { yield sqlQuery(dialect, text)({}) } }'
    expect(unprintedSql({ path: 'src/jobstore/sql/tables/a.ts', text })).toHaveLength(1)
    expect(
      sources.filter(({ path }) => path.startsWith('src/jobstore/sql/tables/')).flatMap(unprintedSql),
    ).toEqual([])
  })

  test.each([
    ['a statement', 'const a = `DELETE FROM ${table}`', 'SQL'],
    ['part of one', 'const a = `${first} ORDER BY name`', 'SQL'],
    ['an update', "const a = 'UPDATE t AS x SET a = 1'", 'SQL'],
    ['a query', 'const a = sqlQuery(dialect, text)', 'makes a statement'],
  ])('is found in a program: %s', (_what, text, message) => {
    expect(strayedSql({ path: 'src/jobstore/sql/programs/a.ts', text })).toEqual([
      expect.stringContaining(message),
    ])
    expect(strayedSql({ path: 'src/jobstore/sql/tables/a.ts', text })).toEqual([])
  })
})
