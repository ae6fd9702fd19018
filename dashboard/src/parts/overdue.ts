import type { TriggerSummaryJson } from '../../../src/server/wire/triggers.ts'

/** Triggers that are due for so long wait for a thread, or for a node that fires. */
const overdueMs = 60_000

/** Whether a trigger should have fired when the server looked. */
export function isOverdue(
  { state, nextFireTimeMs }: Pick<TriggerSummaryJson, 'state' | 'nextFireTimeMs'>,
  lookedMs: number,
): boolean {
  return state === 'NORMAL' && nextFireTimeMs !== null && nextFireTimeMs < overdueBefore(lookedMs)
}

/** What waits for an instant before this one is overdue. */
export function overdueBefore(nowMs: number): number {
  return Math.floor(nowMs) - overdueMs
}
