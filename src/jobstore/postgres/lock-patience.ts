import type { LockingStrategy } from './locking.ts'
import type { SlowWatch } from './postgres-session.ts'

/**
 * How long a transaction waits for one lock before it is given up: longer than transactions of this library normally
 * hold one.
 */
const briefMs = 25
/** The longer wait of one attempt in which the holder of the lock can be found out. */
const watchedMs = 250
/**
 * For how long the attempts of one that leads others wait as long as that. A wait in the queue of a lock whose holders
 * take turns ends with the lock; behind one that is held for minutes it would keep its connection, and what it has
 * locked. Those that lead after it have waited behind it for as long, so that their attempts are short.
 */
const leadingMs = 2000
/** When during that wait the server is asked for the holder. */
const lookAfterMs = 20
/** A wait without a limit is told again so long after it was told; others may hold the lock by then. */
const tellAgainMs = 60_000
const firstPauseMs = 20
const longestPauseMs = 200
/**
 * A wait without a limit takes this part of the time in which a lock was waited for already, up to the longest. An
 * autovacuum gives way to one that has waited for `deadlock_timeout`, a second by default.
 */
const unlimitedShare = 1 / 20
const longestUnlimitedMs = 5000
/**
 * Other transactions queue behind one that waits for the lock of a table: it leaves the table to them in between, for
 * two to four times as long.
 */
const pausesPerWait = 4

export interface LockPatienceOptions {
  /** How often the holder of a lock is looked for, and how a wait is reported; null: never. */
  readonly slow: SlowWatch | null
  /** The longest that an operation waits for locks; 0: no limit. Milliseconds. */
  readonly lockTimeoutMs: number
  /** For how long it has waited, with others behind it; absent: it has not waited, and leads none. Milliseconds. */
  readonly hasWaitedMs?: number | undefined
  readonly elapsedMs: () => number
  readonly random: () => number
}

/** How one attempt at a transaction waits for locks. */
export interface LockAttempt {
  /** The wait for one lock in milliseconds; null: the limit of other transactions. */
  readonly lockTimeoutMs: number | null
  /** When to look for the holder; null: not in this attempt; absent: as for other transactions. */
  readonly slow?: SlowWatch | null
}

/**
 * How one transaction behaves while another session holds a lock that it needs. It waits in the server's queue for a
 * moment only and is run again later: in between it holds no connection, no lock, and no place in a queue in which
 * others would wait behind it. The server shows the holder of a lock only while a process waits, so one attempt in each
 * `afterMs` waits a little longer, and the wait is reported once. Such an attempt also gets a lock that others of the
 * library hold in turn, so that it is never free.
 *
 * One behind which others of its process wait, who do not wait on the server, waits in the queue for longer at first:
 * where many processes want one row for a moment each, those that give up their places keep the processor from those
 * that hold it.
 *
 * One without a limit, as a migration is, would never end where the others always take longer than that moment. So it
 * waits longer the longer it has waited, and pauses longer in between. It is reported again each minute.
 */
export class LockPatience {
  readonly #options: LockPatienceOptions
  readonly #startedMs: number
  #attempts = 0
  #isTold = false
  #lookAtMs: number

  constructor(options: LockPatienceOptions) {
    this.#options = options
    this.#startedMs = options.elapsedMs() - (options.hasWaitedMs ?? 0)
    this.#lookAtMs = options.slow?.afterMs ?? Number.POSITIVE_INFINITY
  }

  /** `isCrowded`: others wait for the connection on which it would wait. */
  next({ isCrowded = false }: { readonly isCrowded?: boolean } = {}): LockAttempt {
    const { slow, lockTimeoutMs } = this.#options
    const waitedMs = this.#waitedMs()
    const waitMs = isCrowded ? this.#withinLimit(briefMs) : this.#waitMs(waitedMs)
    if (slow === null || waitedMs < this.#lookAtMs) return { lockTimeoutMs: waitMs, slow: null }
    this.#lookAtMs = waitedMs + slow.afterMs
    const longMs = Math.max(watchedMs, waitMs)
    if (this.#isTold) return { lockTimeoutMs: isCrowded ? waitMs : longMs, slow: null }
    return {
      lockTimeoutMs: longMs,
      slow: {
        afterMs: lookAfterMs,
        report: (statement) => {
          slow.report({
            ...statement,
            waitedMs: waitedMs + statement.waitedMs,
            onTold: () => {
              if (lockTimeoutMs > 0) this.#isTold = true
              else this.#lookAtMs = waitedMs + tellAgainMs
            },
          })
        },
      },
    }
  }

  /** How long to pause after a lock could not be had; null: the time is over. */
  pauseMs(): number | null {
    const { lockTimeoutMs, random } = this.#options
    const waitedMs = this.#waitedMs()
    if (lockTimeoutMs > 0 && waitedMs >= lockTimeoutMs) return null
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#attempts++, 10))
    const grownMs = lockTimeoutMs > 0 ? 0 : pausesPerWait * this.#waitMs(waitedMs)
    return Math.max(pauseMs, grownMs) * (0.5 + 0.5 * random())
  }

  /** How long one attempt waits for one lock. */
  #waitMs(waitedMs: number): number {
    const { hasWaitedMs, lockTimeoutMs } = this.#options
    if (hasWaitedMs !== undefined && waitedMs < leadingMs) return this.#withinLimit(watchedMs)
    if (lockTimeoutMs > 0) return this.#withinLimit(briefMs)
    return Math.max(briefMs, Math.min(longestUnlimitedMs, Math.round(waitedMs * unlimitedShare)))
  }

  #withinLimit(ms: number): number {
    const { lockTimeoutMs } = this.#options
    return lockTimeoutMs > 0 ? Math.min(ms, lockTimeoutMs) : ms
  }

  #waitedMs(): number {
    return this.#options.elapsedMs() - this.#startedMs
  }
}

/**
 * Whether a transaction that cannot get a lock soon is given up instead of waiting. Also one that locks nothing but the
 * row that it writes: run again after its whole wait, it would wait longer than the store says that it does.
 */
export function isGivenUp({ waitsInTurn }: LockingStrategy): boolean {
  return !waitsInTurn
}
