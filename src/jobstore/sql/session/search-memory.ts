import type { EpochMs } from '../../../time/clock.ts'
import type { PassedTriggers } from './passed-triggers.ts'

/**
 * What searches of this node have learned, so that the next one need not find it out again. A search works on copies;
 * what it learned is kept once it was committed.
 */
export interface SearchMemory {
  /** Job types that were met and have no code here: their triggers are left to other nodes. */
  unknownJobTypes: ReadonlySet<string>
  /** Whether a job was met that only some nodes are to run. */
  affinityIsUsed: boolean
  readonly passed: PassedTriggers
  /** When late triggers last had their turn. */
  misfiresTreatedAtMs: EpochMs
}
