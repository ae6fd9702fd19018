import type { EpochMs } from '../../../time/clock.ts'
import type { PassedTriggers } from './passed-triggers.ts'

/**
 * What searches of this node have found out, for the next one. A search works on copies, which replace this memory
 * after its commit.
 */
export interface SearchMemory {
  /** Job types that were found and have no code on this node: their triggers are left to other nodes. */
  unknownJobTypes: ReadonlySet<string>
  /** Whether a job was found that only some nodes are to run. */
  affinityIsUsed: boolean
  /** Whether another session held the row of a schedule. */
  schedulesAreHeld: boolean
  readonly passed: PassedTriggers
  /** When late triggers were last handled. */
  misfiresTreatedAtMs: EpochMs
}
