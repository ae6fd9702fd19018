import type { FireSlot } from '../fire-slot.ts'
import type { TriggerFiredBundle } from '../fired-bundle.ts'
import type { JobAndTriggers } from '../job-and-triggers.ts'
import type { OpenStore } from './open-store.ts'

/** Stores a trigger, and fires it in the same transaction unless this node may claim nothing now. */
export async function scheduleAndFire(
  { connection, scheduleWriter, transactions }: OpenStore,
  entry: JobAndTriggers,
  slot: FireSlot,
): Promise<TriggerFiredBundle | null> {
  const mayClaim = (): boolean => connection.mayClaim === undefined || connection.mayClaimNow?.() === true
  const careful: FireSlot = {
    dueByMs: slot.dueByMs,
    reserve: () => mayClaim() && slot.reserve(),
    release: () => {
      slot.release()
    },
  }
  return transactions.session.ledger.during(
    () => scheduleWriter.scheduleAndFire(entry, careful),
    (fired) => (fired === null ? [] : [fired.fireInstanceId]),
  )
}
