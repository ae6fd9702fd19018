import type { AcquiredTrigger } from '../jobstore/job-store.ts'
import type { EpochMs } from '../time/clock.ts'
import type { LockedClaim } from './locked-claims.ts'

/** Everything that one turn of the loop decides on. */
export interface TurnState {
  readonly halted: boolean
  readonly paused: boolean
  /** Claimed triggers in order of fire time. */
  readonly held: readonly AcquiredTrigger[]
  /** An answer of the store was lost: it may hold claims for us that we do not know. */
  readonly claimsUnknown: boolean
  /** Wall clock when they were asked for. */
  readonly heldSinceMs: EpochMs
  /** Claims that another session's lock was in the way of. */
  readonly aside: {
    readonly claims: readonly LockedClaim[]
    /** Monotonic time of the next try. */
    readonly retryAtMs: number
    /** How many of them there are slots for, besides those for what is held. */
    readonly maxCount: number
  }
  /** A scheduling change since the last acquisition: its earliest candidate time, null for "soon". */
  readonly signal: { readonly candidateMs: EpochMs | null } | null
  readonly nowMs: EpochMs
  /** Monotonic now. */
  readonly elapsedMs: number
  /** Do not ask the store before this monotonic time: it failed, and deserves a pause. */
  readonly retryAtMs: number
  /** The last acquisition found nothing: ask again at this monotonic time, or when signalled. */
  readonly idleUntilMs: number
  /** Beside what is held, ask again at this monotonic time; infinite when there is no reason to. */
  readonly lookAtMs: number
  readonly idleWaitMs: number
  /** With less than this to wait, claims are kept even when something earlier turns up. */
  readonly switchThresholdMs: number
  /** A trigger that is later than this goes through its misfire policy. */
  readonly misfireThresholdMs: number
}

export type TurnDecision =
  | { readonly kind: 'end' }
  | { readonly kind: 'standby' }
  /** Give the claims back and look again. */
  | { readonly kind: 'release' }
  | {
      readonly kind: 'fire'
      readonly due: readonly AcquiredTrigger[]
      readonly rest: readonly AcquiredTrigger[]
    }
  /** Try again what was locked. */
  | {
      readonly kind: 'retry'
      readonly fire: readonly LockedClaim[]
      readonly giveBack: readonly LockedClaim[]
    }
  /** Ask the store: for the next batch, or for what comes before the claims that are held. */
  | { readonly kind: 'acquire' }
  | { readonly kind: 'sleep'; readonly delayMs: number }

/**
 * Decides what the loop does next. Pure: no clock is read and nothing is changed here.
 *
 * Claims never outlive a halt or a standby; a trigger never fires before its time; no sleep is longer than
 * `idleWaitMs`, so clock jumps and lost signals are bounded by that one number.
 */
export function planTurn(state: TurnState): TurnDecision {
  const first = state.held[0]
  const claims = first !== undefined || state.claimsUnknown
  if (state.halted) return claims || state.aside.claims.length > 0 ? { kind: 'release' } : { kind: 'end' }
  if (state.paused && claims) return { kind: 'release' }
  const retry = planAside(state)
  if (retry !== null) return retry
  if (state.paused)
    return state.aside.claims.length > 0 ? sleep(state, state.idleWaitMs) : { kind: 'standby' }
  if (first !== undefined) return planHeld(state, first)
  if (state.elapsedMs < state.retryAtMs) return sleep(state, state.retryAtMs - state.elapsedMs)
  if (state.claimsUnknown) return { kind: 'release' }
  if (state.signal === null && state.elapsedMs < state.idleUntilMs) {
    return sleep(state, state.idleUntilMs - state.elapsedMs)
  }
  return { kind: 'acquire' }
}

/** What was locked is fired when it is due and there is a slot, and else given back. */
function planAside(state: TurnState): TurnDecision | null {
  const { aside, elapsedMs, nowMs } = state
  if (aside.claims.length === 0 || elapsedMs < Math.max(aside.retryAtMs, state.retryAtMs)) return null
  const isFirable = ({ acquired, sinceMs }: LockedClaim): boolean =>
    !state.paused && fireTimeMs(acquired) <= nowMs && !misfiredSince(state, acquired, sinceMs)
  const giveBack = aside.claims.filter((claim) => !isFirable(claim))
  const fire = aside.claims.filter(isFirable).slice(0, Math.max(0, aside.maxCount))
  return fire.length + giveBack.length > 0 ? { kind: 'retry', fire, giveBack } : null
}

function planHeld(state: TurnState, first: AcquiredTrigger): TurnDecision {
  const { held, nowMs, signal } = state
  const dueCount = countDue(held, nowMs)
  if (dueCount > 0) {
    const due = held.slice(0, dueCount)
    return due.some((acquired) => misfiredSince(state, acquired, state.heldSinceMs))
      ? { kind: 'release' }
      : { kind: 'fire', due, rest: held.slice(dueCount) }
  }
  const remainingMs = fireTimeMs(first) - nowMs
  const overtaken = signal !== null && (signal.candidateMs === null || signal.candidateMs < fireTimeMs(first))
  if (overtaken && remainingMs >= state.switchThresholdMs) return { kind: 'release' }
  if (state.elapsedMs >= Math.max(state.lookAtMs, state.retryAtMs)) return { kind: 'acquire' }
  return sleep(state, Math.min(remainingMs, Math.max(state.lookAtMs, state.retryAtMs) - state.elapsedMs))
}

/**
 * A process that was suspended, or a clock that jumped, can make a claim late enough for the misfire policy, which
 * the store applies when it is asked again. What was late already when it was claimed has been through it.
 */
function misfiredSince(state: TurnState, { trigger }: AcquiredTrigger, sinceMs: EpochMs): boolean {
  const { nextFireTimeMs, misfireInstruction } = trigger
  if (nextFireTimeMs === null || misfireInstruction === 'ignore') return false
  const missedFromMs = nextFireTimeMs + state.misfireThresholdMs
  return state.nowMs >= missedFromMs && sinceMs < missedFromMs
}

function sleep(state: TurnState, delayMs: number): TurnDecision {
  const { aside, elapsedMs, idleWaitMs } = state
  // When its time has come and it is not tried, it waits for a slot, or for the store to have rested.
  const untilRetryMs = aside.retryAtMs > elapsedMs ? aside.retryAtMs - elapsedMs : Number.POSITIVE_INFINITY
  return { kind: 'sleep', delayMs: Math.min(delayMs, idleWaitMs, untilRetryMs) }
}

function countDue(held: readonly AcquiredTrigger[], nowMs: EpochMs): number {
  let count = 0
  while (count < held.length) {
    const acquired = held[count]
    if (acquired === undefined || fireTimeMs(acquired) > nowMs) break
    count++
  }
  return count
}

function fireTimeMs(acquired: AcquiredTrigger): EpochMs {
  // A claimed trigger always has a next fire time; one without would be due at once and answered as gone.
  return acquired.trigger.nextFireTimeMs ?? Number.NEGATIVE_INFINITY
}
