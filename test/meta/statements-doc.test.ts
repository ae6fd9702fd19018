import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { formatSql } from '../support/format-sql.ts'
import { printStatements } from '../support/print-statements.ts'

const page = new URL('../../docs/internals/statements.sql', import.meta.url)

// Seconds of work, which other work on the machine makes a minute.
const timeout = 240_000

test('the printed statements are those that the code makes (`npm run statements`)', { timeout }, () => {
  expect(printStatements()).toBe(readFileSync(page, 'utf8'))
})

test('breaks statements at their clauses', () => {
  const list = Array.from({ length: 12 }, (_, index) => `t.column_${String(index)}`).join(', ')
  const from = 'FROM t LEFT JOIN j ON j.a = t.a AND j.b = t.b'
  const wide = `SELECT ${list} ${from} WHERE t.a BETWEEN 1 AND 2 AND t.b = 'x AND y'`
  expect(formatSql(`${wide} AND t.c IN (SELECT ${list} FROM u WHERE u.a = :a)`)).toBe(`\
SELECT t.column_0, t.column_1, t.column_2, t.column_3, t.column_4, t.column_5, t.column_6, t.column_7,
  t.column_8, t.column_9, t.column_10, t.column_11
FROM t
  LEFT JOIN j ON j.a = t.a
    AND j.b = t.b
WHERE t.a BETWEEN 1 AND 2
  AND t.b = 'x AND y'
  AND t.c IN (
    SELECT t.column_0, t.column_1, t.column_2, t.column_3, t.column_4, t.column_5, t.column_6, t.column_7,
      t.column_8, t.column_9, t.column_10, t.column_11
    FROM u
    WHERE u.a = :a
  )`)
  expect(formatSql('DELETE FROM t WHERE a = :a')).toBe('DELETE FROM t WHERE a = :a')
})
