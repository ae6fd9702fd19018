import { pathsOf, type Statements, textAt } from './print-statements.ts'
import { allTables, postgres, quartzLocks } from './statement-tables.ts'

/** The texts that PostgreSQL may be sent of statements that are made once, with its locks or with those of Java. */
export function fixedTexts(locking: 'skipLocked' | 'quartzLocks'): ReadonlySet<string> {
  const engine = locking === 'quartzLocks' ? quartzLocks : postgres
  const texts = allTables
    .filter(({ engines = [engine] }) => engines.includes(engine) || engines.includes(postgres))
    .flatMap((table) => {
      const statements = table.statements(engine.vocabulary) as Statements
      return pathsOf(statements).flatMap((path) => textAt(statements, path) ?? [])
    })
  return new Set(texts)
}
