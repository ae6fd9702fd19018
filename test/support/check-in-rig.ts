import type { ClientConfig } from 'pg'
import { expect, onTestFinished } from 'vitest'
import { ThreadCheckIns } from '../../src/jobstore/postgres/check-in-thread.ts'
import { threadAccess } from '../../src/jobstore/postgres/thread-connection.ts'
import type {
  CheckIn,
  CheckInDriver,
  CheckInObserver,
  CheckInOrders,
} from '../../src/jobstore/sql/cluster/check-in.ts'
import type { WitnessLook } from '../../src/jobstore/sql/cluster/witness.ts'
import { systemClock } from '../../src/time/clock.ts'

export const builtEntry: URL = new URL('../../dist/jobstore/postgres/check-in-entry.js', import.meta.url)

/** Orders that need no tables: the check-in counts as ours when it touches one row. */
export function orders(bootId: string, change: { count: number } = { count: 0 }): CheckInOrders {
  return {
    bootId,
    intervalMs: 100,
    statements: () => ({
      checkIn: { text: 'SELECT $1::text AS boot', values: [bootId] },
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
  readonly checkInOfStore?: () => Promise<CheckIn>
}

interface CheckInRig {
  readonly driver: ThreadCheckIns
  readonly observer: CheckInObserver
  /** What the observer was told. */
  readonly seen: { checkIns: CheckIn[]; failures: unknown[]; looks: WitnessLook[]; losses: number }
  readonly fallenBack: unknown[]
  readonly stoodIn: unknown[]
  readonly fallbackCalls: string[]
}

export function rig(config: ClientConfig, entry: URL = builtEntry, options: RigOptions = {}): CheckInRig {
  const seen = { checkIns: [] as CheckIn[], failures: [] as unknown[], looks: [] as WitnessLook[], losses: 0 }
  const fallenBack: unknown[] = []
  const stoodIn: unknown[] = []
  const fallbackCalls: string[] = []
  const fallback: CheckInDriver = {
    start: () => fallbackCalls.push('start'),
    order: () => fallbackCalls.push('order'),
    hurry: () => fallbackCalls.push('hurry'),
    provenMs: () => Number.NEGATIVE_INFINITY,
    cutOff: () => fallbackCalls.push('cutOff'),
    stop: () => {
      fallbackCalls.push('stop')
      return Promise.resolve()
    },
  }
  const driver = new ThreadCheckIns({
    access: threadAccess(config) ?? expect.fail('not for threads'),
    clock: systemClock,
    answerWithinMs: 2000,
    fallback,
    checkInOfStore,
    onFallback: (cause) => fallenBack.push(cause),
    onStandIn: (cause) => stoodIn.push(cause),
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
  return { driver, observer, seen, fallenBack, stoodIn, fallbackCalls }
}
