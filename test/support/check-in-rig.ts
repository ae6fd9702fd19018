import type { ClientConfig } from 'pg'
import { expect, onTestFinished } from 'vitest'
import { ThreadCheckIns } from '../../src/jobstore/postgres/check-in-thread.ts'
import { threadAccess } from '../../src/jobstore/postgres/thread-connection.ts'
import type { CheckIn, CheckInObserver, CheckInOrders } from '../../src/jobstore/sql/cluster/check-in.ts'
import type { WitnessLook } from '../../src/jobstore/sql/cluster/witness.ts'
import { systemClock } from '../../src/time/clock.ts'

export const builtEntry: URL = new URL('../../dist/jobstore/postgres/check-in-entry.js', import.meta.url)

const changeOneRow =
  'UPDATE pg_database SET datname = datname WHERE datname = current_database() AND $1::text IS NOT NULL'

/** Orders that need no tables of the store: the check-in counts as ours when it changes one row. */
export function orders(bootId: string, change: { count: number } = { count: 0 }): CheckInOrders {
  return {
    bootId,
    intervalMs: 100,
    statements: () => ({
      checkIn: { text: changeOneRow, values: [bootId] },
      look: { text: 'SELECT $1::int AS count, 5::bigint AS big', values: [change.count] },
    }),
    witness: () => null,
  }
}

/** What the store answers when its server is there. */
const checkInOfStore = (): Promise<CheckIn> =>
  Promise.resolve({
    bootId: 'of the store',
    isOurs: true,
    rows: [],
    sentMs: systemClock.elapsedMs(),
    lookedMs: 0,
    lookTookMs: 0,
    witness: 'none',
  })

interface RigOptions {
  readonly deafAfterMs?: number
  readonly checkInOfStore?: (orders: CheckInOrders) => Promise<CheckIn>
  /** Default 2000. */
  readonly answerWithinMs?: number
  /** Default one minute. */
  readonly silentAfterMs?: number
}

interface CheckInRig {
  readonly driver: ThreadCheckIns
  readonly observer: CheckInObserver
  /** What the observer was told. */
  readonly seen: { checkIns: CheckIn[]; failures: unknown[]; looks: WitnessLook[]; losses: number }
  /** Why the event loop stood in for the thread, each time that it began to. */
  readonly stoodIn: unknown[]
  /** How often the thread was back after that. */
  readonly back: { count: number }
}

export function rig(config: ClientConfig, entry: URL = builtEntry, options: RigOptions = {}): CheckInRig {
  const seen = { checkIns: [] as CheckIn[], failures: [] as unknown[], looks: [] as WitnessLook[], losses: 0 }
  const stoodIn: unknown[] = []
  const back = { count: 0 }
  const driver = new ThreadCheckIns({
    access: threadAccess(config) ?? expect.fail('not for threads'),
    clock: systemClock,
    answerWithinMs: 2000,
    silentAfterMs: 60_000,
    checkInOfStore,
    onStandIn: (cause) => stoodIn.push(cause),
    onThreadBack: () => {
      back.count++
    },
    entry,
    deafAfterMs: 60_000,
    ...options,
  })
  onTestFinished(() => driver.stop())
  const observer = {
    checkedIn: (checkIn: CheckIn) => {
      seen.checkIns.push(checkIn)
    },
    checkInFailed: (error: unknown) => {
      seen.failures.push(error)
    },
    looked: (look: WitnessLook) => {
      seen.looks.push(look)
    },
    witnessLost: () => {
      seen.losses++
    },
  }
  return { driver, observer, seen, stoodIn, back }
}
