import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import { endedSharding, groupsOfParts, OpenFirings, type SplitFiring } from '../../../split-firing.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { LoadedSplitFirings } from '../../tables/firings/split-firing-table.ts'
import type { HistoryEntry } from '../../tables/history/history-rows.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import type { TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { type LockedRows, storeNewTriggers } from './new-triggers.ts'
import { uniqueKeys } from './settling.ts'

/** The open firings of jobs that this transaction has locked. Jobs without one are left out. */
export function* loadOpenFirings(
  tx: SqlTransaction,
  jobKeys: readonly JobKey[],
): SqlProgram<KeyMap<JobKey, OpenFirings>> {
  if (jobKeys.length === 0) return new KeyMap()
  return yield* openFiringsOf(tx, jobKeys, yield* tx.session.splitFirings.load(jobKeys))
}

/** The same, of rows that were read under the lock; those of other jobs are left as they are. */
export function* openFiringsOf(
  tx: SqlTransaction,
  jobKeys: readonly JobKey[],
  { found, broken }: LoadedSplitFirings,
): SqlProgram<KeyMap<JobKey, OpenFirings>> {
  const open = new KeyMap<JobKey, OpenFirings>()
  for (const key of jobKeys) {
    const firings = found.get(key)
    if (firings !== undefined) open.set(key, new OpenFirings(firings))
  }
  const lost = broken.filter(({ jobKey }) => jobKeys.some((key) => key.equals(jobKey)))
  for (const { fireInstanceId, error } of lost) {
    tx.signals.add(
      'storeError',
      `The sharded firing '${fireInstanceId}' cannot be read: it is given up.`,
      error,
    )
  }
  yield* tx.session.splitFirings.delete(lost.map(({ fireInstanceId }) => fireInstanceId))
  return open
}

/**
 * Writes down what has changed in the open firings of locked jobs: stores the triggers of items that were given out,
 * and settles the firings whose items have all ended.
 */
export function* writeOpenFirings(
  tx: SqlTransaction,
  open: KeyMap<JobKey, OpenFirings>,
  locked: Pick<LockedRows, 'jobs' | 'paused'>,
): SqlProgram<void> {
  yield* writeSettled(tx, settleOpenFirings(tx, open), locked)
}

/** What has changed in the open firings of jobs, and is to be written down. */
export type Settled = ReturnType<OpenFirings['settle']>

/** Gives out the items that are free, and takes out the firings that have ended. */
export function settleOpenFirings({ nowMs }: SqlTransaction, open: KeyMap<JobKey, OpenFirings>): Settled {
  const each = open.values().map((firings) => firings.settle(nowMs))
  return {
    changed: each.flatMap(({ changed }) => changed),
    over: each.flatMap(({ over }) => over),
    carriers: each.flatMap(({ carriers }) => carriers),
  }
}

export function* writeSettled(
  tx: SqlTransaction,
  { changed, over, carriers }: Settled,
  { jobs, paused = null }: Pick<LockedRows, 'jobs' | 'paused'>,
): SqlProgram<void> {
  const { splitFirings, history } = tx.session
  yield* storeNewTriggers(tx, carriers, { existing: new KeyMap(), jobs, paused })
  yield* splitFirings.put(changed)
  noteOwners(tx, changed)
  if (over.length === 0) return
  yield* splitFirings.delete(over.map(({ fireInstanceId }) => fireInstanceId))
  const lines: HistoryEntry[] = []
  for (const firing of over) {
    const ended = endedSharding(firing, tx.nowMs)
    tx.signals.add('allShardsDone', ended)
    const { jobType, node, fireTimeMs } = firing
    lines.push({ ...ended, jobType, node, attempt: 1, recovering: false, beganTimeMs: fireTimeMs })
  }
  yield* history.insert(lines)
}

/** A node may join, take part and leave between two check-ins of this one, which would never have seen it. */
function noteOwners({ notes, session }: SqlTransaction, firings: readonly SplitFiring[]): void {
  const owners = firings
    .filter(({ isBroadcast }) => isBroadcast)
    .flatMap(({ items }) => items.filter(({ state }) => state !== 'ended').map(({ owner }) => owner))
  if (!session.clustered || owners.length === 0) return
  notes.add(() => {
    for (const owner of owners) session.itemOwners.add(owner)
  })
}

/** Ends items of locked jobs as lost, of triggers among these that the transaction has deleted. */
export function* endLostItemsOf(
  tx: SqlTransaction,
  deleted: readonly TriggerRef[],
  jobs: KeyMap<JobKey, JobRef>,
): SqlProgram<void> {
  const ofParts = deleted.filter(({ key }) => groupsOfParts.includes(key.group))
  const open = yield* loadOpenFirings(tx, uniqueKeys(ofParts.map(({ jobKey }) => jobKey)))
  if (open.size === 0) return
  yield* endLostItems(tx, open.values(), null)
  yield* writeOpenFirings(tx, open, { jobs })
}

/**
 * Ends items as lost whose triggers exist no more, because a user has deleted them, or will never fire, because a
 * broadcast has bound them to a node that is gone. `liveNodes` is null where nodes do not matter.
 */
export function* endLostItems(
  tx: SqlTransaction,
  open: readonly OpenFirings[],
  liveNodes: readonly string[] | null,
): SqlProgram<void> {
  const { firedTriggers, keyLists, triggers } = tx.session
  const isGone = (node: string): boolean => liveNodes !== null && !liveNodes.includes(node)
  for (const firings of open) firings.endHeldOf(isGone)
  const carriers = open.flatMap((firings) => firings.carriers())
  if (carriers.length === 0) return
  // Triggers first: one that is gone between the two has a row, or has ended under the lock of its job.
  const existing = yield* keyLists.jobsOfTriggers(carriers)
  const rows = yield* firedTriggers.ofTriggers(carriers)
  const running = new KeySet(rows.map(({ triggerKey }) => triggerKey))
  const stranded: TriggerKey[] = []
  for (const firings of open) {
    for (const { isBroadcast, items } of firings.all) {
      for (const { triggerKey, owner } of items) {
        if (triggerKey === null || running.has(triggerKey)) continue
        const isStranded = isBroadcast && isGone(owner)
        if (!isStranded && existing.has(triggerKey)) continue
        if (isStranded) stranded.push(triggerKey)
        firings.end(triggerKey, 'lost', null)
      }
    }
  }
  if (stranded.length > 0) yield* triggers.delete(yield* triggers.lock(stranded))
}
