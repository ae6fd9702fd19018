import type { IdGenerator } from '../../core/ids.ts'
import { codeOf } from '../../core/thrown-value.ts'
import type { Clock, EpochMs } from '../../time/clock.ts'
import { ChangeListeners } from '../change-watch.ts'
import type { InterruptTarget, NodeOrder } from '../cluster-view.ts'
import type { LockWait } from '../lock-wait.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import { run } from '../sql/kernel/statement.ts'
import { JoinedPostgres, requireClient } from './joined-postgres.ts'
import { LockWatch } from './lock-watch.ts'
import { type LockingStrategy, quartzLocking, skipLockedLocking } from './locking.ts'
import { writeInterruptMessage, writeOrderMessage } from './node-messages.ts'
import { PostgresConnections } from './postgres-connections.ts'
import { pgSource } from './postgres-driver.ts'
import type { ResolvedPostgresOptions } from './postgres-options.ts'
import { PostgresRunner } from './postgres-runner.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { WakeListener } from './wake-listener.ts'
import { type WakeMessage, wakeChannel } from './wake-message.ts'
import { WakeNotifier } from './wake-notifier.ts'

export interface PostgresAccessContext {
  readonly schedulerName: string
  readonly instanceId: string
  /** The clock of network time limits: real time, also for a scheduler with a manual clock. */
  readonly clock: Clock
  readonly ids: IdGenerator
  /**
   * Another node has signalled that a trigger may fire; also called, with the present time, after an interruption of
   * listening.
   */
  readonly onWake: (earliestMs: EpochMs | null) => void
  /** A node, maybe this one, asks to interrupt. */
  readonly onInterrupt: (target: InterruptTarget) => void
  /** A node, maybe this one, asks this one. */
  readonly onOrder: (order: NodeOrder) => void
  readonly onLockWait: (wait: LockWait) => void
  /**
   * A failure that needs no action: of an idle connection, of the connection that listens, of a notification. For
   * debugging alone where it is usual, or was told of already.
   */
  readonly onTrouble: (message: string, cause: unknown, level: 'warn' | 'debug') => void
}

/** Failures of one kind that come within so long of each other have one reason. */
const outageMs = 60_000
/** The SQLSTATE of a session that the server ended because it was idle, by `idle_session_timeout`. */
const idleSessionTimeout = '57P05'

const standbyWait =
  'COMMIT waits for a synchronous standby: bring the standby back, or take it out of synchronous_standby_names and ' +
  'reload the settings of the server'

/** Everything that one store has open at the server. */
export class PostgresAccess {
  readonly connections: PostgresConnections
  readonly runner: PostgresRunner
  readonly locking: LockingStrategy
  readonly #options: ResolvedPostgresOptions
  readonly #context: PostgresAccessContext
  readonly #watch: LockWatch
  readonly #channel: string
  readonly #joined = new WeakMap<object, JoinedPostgres>()
  readonly #notifier: WakeNotifier | null
  readonly #listener: WakeListener | null
  readonly #changes = new ChangeListeners()
  readonly #idleBreaks = new Outages()
  readonly #failedWakeUps = new Outages()
  readonly #listenerBreaks = new Outages()

