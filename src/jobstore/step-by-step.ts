import type { DefinitionChanges, RemovedDefinitions } from './definition-changes.ts'
import type { JobStore } from './job-store.ts'

/** As one change where the store can do so, else step by step. */
export async function changeDefinitions(
  store: JobStore,
  changes: DefinitionChanges,
): Promise<RemovedDefinitions> {
  return store.changeDefinitions?.(changes) ?? changeStepByStep(store, changes)
}

/**
 * Changes definitions step by step, for a store that cannot make them one change: an error leaves what was done before
 * it, and the same call goes on from there.
 */
async function changeStepByStep(store: JobStore, changes: DefinitionChanges): Promise<RemovedDefinitions> {
  for (const { name, calendar } of changes.calendars) {
    await store.addCalendar(name, calendar, { replace: true, updateTriggers: true })
  }
  await store.scheduleJobs(changes.entries, { replace: true })
  const removedTriggers = await store.deleteTriggers(changes.removedTriggers)
  const removedJobs = await store.deleteJobs(changes.removedJobs)
  for (const name of changes.removedCalendars) await store.deleteCalendar(name)
  return { removedTriggers, removedJobs }
}
