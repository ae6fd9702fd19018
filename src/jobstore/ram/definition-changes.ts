import type { TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { KeySet } from '../../core/key-set.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type DefinitionChanges, type RemovedDefinitions, withDataKept } from '../definition-changes.ts'
import { asSeen } from '../ended-trigger.ts'
import type { JobAndTriggers } from '../job-and-triggers.ts'
import { redefined } from '../planned-job.ts'
import { calendarInUse, refusalOf } from '../refusals.ts'
import { underCalendar } from '../under-calendar.ts'
import {
  deleteCalendar,
  type ForeseenUpdates,
  type PreparedCalendar,
  prepareCalendar,
} from './calendar-changes.ts'
import type { RamData } from './ram-data.ts'
import type { RamSession } from './ram-session.ts'
import { deleteJobs, deleteTriggers, storeEntries } from './scheduling.ts'

/** Whatever can be refused or throw comes before the first change. */
export function changeDefinitions(
  session: RamSession,
  changes: DefinitionChanges,
  foreseen: ForeseenUpdates,
): RemovedDefinitions {
  const { data } = session
  const options = { replace: true, updateTriggers: true, foreseen }
  // Triggers name one calendar each, so that no calendar depends on what another one changes.
  const calendars = new Map(changes.calendars.map(({ name, calendar }) => [name, calendar]))
  const prepared = Array.from(calendars, ([name, calendar]) =>
    prepareCalendar(session, name, calendar, options),
  )
  const refusal = refusalOf(changes.entries, true, data)
  if (refusal !== null) throw refusal
  refuseUsedCalendars(data, changes)
  const { entries, inPlace } = placedEntries(session, withDataOf(data, changes), { calendars, prepared })
  for (const { store } of prepared) store()
  storeEntries(data, entries, inPlace)
  const removedTriggers = deleteTriggers(session, changes.removedTriggers)
  const removedJobs = deleteJobs(data, changes.removedJobs)
  for (const name of changes.removedCalendars) deleteCalendar(data, name)
  return { removedTriggers, removedJobs }
}

/** The entries, with the data that stored jobs keep. */
function withDataOf(data: RamData, { entries, keepsJobData }: DefinitionChanges): readonly JobAndTriggers[] {
  if (keepsJobData !== true) return entries
  return entries.map((entry) => {
    const stored = entry.job === null ? undefined : data.jobs.get(entry.job.key)
    return entry.job === null || stored === undefined
      ? entry
      : { ...entry, job: withDataKept(entry.job, stored.detail) }
  })
}

interface NewCalendars {
  readonly calendars: ReadonlyMap<string, Calendar>
  readonly prepared: readonly PreparedCalendar[]
}

interface PlacedEntries {
  readonly entries: readonly JobAndTriggers[]
  /** Those of their triggers that take the place of one of their job. */
  readonly inPlace: ReadonlySet<Trigger>
}

/**
 * The entries under the calendars that are to be stored, triggers that replace one of their job as they take its place.
 */
function placedEntries(
  session: RamSession,
  entries: readonly JobAndTriggers[],
  { calendars, prepared }: NewCalendars,
): PlacedEntries {
  const { data } = session
  const nowMs = session.now()
  const calendarOf = (trigger: Trigger): Calendar | null =>
    calendars.get(trigger.calendarName ?? '') ?? data.calendars.calendarOf(trigger)
  const inPlace = new Set<Trigger>()
  const place = (trigger: Trigger): Trigger => {
    const record = data.triggers.get(trigger.key)
    const calendar = calendarOf(trigger)
    if (record === undefined || trigger.jobKey?.equals(record.job.detail.key) !== true)
      return underCalendar(trigger, calendar, nowMs)
    const updated = prepared.find(({ updates }) => updates.has(record))?.updates.get(record)
    const seen = asSeen(record.trigger, record.state)
    // No calendar gives a time to what its job has ended.
    const stored = seen === record.trigger ? (updated ?? seen) : seen
    const placed = redefined(stored, { trigger, calendar, nowMs })
    inPlace.add(placed)
    return placed
  }
  const placed = entries.map(({ job, triggers }) => ({ job, triggers: triggers.map(place) }))
  return { entries: placed, inPlace }
}

/** Refuses to remove a calendar that a trigger will name when the changes are made. */
function refuseUsedCalendars(data: RamData, changes: DefinitionChanges): void {
  if (changes.removedCalendars.length === 0) return
  const given = new KeyMap<TriggerKey, Trigger>()
  for (const trigger of changes.entries.flatMap(({ triggers }) => triggers)) given.set(trigger.key, trigger)
  const removed = new KeySet(changes.removedTriggers)
  const removedJobs = new KeySet(changes.removedJobs)
  for (const name of new Set(changes.removedCalendars)) {
    if (!data.calendars.calendars.has(name) && !changes.calendars.some((each) => each.name === name)) continue
    const stored = Array.from(data.calendars.usersOf(name), ({ trigger }) => trigger)
    const users = [
      ...stored.filter(({ key }) => !given.has(key)),
      ...given.values().filter(({ calendarName }) => calendarName === name),
    ]
    const user = users.find(
      ({ key, jobKey }) => !removed.has(key) && (jobKey === null || !removedJobs.has(jobKey)),
    )
    if (user !== undefined) throw calendarInUse(name, user.key)
  }
}
