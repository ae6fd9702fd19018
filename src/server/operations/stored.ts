import { isBrokenRow, JobPersistenceError, type SchedulerError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { KeySet } from '../../core/key-set.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Trigger } from '../../triggers/trigger.ts'

/** What was read of many keys, and what could not be read. */
export interface Readable<Key extends JobKey | TriggerKey, Value> extends Unreadable {
  readonly found: KeyMap<Key, Value>
}

export interface Unreadable {
  readonly faults: readonly SchedulerError[]
  /** How many more there are, of which the store was not asked why. */
  readonly further: number
}

/** How many rows a refusal names of one kind. */
const namedMax = 20

/** The jobs of many keys, in few queries. @throws JobPersistenceError ERR_BROKEN_ROW */
export async function storedJobs(
  scheduler: Scheduler,
  keys: readonly JobKey[],
): Promise<KeyMap<JobKey, JobDetail>> {
  return whole(await readableJobs(scheduler, keys))
}

/** The triggers of many keys, in few queries. @throws JobPersistenceError ERR_BROKEN_ROW */
export async function storedTriggers(
  scheduler: Scheduler,
  keys: readonly TriggerKey[],
): Promise<KeyMap<TriggerKey, Trigger>> {
  return whole(await readableTriggers(scheduler, keys))
}

/** @throws JobPersistenceError ERR_BROKEN_ROW */
function whole<Key extends JobKey | TriggerKey, Value>(read: Readable<Key, Value>): KeyMap<Key, Value> {
  refuseUnreadable([read])
  return read.found
}

export function readableJobs(
  scheduler: Scheduler,
  keys: readonly JobKey[],
): Promise<Readable<JobKey, JobDetail>> {
  return readable<JobKey, JobDetail>(keys, {
    many: (some) => scheduler.getJobDetails(some),
    one: (key) => scheduler.getJobDetail(key),
    all: () => scheduler.getJobKeys(GroupMatcher.anyGroup()),
  })
}

export function readableTriggers(
  scheduler: Scheduler,
  keys: readonly TriggerKey[],
): Promise<Readable<TriggerKey, Trigger>> {
  return readable<TriggerKey, Trigger>(keys, {
    many: (some) => scheduler.getTriggers(some),
    one: (key) => scheduler.getTrigger(key),
    all: () => scheduler.getTriggerKeys(GroupMatcher.anyGroup()),
  })
}

/** Names all that cannot be read, so that they are mended at once. @throws JobPersistenceError ERR_BROKEN_ROW */
export function refuseUnreadable(reads: readonly Unreadable[]): void {
  const faults = reads.flatMap((read) => read.faults)
  const further = reads.reduce((sum, read) => sum + read.further, 0)
  const [first] = faults
  if (first === undefined) return
  if (faults.length + further === 1) throw first
  const texts = faults.map(({ message }) => message.replace(/\.?$/, '.'))
  if (further > 0) texts.push(`And ${further} more.`)
  const remedy = 'mend or delete them, unless they are in order for Java nodes'
  const message = `${faults.length + further} rows cannot be read; ${remedy}. ${texts.join(' ')}`
  throw new JobPersistenceError(message, { code: 'ERR_BROKEN_ROW', cause: first })
}

interface Reading<Key, Value> {
  readonly many: (keys: readonly Key[]) => Promise<readonly Value[]>
  readonly one: (key: Key) => Promise<Value | null>
  readonly all: () => Promise<readonly Key[]>
}

async function readable<Key extends JobKey | TriggerKey, Value extends { readonly key: Key }>(
  keys: readonly Key[],
  { many, one, all }: Reading<Key, Value>,
): Promise<Readable<Key, Value>> {
  const found = new KeyMap<Key, Value>()
  for (let from = 0; from < keys.length; from += 1000)
    for (const value of await many(keys.slice(from, from + 1000))) found.set(value.key, value)
  const missing = keys.filter((key) => !found.has(key))
  const there = new KeySet(missing.length === 0 ? [] : await all())
  const leftOut = missing.filter((key) => there.has(key))
  const faults: SchedulerError[] = []
  // What is there and cannot be read was left out without a word; asked for alone, the store says what is wrong.
  for (const [index, key] of leftOut.entries()) {
    if (faults.length === namedMax) return { found, faults, further: leftOut.length - index }
    const fault = await faultOf(() => one(key))
    if (fault !== null) faults.push(fault)
  }
  return { found, faults, further: 0 }
}

async function faultOf(read: () => Promise<unknown>): Promise<SchedulerError | null> {
  try {
    await read()
    return null
  } catch (error) {
    if (isBrokenRow(error)) return error
    throw error
  }
}
