import { compareKeys, type JobKey, type TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { compareFireOrder } from '../../triggers/trigger.ts'
import { asSeen } from '../ended-trigger.ts'
import {
  type FirePlace,
  firePageOf,
  type JobQuery,
  type JobSummary,
  lowerAscii,
  type NextTriggerQuery,
  nextTriggerStates,
  type Page,
  type PageRequest,
  pageOf,
  pageSize,
  statesOf,
  type TriggerConditions,
  type TriggerCounts,
  type TriggerQuery,
  type TriggerSummary,
} from '../queries.ts'
import { reportedTriggerState, type TriggerState } from '../trigger-state.ts'
import type { KeyIndex } from './key-index.ts'
import type { RamData } from './ram-data.ts'
import type { JobRecord, TriggerRecord } from './records.ts'

export function queryJobs(data: RamData, query: JobQuery): Page<JobSummary, JobKey> {
  const { jobType, search } = query
  const size = pageSize('queryJobs', query)
  const isAmongGroups = amongOf(query.jobGroups)
  const holds = holdsOf(search)
  const accepts = ({ detail }: JobRecord): boolean =>
    (jobType === undefined || detail.jobType === jobType) &&
    isAmongGroups(detail.key.group) &&
    holds(() => [detail.key.name, detail.key.group, detail.jobType, detail.description])
  return pageOf(
    firstOfIndex(data.jobs, query, accepts, size + 1).map((job) => jobSummary(data, job)),
    size,
  )
}

export function queryTriggers(data: RamData, query: TriggerQuery): Page<TriggerSummary, TriggerKey> {
  const { group = GroupMatcher.anyGroup(), jobKey, after } = query
  const size = pageSize('queryTriggers', query)
  const accepts = acceptsTrigger(data, query, statesOf(query))
  const firstOfJob = (key: JobKey): TriggerRecord[] => {
    const ofJob = data.jobs.get(key)?.triggers() ?? []
    const rest = ofJob.filter(
      (record) =>
        group.isMatch(record.trigger.key) &&
        (after === undefined || compareKeys(record.trigger.key, after) > 0) &&
        accepts(record),
    )
    return rest.sort((a, b) => compareKeys(a.trigger.key, b.trigger.key)).slice(0, size + 1)
  }
  const found =
    jobKey === undefined ? firstOfIndex(data.triggers, query, accepts, size + 1) : firstOfJob(jobKey)
  return pageOf(
    found.map((record) => triggerSummary(data, record)),
    size,
  )
}

/** One pass over the triggers: the queue has no more than the first trigger of each job that forbids concurrency. */
export function queryNextTriggers(data: RamData, query: NextTriggerQuery): Page<TriggerSummary, FirePlace> {
  const { group, jobKey, after } = query
  const size = pageSize('queryNextTriggers', query)
  const accepts = acceptsTrigger(data, query, nextTriggerStates)
  const records =
    jobKey === undefined ? data.triggers.values(group) : (data.jobs.get(jobKey)?.triggers() ?? [])
  const first = new FirstOf<TriggerRecord>(size + 1, (a, b) => compareFireOrder(a.trigger, b.trigger))
  for (const record of records) {
    const { trigger } = record
    if (trigger.nextFireTimeMs === null || group?.isMatch(trigger.key) === false || !accepts(record)) continue
    if (after === undefined || compareFireOrder(trigger, after) > 0) first.add(record)
  }
  const found = first.inOrder().map((record) => triggerSummary(data, record))
  return firePageOf(found, size)
}

/** How many triggers there are of each state. */
export function triggerCounts(data: RamData): TriggerCounts {
  const counts: Partial<Record<TriggerState, number>> = {}
  for (const record of data.triggers.values()) {
    const state = reportedTriggerState(data.stateOf(record))
    counts[state] = (counts[state] ?? 0) + 1
  }
  return counts
}

/** Whether a trigger fits all conditions except for its own group. */
function acceptsTrigger(
  data: RamData,
  { name, jobKey, jobGroups, jobType, calendarName, dueBefore, search }: TriggerConditions,
  states: readonly TriggerState[] | null,
): (record: TriggerRecord) => boolean {
  const isAmongGroups = amongOf(jobGroups)
  const holds = holdsOf(search)
  const dueBeforeMs = dueBefore?.getTime() ?? Number.POSITIVE_INFINITY
  const isDue = ({ trigger, state }: TriggerRecord): boolean => {
    if (dueBefore === undefined) return true
    const { nextFireTimeMs } = asSeen(trigger, state)
    return nextFireTimeMs !== null && nextFireTimeMs < dueBeforeMs
  }
  return (record) => {
    const { trigger } = record
    const { key, jobType: typeOfJob } = record.job.detail
    return (
      (name === undefined || trigger.key.name === name) &&
      (calendarName === undefined || trigger.calendarName === calendarName) &&
      (jobKey === undefined || key.equals(jobKey)) &&
      (jobType === undefined || typeOfJob === jobType) &&
      isAmongGroups(key.group) &&
      isDue(record) &&
      (states === null || states.includes(reportedTriggerState(data.stateOf(record)))) &&
      holds(() => [trigger.key.name, trigger.key.group, trigger.description, key.name])
    )
  }
}

function amongOf(groups: readonly string[] | undefined): (group: string) => boolean {
  if (groups === undefined) return () => true
  const among = new Set(groups)
  return (group) => among.has(group)
}

/** Whether one of the texts holds what is sought. */
function holdsOf(search: string | undefined): (texts: () => readonly (string | null)[]) => boolean {
  if (search === undefined || search === '') return () => true
  const sought = lowerAscii(search)
  return (texts) => texts().some((text) => text !== null && lowerAscii(text).includes(sought))
}

/** The first few of many, in an order: what comes later is let go from time to time. */
class FirstOf<Item> {
  readonly #count: number
  readonly #compare: (a: Item, b: Item) => number
  #items: Item[] = []
  #last: Item | null = null

  constructor(count: number, compare: (a: Item, b: Item) => number) {
    this.#count = count
    this.#compare = compare
  }

  add(item: Item): void {
    if (this.#last !== null && this.#compare(item, this.#last) >= 0) return
    this.#items.push(item)
    if (this.#items.length < 2 * this.#count) return
    this.#items = this.inOrder()
    this.#last = this.#items.at(-1) ?? null
  }

  inOrder(): Item[] {
    return this.#items.sort(this.#compare).slice(0, this.#count)
  }
}

/** The first `count` records after `query.after` in order of keys. */
function firstOfIndex<Record, Key extends JobKey | TriggerKey>(
  index: KeyIndex<Record>,
  query: PageRequest<Key> & { readonly group?: GroupMatcher },
  accepts: (record: Record) => boolean,
  count: number,
): Record[] {
  const { after } = query
  const groups = index.groups(query.group).sort((a, b) => compareKeys(nameless(a), nameless(b)))
  const found: Record[] = []
  for (const group of groups) {
    if (found.length === count) break
    const order = after === undefined ? 1 : compareKeys(nameless(group), nameless(after.group))
    if (order < 0) continue
    const afterName = order === 0 ? (after?.name ?? '') : ''
    found.push(...firstOfGroup(index.entriesOf(group), afterName, accepts, count - found.length))
  }
  return found
}

/** The first `count` records of a group by name: one pass, as groups are not sorted. */
function firstOfGroup<Record>(
  entries: Iterable<[string, Record]>,
  afterName: string,
  accepts: (record: Record) => boolean,
  count: number,
): Record[] {
  const first = new FirstOf<[string, Record]>(count, ([a], [b]) => (a < b ? -1 : 1))
  for (const entry of entries) {
    if (entry[0] > afterName && accepts(entry[1])) first.add(entry)
  }
  return first.inOrder().map(([, record]) => record)
}

function nameless(group: string): { group: string; name: string } {
  return { group, name: '' }
}

function jobSummary(data: RamData, job: JobRecord): JobSummary {
  const { detail } = job
  return {
    key: detail.key,
    jobType: detail.jobType,
    description: detail.description,
    durable: detail.durable,
    requestsRecovery: detail.requestsRecovery,
    disallowConcurrentExecution: detail.disallowConcurrentExecution,
    persistJobDataAfterExecution: detail.persistJobDataAfterExecution,
    pause: data.pauses.ofJob(job),
  }
}

function triggerSummary(data: RamData, record: TriggerRecord): TriggerSummary {
  const { trigger } = record
  return {
    key: trigger.key,
    jobKey: record.job.detail.key,
    type: trigger.type,
    state: reportedTriggerState(data.stateOf(record)),
    description: trigger.description,
    calendarName: trigger.calendarName,
    priority: trigger.priority,
    nextFireTimeMs: asSeen(trigger, record.state).nextFireTimeMs,
    previousFireTimeMs: trigger.previousFireTimeMs,
    pause: record.state === 'PAUSED' ? data.pauses.ofTrigger(record, data.paused) : null,
  }
}