  constructor(options: ResolvedPostgresOptions, context: PostgresAccessContext) {
    this.#options = options
    this.#context = context
    const { clock } = context
    this.#watch = new LockWatch({
      connect: () => this.connections.dedicatedClient(),
      onLockWait: context.onLockWait,
      onStandbyWait: () => {
        context.onTrouble(standbyWait, null, 'warn')
      },
      elapsedMs: () => clock.elapsedMs(),
    })
    const { lockWaitWarningMs } = options
    this.connections = new PostgresConnections({
      source: pgSource(options.source),
      poolSize: options.poolSize,
      connectTimeoutMs: options.connectTimeoutMs,
      clock,
      slow:
        lockWaitWarningMs === 0
          ? null
          : {
              afterMs: lockWaitWarningMs,
              report: (slow) => {
                this.#watch.examine(slow)
              },
            },
      onIdleError: (error) => {
        this.#idleBroke(error)
      },
    })
    const scope = { names: options.names, schedulerName: context.schedulerName }
    this.locking = options.locking === 'quartzLocks' ? quartzLocking(scope) : skipLockedLocking(scope)
    this.runner = this.#newRunner(this.locking, options)
    this.#channel = wakeChannel(options.names, context.schedulerName)
    this.#notifier = options.listen ? this.#newNotifier(this.#channel) : null
    this.#listener = options.listen ? this.#newListener(this.#channel) : null
  }

  /**
   * A runner for migrations: they take as long as they take, and the lock rows of Java are not there before them. They
   * wait for a lock in short attempts, however often: statements of all other nodes queue behind a change of a table
   * that waits for somebody's transaction. Looks at the schema are reads, which have the limits of others: a connection
   * that does not answer must not keep a store from starting for ever. Closed with everything else.
   */
  migrationRunner(): SqlRunner {
    const scope = { names: this.#options.names, schedulerName: this.#context.schedulerName }
    const unlimited = this.#newRunner(skipLockedLocking(scope), { statementTimeoutMs: 0, lockTimeoutMs: 0 })
    return {
      transact: (begin, options) => unlimited.transact(begin, options),
      read: (begin) => this.runner.read(begin),
      close: () => unlimited.close(),
    }
  }

  /** Starts to hear other nodes. */
  listen(): void {
    this.#listener?.start()
  }

  /** Hears other nodes from now on, until it is closed. */
  watchChanges(listener: () => void): () => void {
    this.listen()
    return this.#changes.add(listener)
  }

  /** @throws InvalidArgumentError when the handle is no client of pg */
  join(handle: object): JoinedPostgres {
    const client = requireClient(handle)
    const known = this.#joined.get(client)
    if (known !== undefined) return known
    const joined = new JoinedPostgres({
      client,
      connections: this.connections,
      locking: this.locking,
      wakeChannel: this.#options.listen ? this.#channel : null,
    })
    // One for each client, so that what is asked of one at the same time is done one after the other.
    this.#joined.set(client, joined)
    return joined
  }

  /** Asks the nodes that listen to interrupt. @throws JobPersistenceError */
  async interruptOnPeers(target: InterruptTarget): Promise<void> {
    await this.#notify(writeInterruptMessage(target))
  }

  /** Asks one node, which hears it if it listens. @throws JobPersistenceError */
  async orderPeer(instanceId: string, order: NodeOrder): Promise<void> {
    await this.#notify(writeOrderMessage({ instanceId, order }))
  }

  async #notify(message: string): Promise<void> {
    const values = [this.#channel, message]
    await this.runner.read(() => run({ text: 'SELECT pg_notify($1, $2)', values }))
  }

  /** Tells other nodes; null when no trigger fires earlier. Returns at once and never throws. */
  wakePeers(earliestMs: EpochMs | null): void {
    this.#notifier?.notify(earliestMs)
  }

  /** Ends what is under way and closes every connection, but not a pool that is the user's. */
  async close(): Promise<void> {
    await this.#notifier?.close()
    await this.#listener?.close()
    await this.runner.close()
    await this.#watch.close()
  }

  /** Breaks what is under way: then `close`, also one that has begun, ends soon. Not a pool that is the user's. */
  cutOff(): void {
    this.runner.cutOff()
    this.#listener?.cutOff()
    this.#watch.cutOff()
    this.connections.cutOff()
  }

  /** A server that goes away breaks all idle connections, and says so for each. */
  #idleBroke(error: Error): void {
    const { clock, onTrouble } = this.#context
    const message = 'an idle connection to PostgreSQL broke; the next operation makes another'
    const isUsual = codeOf(error) === idleSessionTimeout
    onTrouble(message, error, isUsual ? 'debug' : this.#idleBreaks.levelAt(clock.elapsedMs()))
  }

  #newRunner(
    locking: LockingStrategy,
    limits: { readonly statementTimeoutMs: number; readonly lockTimeoutMs: number },
  ): PostgresRunner {
    const { clock, ids } = this.#context
    return new PostgresRunner({
      connections: this.connections,
      locking,
      statements: new PreparedStatements(this.#options.preparedStatements),
      clock,
      ids,
      statementTimeoutMs: limits.statementTimeoutMs,
      lockTimeoutMs: limits.lockTimeoutMs,
    })
  }

  #newNotifier(channel: string): WakeNotifier {
    const { instanceId, clock, onTrouble } = this.#context
    return new WakeNotifier({
      connections: this.connections,
      channel,
      from: instanceId,
      clock,
      onError: (error) => {
        const level = this.#failedWakeUps.levelAt(clock.elapsedMs())
        onTrouble('other nodes could not be woken; they look by themselves', error, level)
      },
    })
  }

  #newListener(channel: string): WakeListener {
    const { instanceId, clock, ids, onWake, onOrder, onTrouble } = this.#context
    return new WakeListener({
      connect: () => this.connections.dedicatedClient(),
      channel,
      clock,
      random: () => ids.random(),
      onWake: ({ earliestMs, from }: WakeMessage) => {
        if (from === instanceId) return
        if (earliestMs !== null) onWake(earliestMs)
        this.#changes.tell()
      },
      onInterrupt: this.#context.onInterrupt,
      onOrder: ({ instanceId: asked, order }) => {
        if (asked === instanceId) onOrder(order)
      },
      onListening: () => {
        onWake(null)
        this.#changes.tell()
      },
      onError: (error) => {
        // Where sessions are ended again and again, as by a pooler, each one that was made anew breaks as well.
        const level = this.#listenerBreaks.levelAt(clock.elapsedMs())
        onTrouble('the connection that listens for other nodes broke; it is made again', error, level)
      },
    })
  }
}

/** How loud failures of one kind are told of: the first of an outage as a warning. */
class Outages {
  #failedMs = Number.NEGATIVE_INFINITY

  levelAt(nowMs: number): 'warn' | 'debug' {
    const isNews = nowMs - this.#failedMs >= outageMs
    this.#failedMs = nowMs
    return isNews ? 'warn' : 'debug'
  }
}
