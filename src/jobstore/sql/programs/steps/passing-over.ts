import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import { type SqlProgram, together } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import type { TriggerRef } from '../../tables/triggers/trigger-table.ts'

const noJobs: KeySet<JobKey> = new KeySet()

/** The rows that could be locked, because no other session has locked them. */
export interface TriedLocks<Key extends JobKey | TriggerKey, Ref> {
  readonly found: KeyMap<Key, Ref>
  /** Existing rows that another session has locked. */
  readonly locked: KeySet<Key>
}

/** @param withData the jobs among the keys whose data are read as well */
export function* tryLockJobs(
  { session: { jobs } }: SqlTransaction,
  keys: readonly JobKey[],
  withData: KeySet<JobKey> = noJobs,
): SqlProgram<TriedLocks<JobKey, JobRef>> {
  const found = new KeyMap<JobKey, JobRef>()
  if (keys.length === 0) return { found, locked: new KeySet() }
  if (withData.size === 0) {
    for (const ref of yield* jobs.tryLock(keys)) found.set(ref.key, ref)
  } else {
    const others = keys.filter((key) => !withData.has(key))
    const [whole, bare] = yield* together(jobs.tryLockWithData(withData.keys()), jobs.tryLock(others))
    for (const ref of [...whole, ...bare]) found.set(ref.key, ref)
  }
  const missing = keys.filter((key) => !found.has(key))
  return { found, locked: new KeySet(missing.length === 0 ? [] : yield* jobs.existing(missing)) }
}

export function* tryLockTriggers(
  { session: { triggers, keyLists } }: SqlTransaction,
  keys: readonly TriggerKey[],
): SqlProgram<TriedLocks<TriggerKey, TriggerRef>> {
  const found = new KeyMap<TriggerKey, TriggerRef>()
  if (keys.length === 0) return { found, locked: new KeySet() }
  for (const ref of yield* triggers.tryLock(keys)) found.set(ref.key, ref)
  const missing = keys.filter((key) => !found.has(key))
  return {
    found,
    locked: new KeySet(missing.length === 0 ? [] : (yield* keyLists.jobsOfTriggers(missing)).keys()),
  }
}
