import { GroupMatcher } from '../../core/matcher.ts'
import type { JobStore } from '../../jobstore/job-store.ts'

const any = GroupMatcher.anyGroup()

/** How many jobs, triggers and calendars a store holds. */
export async function storedCounts(
  store: JobStore,
): Promise<{ readonly jobs: number; readonly triggers: number; readonly calendars: number }> {
  const [jobs, triggers, calendars] = await Promise.all([
    store.getJobKeys(any),
    store.getTriggerKeys(any),
    store.getCalendarNames(),
  ])
  return { jobs: jobs.length, triggers: triggers.length, calendars: calendars.length }
}

export async function pausedTriggerGroups(store: JobStore): Promise<readonly string[]> {
  const { triggerGroups } = await store.getPausedGroups()
  return triggerGroups.map(({ group }) => group)
}

export async function pausedJobGroups(store: JobStore): Promise<readonly string[]> {
  const { jobGroups } = await store.getPausedGroups()
  return jobGroups.map(({ group }) => group)
}
