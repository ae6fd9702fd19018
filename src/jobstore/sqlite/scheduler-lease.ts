import { JobPersistenceError } from '../../core/errors.ts'
import { unawaited } from '../../core/promises.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import { packageVersion } from '../../core/version.ts'
import type { ClockTimer, EpochMs } from '../../time/clock.ts'
import { InterruptibleSleep } from '../../time/interruptible-sleep.ts'
import type { JobStoreContext } from '../job-store.ts'
import type { SqlRunner } from '../sql/kernel/sql-runner.ts'
import type { SqlVocabulary } from '../sql/kernel/sql-vocabulary.ts'
import { all, first, run, type SqlProgram, type SqlRow } from '../sql/kernel/statement.ts'
import { anyText, instant, readable, textOrNull } from '../sql/tables/encoding/columns.ts'
import {
  type LeaseHolder,
  type LeaseStatements,
  leaseStatements,
} from '../sql/tables/nodes/lease-statements.ts'
import { forgetLease, leaseOfThread, noteLease } from './leases-of-thread.ts'
import { LogGrowth } from './log-growth.ts'
import { OpenedFiles } from './opened-file.ts'
import { fateOf, isOfThisProcess, ownIdentity, type ProcessIdentity } from './process-identity.ts'
import { type SqliteRunner, wasShutDown } from './sqlite-runner.ts'

const checkinIntervalMs = 5_000
/** A holder whose process cannot be seen has failed when it has not checked in for this long. */
const staleAfterMs = 20_000
const watchIntervalMs = 1_000
const logGrows =
  'the -wal file of the SQLite database grows, because a connection keeps a transaction open: mostly one that reads, ' +
  'such as a backup or a query that is not finished, in another process. End it, and SQLite begins the file anew.'

type LeaseRunner = SqlRunner & Pick<SqliteRunner, 'connections'>

/** Another scheduler's row. */
interface Rival {
  readonly instanceId: string
  readonly bootId: string
  readonly checkinMs: EpochMs
  readonly identity: ProcessIdentity | null
}

/**
 * The right to fire the triggers of one scheduler name in one file. One process has it at a time: a second one would
 * recover the executions in flight of the first as if it had crashed. Other processes may schedule on the file
 * meanwhile.
 *
 * It is a row of `scheduler_state`. A holder has failed when its process has ended; where that cannot be seen, as in
 * another container, when it has not checked in for a while.
 */
export class SchedulerLease {
  readonly #runner: LeaseRunner
  readonly #context: JobStoreContext
  readonly #statements: LeaseStatements
  readonly #filename: string
  readonly #table: string
  readonly #files: OpenedFiles
  readonly #log: LogGrowth
  readonly #whose: LeaseHolder
  readonly #identity = ownIdentity()
  readonly #sleep: InterruptibleSleep
  #timer: ClockTimer | null = null
  #checkin: Promise<void> = Promise.resolve()
  /** Check-ins in a row that could not be written. */
  #failures = 0
  #isHeld = false
  /** From then on each transaction proves it, also one that began to wait before the lease was lost or given back. */
  #wasTaken = false
  #refusal: JobPersistenceError | null = null

  constructor(runner: LeaseRunner, vocabulary: SqlVocabulary, context: JobStoreContext, filename: string) {
    this.#runner = runner
    this.#context = context
    this.#sleep = new InterruptibleSleep(context.clock)
    this.#statements = leaseStatements(vocabulary)
    this.#filename = withoutSecrets(filename)
    this.#table = vocabulary.names.schedulerState
    this.#files = new OpenedFiles(filename, runner.connections)
    this.#log = new LogGrowth(filename)
    this.#whose = { scheduler: vocabulary.schedulerName, bootId: context.ids.uniqueName() }
  }

  /** The error of every operation once another scheduler has taken the lease; null before. */
  get refusal(): JobPersistenceError | null {
    return this.#refusal
  }

