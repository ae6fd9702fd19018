import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { Calendar } from '../../../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { asSeen } from '../../../ended-trigger.ts'
import {
  type ExecutionCursor,
  type ExecutionQuery,
  type ExecutionSummary,
  type FirePlace,
  firePageOf,
  type JobQuery,
  type JobSummary,
  type NextTriggerQuery,
  type Page,
  pageOf,
  pageSize,
  type TriggerQuery,
  type TriggerSummary,
  type UnknownJobType,
  unknownJobTypeLimits,
} from '../../../queries.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlSession } from '../../session/sql-session.ts'
import type { BrokenTrigger, StoredTrigger } from '../../tables/triggers/trigger-table.ts'
import { withPausesOfJobs, withPausesOfTriggers } from './pauses.ts'

// Reading one job or trigger throws when its row cannot be read; listings and firing go on without it.

export function* getJob({ jobs }: SqlSession, key: JobKey): SqlProgram<JobDetail | null> {
  const { found, broken } = yield* jobs.load([key])
  const error = broken.get(key)
  if (error !== undefined) throw error
  return found.get(key) ?? null
}

/** Those that exist, and why the others of them cannot be read. */
export function* getJobs(
  { jobs }: SqlSession,
  keys: readonly JobKey[],
): SqlProgram<{ readonly found: readonly JobDetail[]; readonly broken: readonly Error[] }> {
  const { found, broken } = yield* jobs.load(keys)
  return { found: found.values(), broken: broken.values() }
}

export function* getTrigger({ triggers }: SqlSession, key: TriggerKey): SqlProgram<Trigger | null> {
  const { found, broken } = yield* triggers.load([key])
  const [fault] = broken
  if (fault !== undefined) throw fault.error
  const stored = found.get(key)
  return stored === undefined ? null : seen(stored)
}

export function* getTriggers(
  { triggers }: SqlSession,
  keys: readonly TriggerKey[],
): SqlProgram<TriggersOfJob> {
  const { found, broken } = yield* triggers.load(keys)
  return { triggers: found.values().map(seen), broken }
}

export function* getTriggersOfJob({ triggers }: SqlSession, key: JobKey): SqlProgram<TriggersOfJob> {
  const { found, broken } = yield* triggers.loadOfJob(key)
  return { triggers: found.values().map(seen), broken }
}

function seen({ trigger, state }: StoredTrigger): Trigger {
  return asSeen(trigger, state)
}

export interface TriggersOfJob {
  readonly triggers: readonly Trigger[]
  /** Unreadable triggers. */
  readonly broken: readonly BrokenTrigger[]
}

/** Reports, after the listing, the triggers that it leaves out; each once. */
export function withoutBroken(
  { triggers, broken }: TriggersOfJob,
  { toldRows }: SqlSession,
): readonly Trigger[] {
  toldRows.tell(broken.map(({ error }) => error))
  return triggers
}

export function* getCalendar({ calendars }: SqlSession, name: string): SqlProgram<Calendar | null> {
  const calendar = (yield* calendars.load([name])).get(name) ?? null
  if (calendar instanceof Error) throw calendar
  return calendar
}

/** One page of jobs. */
export function* queryJobs(session: SqlSession, query: JobQuery): SqlProgram<Page<JobSummary, JobKey>> {
  const size = pageSize('queryJobs', query)
  const found = yield* session.listings.jobs(query, size + 1)
  const { items, next } = pageOf(found.items, size, found.lookedUpTo)
  return { items: yield* withPausesOfJobs(session, items), next }
}

/** One page of triggers. */
export function* queryTriggers(
  session: SqlSession,
  query: TriggerQuery,
): SqlProgram<Page<TriggerSummary, TriggerKey>> {
  const size = pageSize('queryTriggers', query)
  const found = yield* session.listings.triggers(query, size + 1)
  const { items, next } = pageOf(found.items, size, found.lookedUpTo)
  return { items: yield* withPausesOfTriggers(session, items), next }
}

/** One page of the triggers that are to fire; none of them is paused. */
export function* queryNextTriggers(
  { nextTriggers }: SqlSession,
  query: NextTriggerQuery,
): SqlProgram<Page<TriggerSummary, FirePlace>> {
  const size = pageSize('queryNextTriggers', query)
  const { items, lookedUpTo } = yield* nextTriggers.first(query, size + 1)
  return firePageOf(items, size, lookedUpTo)
}

/** The planned instant of the trigger that is due for the longest time. */
export function* earliestDueMs({ context, triggers }: SqlSession): SqlProgram<EpochMs | null> {
  const { clock, instanceId } = context
  const nowMs = clock.now()
  const { waitingMs } = yield* triggers.lookAhead({ untilMs: nowMs, nowMs, unknownJobTypes: [] }, instanceId)
  return waitingMs
}

/** One page of the history. */
export function* queryExecutions(
  { history }: SqlSession,
  query: ExecutionQuery,
): SqlProgram<Page<ExecutionSummary, ExecutionCursor>> {
  return yield* history.find(query, pageSize('queryExecutions', query))
}

type ListedType = Omit<UnknownJobType, 'first'> & { readonly first: UnknownJobType['first'][number][] }

/** Finds the job types among the triggers that are due, and names those that this node has no code for. */
export function* queryUnknownJobTypes({
  context,
  listings,
}: SqlSession): SqlProgram<readonly UnknownJobType[]> {
  const found = new Map<string, ListedType>()
  for (const { jobType, waiting, keys } of yield* listings.dueByJobType(context.clock.now())) {
    if (context.knowsJobType(jobType)) continue
    let listed = found.get(jobType)
    if (listed === undefined) {
      if (found.size === unknownJobTypeLimits.types) continue
      listed = { jobType, waiting, first: [] }
      found.set(jobType, listed)
    }
    if (keys !== null) listed.first.push(keys)
  }
  return [...found.values()]
}
