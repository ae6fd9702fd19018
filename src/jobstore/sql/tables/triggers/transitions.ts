import {
  nextTriggerState,
  type StoredTriggerState,
  storedTriggerStates,
  type TriggerAction,
} from '../../../trigger-state.ts'

/** The states in which an action does something, as a list for `IN (...)`. */
export function statesBefore(action: TriggerAction): string {
  return statesChangedBy(action)
    .map(([before]) => `'${before}'`)
    .join(', ')
}

/** An expression for the state after an action; meant for rows whose state is in {@link statesBefore}. */
export function stateAfter(action: TriggerAction, column: string): string {
  const cases = statesChangedBy(action).map(([before, after]) => `WHEN '${before}' THEN '${after}'`)
  return `CASE ${column} ${cases.join(' ')} ELSE ${column} END`
}

function statesChangedBy(action: TriggerAction): [StoredTriggerState, StoredTriggerState][] {
  return storedTriggerStates.flatMap((before): [StoredTriggerState, StoredTriggerState][] => {
    const after = nextTriggerState(before, action)
    return after === null ? [] : [[before, after]]
  })
}
