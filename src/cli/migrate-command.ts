import { withoutSecrets } from '../core/secrets.ts'
import { postgresDialect, postgresSchema } from '../jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../jobstore/sql/kernel/sql-names.ts'
import {
  emptySchema,
  type SchemaVocabulary,
  schemaOfQuartz,
} from '../jobstore/sql/migrations/plan-migrations.ts'
import { printMigrations } from '../jobstore/sql/migrations/print-migrations.ts'
import { sqliteDialect, sqliteSchema } from '../jobstore/sqlite/sqlite-dialect.ts'
import { storeOptions } from './api/connection-options.ts'
import { type Command, type OptionValues, parseCommandLine, UsageError } from './command.ts'
import { isPostgresUrl, sqliteFileOf, storeAt } from './stores.ts'

const spec = {
  name: 'migrate',
  argument: '',
  summary: 'Makes the tables of a job store, or brings them up to date',
  options: {
    store: { type: 'string', value: 'STORE', help: 'A SQLite file, or the postgres:// URL of a database' },
    prefix: storeOptions.prefix,
    schema: storeOptions.schema,
    print: { type: 'boolean', help: 'Print the statements for an empty database; connect to nothing' },
    adopt: { type: 'boolean', help: 'With --print: for a database that Java Quartz made' },
  },
  notes: [
    'Several may run at once, also while schedulers start. Tables that Java Quartz made are kept, with all that is ' +
      'in them; what they lack is added.',
  ],
} as const

type Values = OptionValues<typeof spec.options>

/** `quartz-ts migrate`: does what a store with `migrate: 'onStart'` does when it starts. */
export const migrateCommand: Command = {
  spec,
  async run(args, host) {
    const { values } = parseCommandLine(spec, args)
    const place = values.store ?? ''
    if (place === '') throw new UsageError(`'migrate' needs --store with a SQLite file or a postgres:// URL.`)
    const isPostgres = isPostgresUrl(place)
    if (!isPostgres) sqliteFileOf(place)
    if (values.schema !== undefined && !isPostgres) throw new UsageError('--schema is for PostgreSQL only.')
    if (values.adopt === true && values.print !== true) throw new UsageError('--adopt goes with --print.')
    if (values.print === true) {
      const vocabulary = isPostgres ? postgresWords(values) : sqliteWords(values)
      const state = values.adopt === true ? schemaOfQuartz : emptySchema
      host.stdout.write(printMigrations(vocabulary, state, host.clock.now()))
      return 0
    }
    const applied = await storeAt(place, values).migrate()
    const done = applied.length === 0 ? 'nothing to do' : `applied version ${applied.join(', ')}`
    host.stdout.write(`${withoutSecrets(place)}: ${done}\n`)
    return 0
  },
}

function sqliteWords(values: Values): SchemaVocabulary {
  return {
    dialect: sqliteDialect,
    schema: sqliteSchema,
    names: sqlNames('quartz-ts migrate', namesOf(values)),
  }
}

function postgresWords(values: Values): SchemaVocabulary {
  return {
    dialect: postgresDialect,
    schema: postgresSchema,
    names: sqlNames('quartz-ts migrate', namesOf(values)),
  }
}

function namesOf({ prefix, schema }: Values): { prefix?: string; schema?: string } {
  return { ...(prefix !== undefined && { prefix }), ...(schema !== undefined && { schema }) }
}
