import { compareFireOrder } from '../triggers/trigger.ts'
import type { AcquiredTrigger } from './job-store.ts'

/** Claims in the order in which they fire: late triggers that ignore it may have been found behind others. */
export function inFireOrder(claims: AcquiredTrigger[]): AcquiredTrigger[] {
  return claims.sort((a, b) => compareFireOrder(a.trigger, b.trigger))
}
