import type { JobKey, TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { KeySet } from '../../core/key-set.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Trigger } from '../../triggers/trigger.ts'

/** The jobs of many keys, in few queries. @throws JobPersistenceError ERR_BROKEN_ROW */
export function storedJobs(
  scheduler: Scheduler,
  keys: readonly JobKey[],
): Promise<KeyMap<JobKey, JobDetail>> {
  return stored<JobKey, JobDetail>(keys, {
    many: (some) => scheduler.getJobDetails(some),
    one: (key) => scheduler.getJobDetail(key),
    all: () => scheduler.getJobKeys(GroupMatcher.anyGroup()),
  })
}

/** The triggers of many keys, in few queries. @throws JobPersistenceError ERR_BROKEN_ROW */
export function storedTriggers(
  scheduler: Scheduler,
  keys: readonly TriggerKey[],
): Promise<KeyMap<TriggerKey, Trigger>> {
  return stored<TriggerKey, Trigger>(keys, {
    many: (some) => scheduler.getTriggers(some),
    one: (key) => scheduler.getTrigger(key),
    all: () => scheduler.getTriggerKeys(GroupMatcher.anyGroup()),
  })
}

interface Reading<Key, Value> {
  readonly many: (keys: readonly Key[]) => Promise<readonly Value[]>
  readonly one: (key: Key) => Promise<Value | null>
  readonly all: () => Promise<readonly Key[]>
}

async function stored<Key extends JobKey | TriggerKey, Value extends { readonly key: Key }>(
  keys: readonly Key[],
  { many, one, all }: Reading<Key, Value>,
): Promise<KeyMap<Key, Value>> {
  const found = new KeyMap<Key, Value>()
  for (let from = 0; from < keys.length; from += 1000)
    for (const value of await many(keys.slice(from, from + 1000))) found.set(value.key, value)
  const missing = keys.filter((key) => !found.has(key))
  const there = new KeySet(missing.length === 0 ? [] : await all())
  // What is there and cannot be read was left out without a word; asked for alone, the store says what is wrong.
  for (const key of missing) if (there.has(key)) await one(key)
  return found
}
