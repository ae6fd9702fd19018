import { systemIds } from '../../core/ids.ts'
import { unawaited } from '../../core/promises.ts'
import { systemClock } from '../../time/clock.ts'
import { ChangeListeners } from '../change-watch.ts'
import { recoverAtStart } from '../sql/cluster/recovery.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import { migrateAtStart, requireSchema } from '../sql/migrations/migrate.ts'
import type { SqlSession } from '../sql/session/sql-session.ts'
import type { SqlConnection, SqlEngine } from '../sql/sql-engine.ts'
import { AfterTransactions } from './after-transactions.ts'
import { joinSqlite } from './joined-sqlite.ts'
import { LeasedRunner } from './leased-runner.ts'
import { OutsideChanges } from './outside-changes.ts'
import { SchedulerLease } from './scheduler-lease.ts'
import { sqliteDialect, sqliteSchema } from './sqlite-dialect.ts'
import type { ResolvedSqliteOptions } from './sqlite-options.ts'
import { openSqlite, SqliteRunner, type SqliteRunnerOptions } from './sqlite-runner.ts'

/** About a millisecond of work, so that what is due meanwhile is late by no more. */
const recordsAtOnce = 32

/** SQLite under the SQL store: one file, on which one scheduler of a name fires and any process may schedule. */
export function sqliteEngine(options: ResolvedSqliteOptions): SqlEngine {
  const { names, jobData, database, filename } = options
  const isMemory = database === null ? filename === ':memory:' : database.memory
  const vocabulary = { dialect: sqliteDialect, schema: sqliteSchema, names }
  return {
    name: 'SqliteJobStore',
    capabilities: { persistent: !isMemory, clustered: false, longestLockWaitMs: options.busyTimeoutMs },
    ...vocabulary,
    encoding: jobData,
    records: options.records,
    recordsAtOnce,
    jobGroupLimits: options.jobGroupLimits,
    async onSchema(work) {
      const { busyTimeoutMs } = options
      const runner = await openRunner(options, { clock: systemClock, ids: systemIds, busyTimeoutMs })
      try {
        return await work(runner)
      } finally {
        await runner.close()
      }
    },
    async connect(session) {
      const { clock, ids } = session.context
      const runner = await openRunner(options, { clock, ids, busyTimeoutMs: options.busyTimeoutMs })
      try {
        if (options.migrate === 'onStart') await migrateAtStart(runner, vocabulary, session.context)
        else await requireSchema(runner, vocabulary)
      } catch (error) {
        await runner.close()
        throw error
      }
      return isMemory && database === null
        ? memoryConnection(runner)
        : sharedConnection(session, runner, options)
    },
  }
}

async function openRunner(
  options: ResolvedSqliteOptions,
  runnerOptions: SqliteRunnerOptions,
): Promise<SqliteRunner> {
  const { database, filename, names } = options
  if (database === null) return openSqlite(options, runnerOptions)
  return new SqliteRunner({ filename, names, connect: () => database, isOwned: false }, runnerOptions)
}

/** A database in memory has one connection: there is no other process and no earlier run. */
function memoryConnection(runner: SqliteRunner): SqlConnection {
  return {
    runner,
    start: () => Promise.resolve(),
    wakePeers: () => {},
    close: () => runner.close(),
    cutOff: () => {
      runner.cutOff()
    },
  }
}

/** A file that other connections, of this process or another one, may use as well: its lease says who fires. */
export function sharedConnection(
  session: SqlSession,
  runner: SqlRunner & Pick<SqliteRunner, 'connections' | 'isCutOff' | 'cutOff'>,
  { filename, database, names }: Pick<ResolvedSqliteOptions, 'filename' | 'database' | 'names'>,
): SqlConnection {
  const { context } = session
  const vocabulary = { dialect: sqliteDialect, names, schedulerName: context.schedulerName }
  const afterTransactions = new AfterTransactions(context.clock, (earliestMs) => {
    context.signaler.schedulingChanged(earliestMs)
  })
  const lease = new SchedulerLease(runner, vocabulary, context, filename)
  const listeners = new ChangeListeners()
  const changes = new OutsideChanges(runner, context.clock, () => {
    context.signaler.schedulingChanged(null)
    listeners.tell()
  })
  return {
    runner: new LeasedRunner(runner, lease),
    async start(transactor) {
      await lease.take()
      await changes.start()
      await transactor.run(recoverAtStart, { lock: 'cluster' })
    },
    join: (handle) => {
      if (lease.refusal !== null) throw lease.refusal
      return joinSqlite(handle, { filename, names, own: database, afterTransactions })
    },
    isTakenOver: () => lease.refusal !== null,
    // Other processes look for changes themselves.
    wakePeers: () => {},
    watchChanges(listener) {
      unawaited(changes.start(), () => {})
      return listeners.add(listener)
    },
    cutOff() {
      lease.cutOff()
      runner.cutOff()
    },
    async close() {
      changes.stop()
      afterTransactions.stop()
      try {
        await lease.release()
      } catch (error) {
        if (runner.isCutOff()) return
        context.signaler.storeError('the end of this scheduler could not be written', error)
      } finally {
        await runner.close()
      }
    },
  }
}
