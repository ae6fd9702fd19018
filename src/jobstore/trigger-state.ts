/**
 * The states of a stored trigger, as data. The RAM store executes this table, the guards of SQL statements are made of
 * it, the docs print it and a property test walks it.
 */
export const storedTriggerStates = [
  'WAITING',
  'ACQUIRED',
  'BLOCKED',
  'PAUSED',
  'PAUSED_BLOCKED',
  'COMPLETE',
  'ERROR',
] as const
export type StoredTriggerState = (typeof storedTriggerStates)[number]

/** What can happen to a stored trigger. */
export const triggerActions = [
  /** A scheduler claims it for its next fire time. */
  'acquire',
  /** The claim is released unfired. */
  'release',
  /** It fired and has a next fire time. */
  'fire',
  /** It fired for the last time. */
  'fireLast',
  /** Its job forbids concurrent execution and began to run. */
  'block',
  /** That execution ended. */
  'unblock',
  'pause',
  'resume',
  /** It will not fire again: an instruction said so, or a misfire left no next time. */
  'complete',
  /** It cannot be fired in its present form. */
  'fail',
  /** An operator cleared the error. */
  'reset',
  /** Its calendar was replaced and it has a fire time again. */
  'revive',
] as const
export type TriggerAction = (typeof triggerActions)[number]

/** State before -> state after. */
export type StateChanges = Readonly<Partial<Record<StoredTriggerState, StoredTriggerState>>>

/** action -> (state before -> state after). A state that is missing means: the action does nothing there. */
export const triggerTransitions: Readonly<Record<TriggerAction, StateChanges>> = {
  acquire: { WAITING: 'ACQUIRED' },
  release: { ACQUIRED: 'WAITING' },
  fire: { ACQUIRED: 'WAITING' },
  fireLast: { ACQUIRED: 'COMPLETE' },
  block: { WAITING: 'BLOCKED', ACQUIRED: 'BLOCKED', PAUSED: 'PAUSED_BLOCKED' },
  unblock: { BLOCKED: 'WAITING', PAUSED_BLOCKED: 'PAUSED' },
  pause: { WAITING: 'PAUSED', ACQUIRED: 'PAUSED', BLOCKED: 'PAUSED_BLOCKED' },
  resume: { PAUSED: 'WAITING', PAUSED_BLOCKED: 'BLOCKED' },
  complete: {
    WAITING: 'COMPLETE',
    ACQUIRED: 'COMPLETE',
    BLOCKED: 'COMPLETE',
    PAUSED: 'COMPLETE',
    PAUSED_BLOCKED: 'COMPLETE',
    ERROR: 'COMPLETE',
  },
  fail: {
    WAITING: 'ERROR',
    ACQUIRED: 'ERROR',
    BLOCKED: 'ERROR',
    PAUSED: 'ERROR',
    PAUSED_BLOCKED: 'ERROR',
    COMPLETE: 'ERROR',
  },
  reset: { ERROR: 'WAITING' },
  revive: { COMPLETE: 'WAITING' },
}

/** The state after an action, or null when the action does nothing in this state. */
export function nextTriggerState(
  state: StoredTriggerState,
  action: TriggerAction,
): StoredTriggerState | null {
  return triggerTransitions[action][state] ?? null
}

/** Whether `resume` leaves this state. */
export function isPausedState(state: StoredTriggerState): boolean {
  return nextTriggerState(state, 'resume') !== null
}

/**
 * Whether a trigger stays in this state when it is left no fire time, by a new calendar or because its last one is left
 * out: an error and a pause are of the trigger until somebody ends them, and a calendar may give it a time again.
 */
export function staysWithoutTime(state: StoredTriggerState): boolean {
  return state === 'ERROR' || isPausedState(state)
}

export const triggerStates = ['NONE', 'NORMAL', 'PAUSED', 'COMPLETE', 'ERROR', 'BLOCKED'] as const
/** The state of a trigger as users see it. */
export type TriggerState = (typeof triggerStates)[number]

const reported: Readonly<Record<StoredTriggerState, TriggerState>> = {
  WAITING: 'NORMAL',
  ACQUIRED: 'NORMAL',
  BLOCKED: 'BLOCKED',
  PAUSED: 'PAUSED',
  PAUSED_BLOCKED: 'PAUSED',
  COMPLETE: 'COMPLETE',
  ERROR: 'ERROR',
}

export function reportedTriggerState(state: StoredTriggerState): TriggerState {
  return reported[state]
}
