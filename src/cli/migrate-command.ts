import type { LockWait } from '../jobstore/lock-wait.ts'
import type { DatabaseJobStore } from '../jobstore/sql/database-job-store.ts'
import { settingsFor, storeOptions } from './api/connection-options.ts'
import { type Command, parseCommandLine, UsageError } from './command.ts'
import { formatDuration } from './duration.ts'
import { oneLine, truncate } from './terminal/text.ts'

const { store, prefix, schema, config } = storeOptions

const spec = {
  name: 'migrate',
  argument: '',
  summary: 'Makes the tables of a job store, or brings them up to date',
  options: {
    store,
    prefix,
    schema,
    config,
    print: { type: 'boolean', help: 'Print the statements that the database lacks, and change nothing' },
    empty: { type: 'boolean', help: 'With --print: those for an empty database; connect to nothing' },
    adopt: { type: 'boolean', help: 'With --print: those for one that Java Quartz made; connect to nothing' },
  },
  notes: [
    'Several may run at once, also while schedulers start. Tables that Java Quartz made are kept, with all that is ' +
      'in them; what they lack is added.',
  ],
} as const

/** `quartz-ts migrate`: does what a store with `migrate: 'onStart'` does when it starts. */
export const migrateCommand: Command = {
  spec,
  async run(args, host) {
    const { values } = parseCommandLine(spec, args)
    const { print = false, empty = false, adopt = false } = values
    if ((empty || adopt) && !print) throw new UsageError(`--${empty ? 'empty' : 'adopt'} goes with --print.`)
    if (empty && adopt) throw new UsageError('--empty and --adopt: give one of them.')
    const { store: setting } = await settingsFor(values, host)
    if (setting === null)
      throw new UsageError(`'migrate' needs --store with a SQLite file or a postgres:// URL.`)
    const opened = setting.open('never')
    if (!('migrationScript' in opened)) throw new UsageError(`${setting.place} has no tables.`)
    const database = opened as DatabaseJobStore
    if (!print) {
      setting.keepPrivate()
      const applied = await database.migrate({
        onLockWait: (wait) => {
          host.stderr.write(describeWait(wait))
        },
      })
      const done = applied.length === 0 ? 'nothing to do' : `applied version ${applied.join(', ')}`
      host.stdout.write(`${setting.place}: ${done}\n`)
      return 0
    }
    const isAway = empty || adopt
    if (!isAway) setting.requireThere()
    host.stdout.write(await database.migrationScript(isAway ? { for: empty ? 'empty' : 'quartz' } : {}))
    return 0
  },
}

const statementWidth = 100

/** What is waited for, and whom to ask or to end. */
function describeWait({ statement, waitedMs, holders }: LockWait): string {
  const text = (sql: string): string => truncate(oneLine(sql), statementWidth)
  const lines = holders.map(({ processId, application, state, statement: held, transactionAgeMs }) => {
    const age = transactionAgeMs === null ? '' : `transaction of ${formatDuration(transactionAgeMs)}`
    const known = [oneLine(application), oneLine(state), age].filter((word) => word !== '')
    const what = known.length === 0 ? '' : ` (${known.join(', ')})`
    return `  session ${processId}${what}: ${text(held)}\n`
  })
  return `Waits for a lock, for ${formatDuration(waitedMs)} so far: ${text(statement)}\n${lines.join('')}`
}
