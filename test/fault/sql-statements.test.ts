import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import { sqliteEngine } from '../../src/jobstore/sqlite/sqlite-engine.ts'
import { resolveSqliteOptions } from '../../src/jobstore/sqlite/sqlite-options.ts'
import { statementCountCases } from '../support/statement-counts.ts'
import { statementFaultCases } from '../support/statement-faults.ts'

const inMemory = (): Promise<SqlEngine> =>
  Promise.resolve(sqliteEngine(resolveSqliteOptions({ filename: ':memory:' })))

statementFaultCases(inMemory, { text: `SELECT json('{')`, values: [] })
statementCountCases(inMemory)
