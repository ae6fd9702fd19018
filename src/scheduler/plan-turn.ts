import type { AcquiredTrigger } from '../jobstore/job-store.ts'
import type { EpochMs } from '../time/clock.ts'

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
  if (state.halted) return claims ? { kind: 'release' } : { kind: 'end' }
  if (state.paused) return claims ? { kind: 'release' } : { kind: 'standby' }
  if (first !== undefined) return planHeld(state, first)
  if (state.elapsedMs < state.retryAtMs) return sleep(state, state.retryAtMs - state.elapsedMs)
  if (state.claimsUnknown) return { kind: 'release' }
  if (state.signal === null && state.elapsedMs < state.idleUntilMs) {
    return sleep(state, state.idleUntilMs - state.elapsedMs)
  }
  return { kind: 'acquire' }
}

function planHeld(state: TurnState, first: AcquiredTrigger): TurnDecision {
  const { held, nowMs, signal } = state
  const dueCount = countDue(held, nowMs)
  if (dueCount > 0) {
    const due = held.slice(0, dueCount)
    return due.some((acquired) => misfiredWhileHeld(state, acquired))
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
function misfiredWhileHeld(state: TurnState, { trigger }: AcquiredTrigger): boolean {
  const { nextFireTimeMs, misfireInstruction } = trigger
  if (nextFireTimeMs === null || misfireInstruction === 'ignore') return false
  const missedFromMs = nextFireTimeMs + state.misfireThresholdMs
  return state.nowMs >= missedFromMs && state.heldSinceMs < missedFromMs
}

function sleep(state: TurnState, delayMs: number): TurnDecision {
  return { kind: 'sleep', delayMs: Math.min(delayMs, state.idleWaitMs) }
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
