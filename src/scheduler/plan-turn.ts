import type { AcquiredTrigger } from '../jobstore/job-store.ts'
import type { EpochMs } from '../time/clock.ts'
import type { LockedClaim } from './locked-claims.ts'

/** Everything that the decision of one turn of the loop depends on. */
export interface TurnState {
  readonly halted: boolean
  readonly paused: boolean
  /** Claimed triggers in order of fire time. */
  readonly held: readonly AcquiredTrigger[]
  /** An answer of the store was lost: the store may hold claims of this node that the loop does not know. */
  readonly claimsUnknown: boolean
  /** Wall clock when the loop asked for them. */
  readonly heldSinceMs: EpochMs
  /** Claims that could not be fired or released because of another session's lock. */
  readonly aside: {
    readonly claims: readonly LockedClaim[]
    /** Monotonic time of the next try. */
    readonly retryAtMs: number
    /** For how many of them there is a free slot, when each held claim has one. */
    readonly maxCount: number
  }
  /** A scheduling change since the last acquisition: its earliest candidate time, null for "soon". */
  readonly signal: { readonly candidateMs: EpochMs | null } | null
  readonly nowMs: EpochMs
  /** Monotonic now. */
  readonly elapsedMs: number
  /** After a failure of the store, the loop does not ask it before this monotonic time. */
  readonly retryAtMs: number
  /** The last acquisition found nothing: the loop asks again at this monotonic time, or when signalled. */
  readonly idleUntilMs: number
  /**
   * While claims are held, the loop asks for further ones at this monotonic time; infinite when there is no reason to.
   */
  readonly lookAtMs: number
  readonly idleWaitMs: number
  /** Whether claims on earlier triggers may be added to the held ones: a thread is free, and giving back is dear. */
  readonly mayAdd: boolean
  /** With less than this to wait, the loop keeps its claims even when an earlier trigger is signalled. */
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
 * `idleWaitMs`, so that number bounds what a clock that jumps ahead and a lost signal cost.
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

/**
 * Claims that were locked are fired when they are due and have a slot, and released otherwise: one that is due and has
 * no slot here may have one at another node.
 */
function planAside(state: TurnState): TurnDecision | null {
  const { aside, elapsedMs, nowMs } = state
  if (aside.claims.length === 0 || elapsedMs < Math.max(aside.retryAtMs, state.retryAtMs)) return null
  const isFirable = ({ acquired, sinceMs }: LockedClaim): boolean =>
    !state.paused && fireTimeMs(acquired) <= nowMs && !misfiredSince(state, acquired, sinceMs)
  const firable = aside.claims.filter(isFirable)
  const others = aside.claims.filter((claim) => !isFirable(claim))
  return {
    kind: 'retry',
    fire: firable.slice(0, aside.maxCount),
    giveBack: [...others, ...firable.slice(aside.maxCount)],
  }
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
  const restMs = state.retryAtMs - state.elapsedMs
  // What the store may have claimed, and what it may have left due, before its answer was lost waits for a new look.
  const isUnsure = state.claimsUnknown && restMs <= 0
  if ((overtaken || isUnsure) && remainingMs >= state.switchThresholdMs) {
    // After a change of unknown time, the held claims may not be the right ones any more.
    const isEarlier = typeof signal?.candidateMs === 'number' && !state.claimsUnknown
    const adds = state.mayAdd && isEarlier && state.elapsedMs >= state.retryAtMs
    return { kind: adds ? 'acquire' : 'release' }
  }
  if (state.claimsUnknown) return sleep(state, restMs > 0 ? Math.min(remainingMs, restMs) : remainingMs)
  if (state.elapsedMs >= Math.max(state.lookAtMs, state.retryAtMs)) return { kind: 'acquire' }
  return sleep(state, Math.min(remainingMs, Math.max(state.lookAtMs, state.retryAtMs) - state.elapsedMs))
}

/**
 * After a suspension of the process or a jump of the clock, a claim can be late enough for its misfire policy, which
 * the store applies at the next acquisition. A claim that was late when it was acquired has been through the policy.
 */
function misfiredSince(state: TurnState, { trigger }: AcquiredTrigger, sinceMs: EpochMs): boolean {
  const { nextFireTimeMs, misfireInstruction } = trigger
  if (nextFireTimeMs === null || misfireInstruction === 'ignore') return false
  const missedFromMs = nextFireTimeMs + state.misfireThresholdMs
  return state.nowMs >= missedFromMs && sinceMs < missedFromMs
}

function sleep(state: TurnState, delayMs: number): TurnDecision {
  const { aside, elapsedMs, idleWaitMs } = state
  const untilRetryMs = Math.max(aside.retryAtMs, state.retryAtMs) - elapsedMs
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
  // A claimed trigger always has a next fire time. Without one it would count as due, and the store would answer that
  // it is gone.
  return acquired.trigger.nextFireTimeMs ?? Number.NEGATIVE_INFINITY
}