  /**
   * Takes the lease and keeps it. When it is not known whether the holder lives, waits until the holder checks in or
   * has been silent for long enough, measured by this machine's monotonic clock.
   *
   * @throws JobPersistenceError ERR_STORE_IN_USE while another scheduler has it
   */
  async take(): Promise<void> {
    const { clock, logger } = this.#context
    let watched: readonly Rival[] | null = null
    let watchedMs = 0
    let lookedMs = clock.elapsedMs()
    for (;;) {
      // A process that was suspended has not watched the row meanwhile.
      watchedMs += Math.min(clock.elapsedMs() - lookedMs, 2 * watchIntervalMs)
      lookedMs = clock.elapsedMs()
      const silent: readonly Rival[] = watchedMs < staleAfterMs ? [] : (watched ?? [])
      const rivals: readonly Rival[] = await this.#runner.transact(() => this.#claim(silent), {
        lock: 'cluster',
      })
      const [rival] = rivals
      if (rival === undefined) break
      const known = watched
      const heard = rivals.find((other) => isAlive(other) || (known !== null && !isAmong(known, other)))
      if (heard !== undefined) throw this.#inUse(heard)
      if (watched === null) {
        const { instanceId, identity } = rival
        const fields = { instanceId, pid: identity?.pid, host: identity?.host, waitMs: staleAfterMs }
        logger.warn(fields, 'waiting to see whether the scheduler that has the file is still alive')
      }
      watched = rivals
      if (!(await this.#sleep.sleep(watchIntervalMs))) throw wasShutDown()
    }
    if (!this.#isHeld) this.#checkInLater()
    this.#isHeld = true
    this.#wasTaken = true
    noteLease(this.#whose.bootId, 'held')
  }

  /**
   * Runs `program` if the lease is still held, checked in the same transaction: a process that lost the lease while it
   * was suspended writes nothing. A scheduler that never took the lease runs it unchecked.
   */
  *guard<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
    if (this.#wasTaken && (yield* first(this.#statements.prove(this.#whose))) === null) {
      throw this.#refusal ?? (this.#isHeld ? this.#takenOver() : wasShutDown())
    }
    return yield* program
  }

  /** Another scheduler has the lease: reports it, once. */
  lose(refusal: JobPersistenceError): void {
    if (this.#refusal !== null) return
    const { signaler } = this.#context
    this.#timer?.cancel()
    this.#isHeld = false
    forgetLease(this.#whose.bootId)
    this.#refusal = refusal
    signaler.recoveredByPeer()
    signaler.storeError(refusal.message, refusal)
  }

  /** Releases the lease, so that the next scheduler need not wait. Harmless when it was never taken. */
  async release(): Promise<void> {
    this.#timer?.cancel()
    await this.#checkin
    // The check-in that was under way has armed the next one.
    this.#timer?.cancel()
    if (!this.#isHeld || this.#sleep.isOver) return
    await this.#giveBack()
  }

  /** When the row cannot be deleted, the next start takes over: this scheduler has ended, though its process lives. */
  async #giveBack(): Promise<void> {
    const { bootId } = this.#whose
    this.#isHeld = false
    noteLease(bootId, 'givenUp')
    await this.#runner.transact(() => run(this.#statements.release(this.#whose)), { lock: 'cluster' })
    forgetLease(bootId)
  }

  /** Ends waits. The lease is released if that can be done at once; else the next start takes it over. */
  cutOff(): void {
    this.#timer?.cancel()
    this.#sleep.end()
    if (!this.#isHeld) return
    unawaited(this.#giveBack(), () => {
      // The next start finds the row of a lease that was given up, or of a process that is gone.
    })
  }

  /**
   * Takes the row of the scheduler name unless a rival has it; answers such rivals. A rival that was watched for long
   * enough without a check-in does not have it any more.
   */
  *#claim(silent: readonly Rival[]): SqlProgram<readonly Rival[]> {
    const { clock, instanceId } = this.#context
    const whose = this.#whose
    const rivals = (yield* all(this.#statements.holders(whose))).map(toRival)
    if (rivals.some(isAlive)) return rivals.filter((rival) => fateOfRival(rival) !== 'gone')
    const unknown = rivals.filter((rival) => fateOfRival(rival) === 'unknown')
    if (unknown.some((rival) => !isAmong(silent, rival))) return unknown
    const nowMs = clock.now()
    yield* run(this.#statements.releaseOthers(whose))
    const nodeInfo = JSON.stringify({ version: packageVersion, ...this.#identity })
    yield* run(this.#statements.hold({ ...whose, instanceId, nowMs, checkinIntervalMs, nodeInfo }))
    return []
  }

  #checkInLater(): void {
    this.#timer = this.#context.clock.setTimer(
      checkinIntervalMs,
      () => {
        this.#checkin = this.#checkIn()
      },
      { unref: true },
    )
  }

  async #checkIn(): Promise<void> {
    const { logger, signaler } = this.#context
    let connection: number | null = null
    try {
      const isKept = await this.#runner.transact(() => this.#keep(), { lock: 'cluster' })
      connection = this.#runner.connections
      if (this.#failures > 0) signaler.checkInRestored(this.#failures)
      this.#failures = 0
      if (!isKept) this.lose(this.#takenOver())
    } catch (error) {
      if (this.#sleep.isOver) return
      this.#failures++
      if (this.#failures === 1) signaler.checkInFailed(error)
      else logger.debug({ err: error, failures: this.#failures }, 'the node could not check in')
    }
    const lostEnding = this.#files.lostEnding(connection)
    if (lostEnding !== null) {
      const error = this.#fileLost(lostEnding)
      signaler.storeError(error.message, error)
    }
    const bytes = this.#log.tooLarge()
    if (bytes !== null) logger.warn({ file: `${this.#filename}-wal`, bytes }, logGrows)
    if (this.#isHeld) this.#checkInLater()
  }

  /** Checks in. When another scheduler holds the lease too, the one that sees it first gives way. */
  *#keep(): SqlProgram<boolean> {
    const { clock } = this.#context
    const whose = this.#whose
    const rivals = yield* all(this.#statements.holders(whose))
    if (rivals.length === 0)
      return (yield* run(this.#statements.checkIn({ ...whose, nowMs: clock.now() }))) > 0
    yield* run(this.#statements.release(whose))
    return false
  }

  #fileLost(ending: string): JobPersistenceError {
    const lost = `The file${ending === '' ? '' : ` ${ending}`} of the SQLite database '${this.#filename}'`
    const consequence =
      ending === ''
        ? 'What this scheduler stores is lost when it ends. Put the right file there and restart this process.'
        : 'It belongs to the database while a process has that open: other processes no longer see what this ' +
          'scheduler stores, and another scheduler may fire the same triggers. Restart this process at once.'
    return new JobPersistenceError(`${lost} was deleted, or another one is in its place. ${consequence}`)
  }

  #takenOver(): JobPersistenceError {
    return new JobPersistenceError(
      `The SQLite database '${this.#filename}' was taken over by another scheduler of this name, as this one was ` +
        `not heard of for ${staleAfterMs} ms. Restart this process.`,
      { code: 'ERR_STORE_IN_USE' },
    )
  }

  #inUse({ instanceId, identity, checkinMs }: Rival): JobPersistenceError {
    const isHere = identity !== null && isOfThisProcess(identity)
    const process =
      identity === null ? '' : ` (process ${identity.pid} on ${identity.host}${isHere ? ', this one' : ''})`
    const since = new Date(checkinMs).toISOString()
    const whenFree = isHere ? 'that scheduler, or the thread in which it runs,' : 'that process'
    return new JobPersistenceError(
      `The SQLite database '${this.#filename}' is in use: the scheduler instance '${instanceId}'${process} fires its ` +
        `triggers, last heard of at ${since}. It can be taken over as soon as ${whenFree} has ended. Use one ` +
        'scheduler per file and name, or PostgreSQL for several; other processes may schedule without start(). A ' +
        `copy of a file that is in use carries this row too: delete it from the table ${this.#table} of the copy.`,
      { code: 'ERR_STORE_IN_USE' },
    )
  }
}

function fateOfRival({ bootId, identity }: Rival): ReturnType<typeof fateOf> {
  if (identity === null) return 'unknown'
  if (!isOfThisProcess(identity)) return fateOf(identity)
  // That this process lives does not show that the thread lives which took the lease.
  const lease = leaseOfThread(bootId)
  return lease === undefined ? 'unknown' : lease === 'held' ? 'alive' : 'gone'
}

function isAlive(rival: Rival): boolean {
  return fateOfRival(rival) === 'alive'
}

/** Whether a rival is one of those, and has not checked in since. */
function isAmong(rivals: readonly Rival[], { bootId, checkinMs }: Rival): boolean {
  return rivals.some((other) => other.bootId === bootId && other.checkinMs === checkinMs)
}

function toRival(row: SqlRow): Rival {
  return {
    instanceId: anyText(row, 'instance_name'),
    bootId: anyText(row, 'boot_id'),
    checkinMs: readable(instant, row, 'last_checkin_time', 0),
    identity: readIdentity(readable(textOrNull, row, 'node_info', null)),
  }
}

/** Null for the format of another release: then only the check-in counts. */
function readIdentity(json: string | null): ProcessIdentity | null {
  if (json === null) return null
  try {
    const { pid, host, space, started } = JSON.parse(json) as Partial<ProcessIdentity>
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof space !== 'string') return null
    return { pid, host, space, started: started ?? null }
  } catch {
    return null
  }
}
