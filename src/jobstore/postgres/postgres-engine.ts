import { systemIds } from '../../core/ids.ts'
import { requireEntry } from '../../core/package-files.ts'
import { calledSafely } from '../../core/promises.ts'
import { systemClock } from '../../time/clock.ts'
import type { JobStoreContext } from '../job-store.ts'
import type { LockWait } from '../lock-wait.ts'
import { type CheckInDriver, checkInOver, EventLoopCheckIns } from '../sql/cluster/check-in.ts'
import { ClusterNode, type ClusterNodeOptions } from '../sql/cluster/cluster-node.ts'
import { requireSameLocking } from '../sql/cluster/other-locking.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import { run } from '../sql/kernel/statement.ts'
import { migrateAtStart, requireSchema } from '../sql/migrations/migrate.ts'
import type { SchemaVocabulary } from '../sql/migrations/plan-migrations.ts'
import type { SqlTransactor } from '../sql/session/sql-transactor.ts'
import type { SqlConnection, SqlEngine } from '../sql/sql-engine.ts'
import { checkInEntry, ThreadCheckIns } from './check-in-thread.ts'
import { firstContact } from './first-contact.ts'
import { jobOfSerializingJava } from './java-data.ts'
import { LockLog } from './lock-log.ts'
import { PostgresAccess, type PostgresAccessContext } from './postgres-access.ts'
import { postgresDialect, postgresSchema } from './postgres-dialect.ts'
import { pgSource } from './postgres-driver.ts'
import type { ResolvedPostgresOptions } from './postgres-options.ts'
import { StoreClock } from './store-clock.ts'
import { threadAccess } from './thread-connection.ts'

/** Some ten milliseconds of the process: after an outage it notes thousands of misfires a second. */
const recordsAtOnce = 1000

const dataIsRefused =
  'the Java nodes on these tables serialize job data, as that of the job that is named here, so jobs and triggers ' +
  'with data are refused: they would stop those nodes. Set useProperties=true on all Java nodes, have them store ' +
  'their jobs anew, and restart this process.'

/** PostgreSQL under the SQL store: any number of nodes. */
export function postgresEngine(options: ResolvedPostgresOptions): SqlEngine {
  const { names } = options
  const schema = { dialect: postgresDialect, schema: postgresSchema, names }
  return {
    name: 'PostgresJobStore',
    capabilities: { persistent: true, clustered: true, longestLockWaitMs: longestLockWaitMs(options) },
    ...schema,
    encoding: options.jobData,
    sharedWithJava: options.locking === 'quartzLocks',
    records: options.records,
    recordsAtOnce,
    storesBeforeLooks: true,
    jobGroupLimits: options.jobGroupLimits,
    onSchema: (work, { onLockWait = () => {} } = {}) => onSchema(options, { work, onLockWait }),
    async connect({ context: { schedulerName, instanceId, clock, ids, logger, signaler }, jobs, triggers }) {
      const access = new PostgresAccess(options, {
        schedulerName,
        instanceId,
        ids,
        // Network time limits are real time, also with a manual clock.
        clock: systemClock,
        ...heard(signaler, logger),
      })
      const storeClock = new StoreClock(access.runner, { clock, signaler })
      const refuseData = (job: string): void => {
        jobs.refuseData()
        triggers.refuseData()
        logger.warn({ schedulerName, job }, dataIsRefused)
      }
      await begin(access, options, { schema, schedulerName, clock, logger, storeClock, refuseData })
      return connectionOver(access, options, storeClock)
    },
  }
}

/** What the store does over connections that are open, as a node once it has started. */
function connectionOver(
  access: PostgresAccess,
  options: ResolvedPostgresOptions,
  storeClock: StoreClock,
): SqlConnection {
  let node: ClusterNode | null = null
  let hasRegistered = false
  return {
    runner: access.runner,
    async start(transactor) {
      storeClock.stop()
      node = new ClusterNode(transactor, clusterOptions(options), checkInDriver(options, transactor))
      await node.start()
      hasRegistered = true
      access.listen()
    },
    mayClaim: async () => node?.confirm(),
    mayClaimNow: () => node?.isConfirmed !== false,
    confirmFirings: () => node?.confirmFirings(),
    nodes: async (transactor) => (node ?? observer(transactor, options)).nodes(),
    interruptOnPeers: (target) => access.interruptOnPeers(target),
    orderPeer: (peerId, order) => access.orderPeer(peerId, order),
    announce: () => node?.announce(),
    removeNode: async (transactor, peerId) => (node ?? observer(transactor, options)).remove(peerId),
    join: (handle) => access.join(handle),
    *requireMayChange(tx) {
      // A node has looked when it registered.
      if (!hasRegistered && options.locking === 'skipLocked') yield* requireSameLocking(tx)
    },
    wakePeers: (earliestMs) => {
      access.wakePeers(earliestMs)
    },
    tellChange: () => {
      access.wakePeers(null)
    },
    watchChanges: (listener) => access.watchChanges(listener),
    async close() {
      storeClock.stop()
      await node?.stop()
      await access.close()
    },
    cutOff() {
      node?.cutOff()
      access.cutOff()
    },
  }
}

/** A call that waits in the queue of Quartz's locks is run again twice. */
function longestLockWaitMs({ locking, lockTimeoutMs }: ResolvedPostgresOptions): number {
  return locking === 'quartzLocks' ? 3 * lockTimeoutMs : lockTimeoutMs
}

