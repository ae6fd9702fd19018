import { describeSchemaRepairs } from '../../../support/schema-repairs.ts'
import { sqliteRunner, sqliteWords } from '../../../support/sqlite.ts'

describeSchemaRepairs('SQLite', async () => ({ runner: await sqliteRunner(':memory:'), words: sqliteWords }))
