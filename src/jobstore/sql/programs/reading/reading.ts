import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { Calendar } from '../../../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { SchedulerSignaler } from '../../../job-store.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlSession } from '../../session/sql-session.ts'
import type { BrokenTrigger } from '../../tables/triggers/trigger-table.ts'

// Who asks for one thing is told when its row cannot be read; listings and firing go on without it.

export function* getJob({ jobs }: SqlSession, key: JobKey): SqlProgram<JobDetail | null> {
  const { found, broken } = yield* jobs.load([key])
  const error = broken.get(key)
  if (error !== undefined) throw error
  return found.get(key) ?? null
}

export function* getTrigger({ triggers }: SqlSession, key: TriggerKey): SqlProgram<Trigger | null> {
  const { found, broken } = yield* triggers.load([key])
  const [fault] = broken
  if (fault !== undefined) throw fault.error
  return found.get(key)?.trigger ?? null
}

export function* getTriggersOfJob({ triggers }: SqlSession, key: JobKey): SqlProgram<TriggersOfJob> {
  const { found, broken } = yield* triggers.loadOfJob(key)
  return { triggers: found.values().map(({ trigger }) => trigger), broken }
}

export interface TriggersOfJob {
  readonly triggers: readonly Trigger[]
  /** Those that cannot be read. */
  readonly broken: readonly BrokenTrigger[]
}

/** Reports the triggers that a listing leaves out, once it was made. */
export function withoutBroken(
  { triggers, broken }: TriggersOfJob,
  signaler: SchedulerSignaler,
): readonly Trigger[] {
  for (const { error } of broken) signaler.storeError(error.message, error)
  return triggers
}

export function* getCalendar({ calendars }: SqlSession, name: string): SqlProgram<Calendar | null> {
  const calendar = (yield* calendars.load([name])).get(name) ?? null
  if (calendar instanceof Error) throw calendar
  return calendar
}

export function* getPausedTriggerGroups({ pausedGroups }: SqlSession): SqlProgram<readonly string[]> {
  return [...(yield* pausedGroups.load()).triggerGroups]
}

export function* getPausedJobGroups({ pausedGroups }: SqlSession): SqlProgram<readonly string[]> {
  return [...(yield* pausedGroups.load()).jobGroups]
}