/** What this node hears from others, and what it waits for. */
function heard(
  signaler: JobStoreContext['signaler'],
  logger: JobStoreContext['logger'],
): Pick<PostgresAccessContext, 'onWake' | 'onInterrupt' | 'onOrder' | 'onLockWait' | 'onTrouble'> {
  const lockLog = new LockLog(logger, () => systemClock.elapsedMs())
  return {
    onWake: (earliestMs) => {
      signaler.schedulingChanged(earliestMs)
    },
    onInterrupt: (target) => {
      signaler.interruptRequested(target)
    },
    onOrder: (order) => {
      signaler.nodeOrdered(order)
    },
    onLockWait: (wait) => {
      lockLog.tell(wait)
      signaler.lockWaitExceeded(wait)
    },
    onTrouble: (message, cause, level) => {
      logger[level]({ err: cause }, message)
    },
  }
}

/** A node that looks at the others and takes no part, for a scheduler that has not started. */
function observer(transactor: SqlTransactor, options: ResolvedPostgresOptions): ClusterNode {
  return new ClusterNode(transactor, clusterOptions(options), new EventLoopCheckIns(transactor))
}

/** Reaches the server and sees to it that the tables are there; when it fails, nothing is left open. */
async function begin(
  access: PostgresAccess,
  options: ResolvedPostgresOptions,
  {
    schema,
    schedulerName,
    clock,
    logger,
    storeClock,
    refuseData,
  }: Pick<JobStoreContext, 'schedulerName' | 'clock' | 'logger'> & {
    readonly schema: SchemaVocabulary
    readonly storeClock: StoreClock
    /** Called when the Java nodes on the tables could not read data that is stored here. */
    readonly refuseData: (job: string) => void
  },
): Promise<void> {
  const { connectWaitMs } = options
  const runner = access.migrationRunner()
  const reach = (): Promise<unknown> => runner.read(() => run({ text: 'SELECT 1', values: [] }))
  const prepare = (): Promise<unknown> =>
    options.migrate === 'onStart'
      ? migrateAtStart(runner, schema, { clock, logger })
      : requireSchema(runner, schema)
  try {
    await firstContact(prepare, { connectWaitMs, reach, clock: systemClock, logger })
    await storeClock.start()
    if (options.locking === 'quartzLocks') {
      const job = await jobOfSerializingJava(access.runner, schema.names, schedulerName)
      if (job !== null) refuseData(job)
    }
  } catch (error) {
    // An attempt may be under way still.
    access.cutOff()
    await access.close()
    throw error
  }
}

/**
 * How often to look for claimed triggers without a fired-trigger row: only Java nodes leave some, and Java's tables
 * have an index for this.
 */
const sweepIntervalMs = { skipLocked: 600_000, quartzLocks: 30_000 }

function clusterOptions(options: ResolvedPostgresOptions): ClusterNodeOptions {
  const { checkInIntervalMs, failedAfterMs, locking } = options
  return { checkInIntervalMs, failedAfterMs, locking, sweepIntervalMs: sweepIntervalMs[locking] }
}

/**
 * In a thread where a thread can connect as the store does, so that a node with a blocked event loop does not count as
 * failed.
 */
function checkInDriver(options: ResolvedPostgresOptions, transactor: SqlTransactor): CheckInDriver {
  const { clock, logger } = transactor.session.context
  const fallback = new EventLoopCheckIns(transactor)
  if (options.checkInEntry === null) return fallback
  const access = threadAccess(pgSource(options.source))
  const onFallback = (cause: unknown): void => {
    logger.warn(
      { err: cause },
      'check-ins are made on the event loop: one that is blocked for long counts as failed',
    )
  }
  if (access === null) {
    onFallback(new Error('the options of the connection cannot be handed to a thread'))
    return fallback
  }
  const entry = checkInEntry(options.checkInEntry)
  requireEntry(entry)
  // The sources of this package, which not every Node.js can load.
  if (entry.url.pathname.endsWith('.ts')) {
    onFallback(new Error('The entry is TypeScript; build it.'))
    return fallback
  }
  const { checkInIntervalMs, failedAfterMs } = options
  return new ThreadCheckIns({
    access,
    clock,
    answerWithinMs: Math.max(500, Math.ceil(failedAfterMs / 3)),
    silentAfterMs: (checkInIntervalMs + failedAfterMs) / 2,
    // The thread may be back meanwhile, and have written its witness since.
    checkInOfStore: (orders) => checkInOver(transactor, orders, 'unknown'),
    onStandIn: (cause) => {
      logger.warn(
        { err: cause },
        'the thread of the check-ins does not check in; until it does, the event loop checks in over the ' +
          'connections of the job store, and one that is blocked for long counts as failed',
      )
    },
    onThreadBack: () => {
      logger.info({}, 'the thread of the check-ins checks in again')
    },
    entry: entry.url,
  })
}

/** Opens a connection of its own; no node listens or is woken. */
async function onSchema<Answer>(
  options: ResolvedPostgresOptions,
  {
    work,
    onLockWait,
  }: {
    readonly work: (runner: SqlRunner) => Promise<Answer>
    readonly onLockWait: (wait: LockWait) => unknown
  },
): Promise<Answer> {
  const silent = { onWake: () => {}, onInterrupt: () => {}, onOrder: () => {}, onTrouble: () => {} }
  const context = {
    schedulerName: '',
    instanceId: '',
    ids: systemIds,
    clock: systemClock,
    onLockWait: (wait: LockWait) => {
      calledSafely(
        () => onLockWait(wait),
        () => {},
      )
    },
    ...silent,
  }
  const access = new PostgresAccess({ ...options, listen: false }, context)
  try {
    return await work(access.migrationRunner())
  } finally {
    await access.close()
  }
}
