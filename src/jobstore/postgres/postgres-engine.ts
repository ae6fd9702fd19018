import { systemClock } from '../../time/clock.ts'
import { migrate, requireSchema } from '../sql/migrations/migrate.ts'
import type { SqlEngine } from '../sql/sql-engine.ts'
import { PostgresAccess } from './postgres-access.ts'
import { postgresDialect, postgresSchema } from './postgres-dialect.ts'
import type { ResolvedPostgresOptions } from './postgres-options.ts'

/** PostgreSQL under the SQL store: any number of nodes. */
export function postgresEngine(options: ResolvedPostgresOptions): SqlEngine {
  const { names } = options
  return {
    name: 'PostgresJobStore',
    capabilities: { persistent: true, clustered: true },
    dialect: postgresDialect,
    names,
    encoding: options.jobData,
    async connect({ context: { schedulerName, instanceId, clock, ids, logger, signaler } }) {
      const access = new PostgresAccess(options, {
        schedulerName,
        instanceId,
        ids,
        // The network knows nothing of a clock that a test holds still.
        clock: systemClock,
        onWake: (earliestMs) => {
          signaler.schedulingChanged(earliestMs)
        },
        onLockWait: (wait) => {
          logger.warn(wait, 'a statement waits for a lock')
        },
        onTrouble: (message, cause) => {
          logger.warn({ err: cause }, message)
        },
      })
      const schema = { dialect: postgresDialect, schema: postgresSchema, names }
      try {
        const runner = access.migrationRunner()
        if (options.migrate === 'onStart') await migrate(runner, schema, clock.now())
        else await requireSchema(runner, schema)
      } catch (error) {
        await access.close()
        throw error
      }
      return {
        runner: access.runner,
        start: () => {
          access.listen()
          return Promise.resolve()
        },
        wakePeers: (earliestMs) => {
          access.wakePeers(earliestMs)
        },
        close: () => access.close(),
      }
    },
  }
}
