import { describe, expect, test } from 'vitest'
import { postgresDialect } from '../../../../src/jobstore/postgres/postgres-dialect.ts'
import { mostNames, PreparedStatements } from '../../../../src/jobstore/postgres/prepared-statements.ts'
import { resolveRecordOptions } from '../../../../src/jobstore/record-options.ts'
import { sqlNames } from '../../../../src/jobstore/sql/kernel/sql-names.ts'
import type { SqlProgram, SqlStatement } from '../../../../src/jobstore/sql/kernel/statement.ts'
import { HistoryTable } from '../../../../src/jobstore/sql/tables/history/history-table.ts'
import { Listings } from '../../../../src/jobstore/sql/tables/lists/listings.ts'
import { NextTriggers } from '../../../../src/jobstore/sql/tables/lists/next-triggers.ts'
import { fixedTexts } from '../../../support/fixed-texts.ts'
import { wholeExecutionQuery, wholeJobQuery, wholeTriggerQuery } from '../../../support/whole-queries.ts'

const vocabulary = { dialect: postgresDialect, names: sqlNames('test', {}), schedulerName: 'S' }

function firstOf(program: SqlProgram<unknown>): SqlStatement {
  const step = program.next()
  return step.done === true ? expect.fail('the program has a statement') : step.value
}

describe('the names of prepared statements on PostgreSQL', () => {
  test.each(['skipLocked', 'quartzLocks'] as const)(
    'suffice for the texts that are made once (%s)',
    (locking) => {
      const texts = [...fixedTexts(locking)]
      // Statements about one row have another text.
      const ofRows = texts.filter((text) => /:rows\b|\bunnest\(/.test(text))
      // The rest is for searches, which have a text for each set of conditions, and for the beginnings of transactions.
      expect(texts.length + ofRows.length).toBeLessThan(mostNames - 100)
    },
  )

  test.each([
    [
      'executions',
      new HistoryTable(vocabulary, resolveRecordOptions('test').history).find(wholeExecutionQuery, 9),
    ],
    ['jobs', new Listings(vocabulary).jobs(wholeJobQuery, 9)],
    ['triggers', new Listings(vocabulary).triggers(wholeTriggerQuery, 9)],
    ['the next triggers', new NextTriggers(vocabulary).first({}, 9)],
  ])('are not spent on lists, each of whose filters makes another text: %s', (_, program) => {
    const prepared = new PreparedStatements(true)
    expect(prepared.named(firstOf(program)).name).toBeNull()
    expect(prepared.named({ text: 'SELECT 1', values: [] }).name).toMatch(/^quartz_ts_/)
  })
})
