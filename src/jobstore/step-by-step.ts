import type { JobKey, TriggerKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { type DefinitionChanges, type RemovedDefinitions, withDataKept } from './definition-changes.ts'
import type { JobAndTriggers } from './job-and-triggers.ts'
import type { JobStore } from './job-store.ts'
import { redefinition } from './planned-job.ts'

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
  await storeEntries(store, await withDataOf(store, changes))
  const removedTriggers = await store.deleteTriggers(changes.removedTriggers)
  const removedJobs = await store.deleteJobs(changes.removedJobs)
  for (const name of changes.removedCalendars) await store.deleteCalendar(name)
  return { removedTriggers, removedJobs }
}

/** The entries, with the data that stored jobs keep: read right before they are stored. */
async function withDataOf(
  store: JobStore,
  { entries, keepsJobData }: DefinitionChanges,
): Promise<readonly JobAndTriggers[]> {
  if (keepsJobData !== true) return entries
  const jobs = entries.flatMap(({ job }) => (job === null ? [] : [job.key]))
  const stored = new KeyMap<JobKey, JobDetail>()
  for (const job of await store.getJobs(jobs)) stored.set(job.key, job)
  return entries.map((entry) => {
    const former = entry.job === null ? undefined : stored.get(entry.job.key)
    return entry.job === null || former === undefined
      ? entry
      : { ...entry, job: withDataKept(entry.job, former) }
  })
}

/** Triggers that replace one of their job take its place; the others are stored. */
async function storeEntries(store: JobStore, entries: readonly JobAndTriggers[]): Promise<void> {
  const keys = entries.flatMap(({ triggers }) => triggers.map(({ key }) => key))
  const stored = new KeyMap<TriggerKey, Trigger>()
  for (const trigger of await store.getTriggers(keys)) stored.set(trigger.key, trigger)
  const replacedBy = ({ key, jobKey }: Trigger): Trigger | undefined => {
    const former = stored.get(key)
    const formerJob = former?.jobKey ?? null
    return formerJob !== null && jobKey?.equals(formerJob) === true ? former : undefined
  }
  const isNew = (trigger: Trigger): boolean => replacedBy(trigger) === undefined
  const others = entries.map(({ job, triggers }) => ({ job, triggers: triggers.filter(isNew) }))
  await store.scheduleJobs(others, { replace: true })
  for (const trigger of entries.flatMap(({ triggers }) => triggers)) {
    const former = replacedBy(trigger)
    if (former === undefined) continue
    const { calendarName } = trigger
    const calendar = calendarName === null ? null : await store.getCalendar(calendarName)
    const { trigger: next, goesOnFrom } = redefinition(former, trigger, calendar)
    const isInPlace = await store.rescheduleTrigger(trigger.key, next, { goesOnFrom })
    // It has ended since it was read.
    if (!isInPlace) await store.scheduleJobs([{ job: null, triggers: [trigger] }], { replace: true })
  }
}
