import { JobPersistenceError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../time/clock.ts'
import { pause } from '../../time/pause.ts'
import { settledWithin } from '../../time/settled-within.ts'
import { DatabaseFailure, judgeError, thrownMessage } from './postgres-errors.ts'

export interface FirstContactOptions {
  /** How long to wait for a server that is away; 0: do not wait. */
  readonly connectWaitMs: number
  /** Asks the server what it answers at once, wherever it is well. */
  readonly reach: () => Promise<unknown>
  readonly clock: Clock
  readonly logger: Logger
}

const pauseMs = { first: 100, most: 2000 }
/** A server that is well gets this long for its first answer, also where `connectWaitMs` is less. */
const firstAnswerMs = 1000

/**
 * Runs the first operation of a store, again and again while the server is away, until `connectWaitMs` is over. An
 * attempt to reach the server that is under way then is given up. An error that waiting cannot mend (a wrong password,
 * a database that does not exist) is thrown at once.
 *
 * @throws JobPersistenceError ERR_DATABASE_UNAVAILABLE naming the option
 */
export async function firstContact(
  begin: () => Promise<unknown>,
  options: FirstContactOptions,
): Promise<void> {
  const { connectWaitMs, clock, logger } = options
  const untilMs = clock.elapsedMs() + connectWaitMs
  for (let delayMs = pauseMs.first; ; delayMs = Math.min(delayMs * 2, pauseMs.most)) {
    try {
      if (connectWaitMs > 0) await reachUntil(untilMs, options)
      await begin()
      return
    } catch (error) {
      if (!isAway(error)) throw error
      const leftMs = untilMs - clock.elapsedMs()
      if (leftMs <= 0) throw stillAway(error, connectWaitMs)
      if (delayMs === pauseMs.first) {
        logger.warn({ err: error, connectWaitMs }, 'PostgreSQL is away; createScheduler waits for it.')
      }
      await pause(clock, Math.min(delayMs, leftMs))
    }
  }
}

/** What the store begins with may take long, as a migration does: only the way to the server has the limit. */
async function reachUntil(
  untilMs: number,
  { connectWaitMs, reach, clock }: FirstContactOptions,
): Promise<void> {
  const leftMs = untilMs - clock.elapsedMs()
  const limitMs = Math.max(leftMs, firstAnswerMs - (connectWaitMs - leftMs), 0)
  if (await settledWithin(clock, limitMs, reach())) return
  const cause = new Error('the server does not answer')
  throw stillAway(
    new JobPersistenceError(cause.message, { cause, code: 'ERR_DATABASE_UNAVAILABLE' }),
    connectWaitMs,
  )
}

function isAway(error: unknown): error is JobPersistenceError {
  if (!(error instanceof JobPersistenceError) || error.code !== 'ERR_DATABASE_UNAVAILABLE') return false
  const { reason, retries } = judgeError(error.cause)
  return reason !== 'connection' || retries > 0
}

function stillAway(error: JobPersistenceError, waitedMs: number): JobPersistenceError {
  const { fault, isAway: cannotBeReached } = new DatabaseFailure(error.cause)
  const check =
    cannotBeReached || fault.remedy === '' ? 'Check that the server runs and can be reached.' : fault.remedy
  const remedy =
    waitedMs === 0
      ? `${check} Or let createScheduler wait for it: postgresJobStore({ connectWaitMs: 60_000 }).`
      : `It was waited for as long as connectWaitMs (${waitedMs}) says. ${check} Or wait longer.`
  return new JobPersistenceError(`PostgreSQL cannot be used: ${thrownMessage(error.cause)}. ${remedy}`, {
    cause: error.cause,
    code: error.code,
  })
}
