import { seededIds } from '../../src/core/ids.ts'
import { quartzLocking, skipLockedLocking } from '../../src/jobstore/postgres/locking.ts'
import { PostgresConnections } from '../../src/jobstore/postgres/postgres-connections.ts'
import { PostgresRunner } from '../../src/jobstore/postgres/postgres-runner.ts'
import type { SlowStatement } from '../../src/jobstore/postgres/postgres-session.ts'
import { PreparedStatements } from '../../src/jobstore/postgres/prepared-statements.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'

export interface RunnerOptions {
  readonly schedulerName?: string
  readonly locking?: 'skipLocked' | 'quartzLocks'
  readonly poolSize?: number
  readonly preparedStatements?: boolean
  readonly statementTimeoutMs?: number
  readonly lockTimeoutMs?: number
  readonly connectTimeoutMs?: number
  readonly clock?: Clock
  readonly slow?: { readonly afterMs: number; report(wait: SlowStatement): void }
  readonly source?: ConstructorParameters<typeof PostgresConnections>[0]['source']
}

export interface TestRunner extends AsyncDisposable {
  readonly runner: PostgresRunner
  readonly connections: PostgresConnections
  /** What the pool said of connections that broke while nobody used them. */
  readonly idleErrors: Error[]
}

/** A clock on which timers end, and time passes, that many times as fast. */
export function hastyClock(times: number): Clock {
  return {
    ...systemClock,
    elapsedMs: () => systemClock.elapsedMs() * times,
    setTimer: (delayMs, onFire, options) => systemClock.setTimer(delayMs / times, onFire, options),
  }
}

export function testRunner(connectionString: string, options: RunnerOptions = {}): TestRunner {
  const idleErrors: Error[] = []
  const clock = options.clock ?? systemClock
  const connections = new PostgresConnections({
    source: options.source ?? { connectionString },
    poolSize: options.poolSize ?? 4,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    slow: options.slow ?? null,
    clock,
    onIdleError: (error) => idleErrors.push(error),
  })
  const scope = { names: sqlNames('test', {}), schedulerName: options.schedulerName ?? 'test' }
  const runner = new PostgresRunner({
    connections,
    locking: options.locking === 'quartzLocks' ? quartzLocking(scope) : skipLockedLocking(scope),
    statements: new PreparedStatements(options.preparedStatements ?? true),
    clock,
    ids: seededIds(1),
    statementTimeoutMs: options.statementTimeoutMs ?? 20_000,
    lockTimeoutMs: options.lockTimeoutMs ?? 10_000,
  })
  return { runner, connections, idleErrors, [Symbol.asyncDispose]: () => runner.close() }
}
