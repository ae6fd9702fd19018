import { compareKeys, type JobKey, type TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { JobQuery, JobSummary, Page, PageRequest, TriggerQuery, TriggerSummary } from '../queries.ts'
import { pageOf, pageSize } from '../queries.ts'
import { reportedTriggerState } from '../trigger-state.ts'
import type { KeyIndex } from './key-index.ts'
import type { RamData } from './ram-data.ts'
import type { JobRecord, TriggerRecord } from './records.ts'

export function queryJobs(data: RamData, query: JobQuery): Page<JobSummary, JobKey> {
  const { jobType } = query
  const size = pageSize('queryJobs', query)
  const accepts = ({ detail }: JobRecord): boolean => jobType === undefined || detail.jobType === jobType
  return pageOf(
    firstOfIndex(data.jobs, query, accepts, size + 1).map((job) => jobSummary(data, job)),
    size,
  )
}

export function queryTriggers(data: RamData, query: TriggerQuery): Page<TriggerSummary, TriggerKey> {
  const { group = GroupMatcher.anyGroup(), name, jobKey, calendarName, state, after } = query
  const size = pageSize('queryTriggers', query)
  const accepts = (record: TriggerRecord): boolean =>
    (name === undefined || record.trigger.key.name === name) &&
    (calendarName === undefined || record.trigger.calendarName === calendarName) &&
    (jobKey === undefined || record.job.detail.key.equals(jobKey)) &&
    (state === undefined || reportedTriggerState(data.stateOf(record)) === state)
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

/** The first `count` records of a group by name: one pass that keeps the best so far, as groups are not sorted. */
function firstOfGroup<Record>(
  entries: Iterable<[string, Record]>,
  afterName: string,
  accepts: (record: Record) => boolean,
  count: number,
): Record[] {
  let best: [string, Record][] = []
  let bound: string | null = null
  for (const entry of entries) {
    const [name, record] = entry
    if (name <= afterName || (bound !== null && name >= bound) || !accepts(record)) continue
    best.push(entry)
    if (best.length < 2 * count) continue
    best = firstByName(best, count)
    bound = best.at(-1)?.[0] ?? null
  }
  return firstByName(best, count).map(([, record]) => record)
}

function firstByName<Record>(entries: [string, Record][], count: number): [string, Record][] {
  return entries.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, count)
}

function nameless(group: string): { group: string; name: string } {
  return { group, name: '' }
}

function jobSummary(data: RamData, job: JobRecord): JobSummary {
  const { detail } = job
  const isAnyPaused = (): boolean => job.triggers().some(({ state }) => state === 'PAUSED')
  return {
    key: detail.key,
    jobType: detail.jobType,
    description: detail.description,
    durable: detail.durable,
    requestsRecovery: detail.requestsRecovery,
    disallowConcurrentExecution: detail.disallowConcurrentExecution,
    persistJobDataAfterExecution: detail.persistJobDataAfterExecution,
    pause: data.pauses.ofJob(job, isAnyPaused),
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
    nextFireTimeMs: trigger.nextFireTimeMs,
    previousFireTimeMs: trigger.previousFireTimeMs,
    pause: record.state === 'PAUSED' ? data.pauses.ofTrigger(record, data.paused) : null,
  }
}
