import { z } from 'zod'
import { isBrokenRow, JobPersistenceError, type SchedulerError } from '../../core/errors.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import { calendarInUse } from '../../jobstore/refusals.ts'
import { afterReplacement, type Replacement } from '../../jobstore/under-calendar.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { dayMs } from '../../time/civil.ts'
import { TimeZone } from '../../time/zone.ts'
import type { Calendar, CalendarDefinition } from '../../triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../../triggers/calendars/calendar-json.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { RequestWork } from '../request-work.ts'
import { actionJson } from '../wire/action.ts'
import {
  instantOrNull,
  type KeyJson,
  keyJson,
  keyToJson,
  namePath,
  nothing,
  wholeQuery,
} from '../wire/fields.ts'
import { change } from './changes.ts'
import { storedTriggers } from './stored.ts'

const calendarPath = '/calendars/{name}'

/** What `toJSON` of a calendar gives: the constructors check it. */
export const calendarDefinitionJson: z.ZodType<CalendarDefinition> = z
  .looseObject({ type: z.string().max(60) })
  .describe(
    'As `toJSON` of a calendar gives it: `type`, `timeZone`, what the type has, `description`, `base`.',
  )

export interface CalendarJson {
  readonly name: string
  readonly definition: CalendarDefinition
}

export interface ListedCalendarJson {
  readonly name: string
  /** Null for one that cannot be read. */
  readonly definition: CalendarDefinition | null
  /** Why it cannot be read; null for one that can. */
  readonly problem: string | null
}

const listCalendars: Operation = operation({
  id: 'calendars.list',
  method: 'GET',
  path: '/calendars',
  summary: 'The calendars; also those that cannot be read.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: null,
  answer: z.strictObject({
    items: z.array(
      z.strictObject({
        name: z.string(),
        definition: calendarDefinitionJson.nullable(),
        problem: z.string().nullable().describe('Why it cannot be read; null for one that can.'),
      }),
    ),
  }),
  async handle({ scheduler }) {
    const items: ListedCalendarJson[] = []
    for (const name of await scheduler.getCalendarNames()) {
      const found = await storedCalendar(scheduler, name)
      if (found === null) continue
      const { calendar, fault } = found
      const problem = fault === null ? null : withoutSecrets(fault.message)
      items.push({ name, definition: calendar?.toJSON() ?? null, problem })
    }
    return { items }
  },
})

const getCalendar: Operation = operation({
  id: 'calendars.get',
  method: 'GET',
  path: calendarPath,
  summary: 'A calendar, and how many triggers name it.',
  role: 'viewer',
  reach: null,
  isVersioned: true,
  jobGroups: null,
  params: namePath,
  query: nothing,
  body: null,
  answer: z.strictObject({
    name: z.string(),
    definition: calendarDefinitionJson,
    triggers: z.number().nullable().describe('Null when there are more than 1000.'),
  }),
  async handle({ scheduler, params, exchange }) {
    const definition = (await requireCalendar(scheduler, params.name)).toJSON()
    exchange.noteStored(definition)
    const { items, next } = await scheduler.queryTriggers({ calendarName: params.name, take: 1000 })
    return { name: params.name, definition, triggers: next === null ? items.length : null }
  },
})

const daysShown = 62
/** A day is looked at so often: what a calendar excludes for less time may be overlooked. */
const lookEveryMs = 900_000

const calendarDays: Operation = operation({
  id: 'calendars.days',
  method: 'GET',
  path: `${calendarPath}/days`,
  summary: 'Which days a calendar excludes, whole or in part, in its own zone.',
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: namePath,
  query: z.strictObject({
    from: z.iso.date().describe('The first day, as in 2026-12-01.'),
    days: wholeQuery(1, daysShown).default(42),
  }),
  body: null,
  answer: z.strictObject({
    timeZone: z.string(),
    days: z.array(z.strictObject({ day: z.string(), is: z.enum(['included', 'excluded', 'partial']) })),
  }),
  async handle({ scheduler, params, query, parts }) {
    const calendar = await requireCalendar(scheduler, params.name)
    const { timeZone } = calendar.toJSON()
    const zone = typeof timeZone === 'string' ? TimeZone.of(timeZone) : TimeZone.system()
    const firstMs = Date.parse(`${query.from}T00:00:00Z`)
    const work = new RequestWork(parts.clock)
    const days: { day: string; is: Inclusion }[] = []
    for (let index = 0; index < query.days; index++) {
      const localMs = firstMs + index * dayMs
      const is = await dayOf(calendar, zone, localMs, work)
      days.push({ day: new Date(localMs).toISOString().slice(0, 10), is })
    }
    return { timeZone: zone.name, days }
  },
})

type Inclusion = 'included' | 'excluded' | 'partial'

async function dayOf(
  calendar: Calendar,
  zone: TimeZone,
  localMs: number,
  work: RequestWork,
): Promise<Inclusion> {
  const endMs = zone.firstInstantAtOrAfter(localMs + dayMs)
  let included = 0
  let excluded = 0
  for (let atMs = zone.firstInstantAtOrAfter(localMs); atMs < endMs; atMs += lookEveryMs) {
    if (calendar.isTimeIncluded(atMs)) included++
    else excluded++
    await work.breathe()
  }
  if (excluded === 0) return 'included'
  return included === 0 ? 'excluded' : 'partial'
}

interface Moved {
  readonly key: KeyJson
  readonly beforeMs: number | null
  readonly afterMs: number | null
}

/** Of how many triggers a preview of a calendar looks at the next firing. */
const lookedAtMax = 500

const putCalendar: Operation = operation({
  id: 'calendars.put',
  method: 'PUT',
  path: calendarPath,
  summary:
    'Stores a calendar, or replaces one, also one that cannot be read unless Java has serialized it; says how many ' +
    'triggers name it, and whose next firing it moves.',
  role: 'admin',
  reach: 'data',
  isVersioned: true,
  jobGroups: null,
  params: namePath,
  query: nothing,
  body: z.strictObject({
    definition: calendarDefinitionJson,
    updateTriggers: z.boolean().default(true).describe('Compute the next firings of its triggers anew.'),
  }),
  answer: actionJson(
    z.strictObject({
      before: calendarDefinitionJson.nullable().describe('Null for one that is new or could not be read.'),
      after: calendarDefinitionJson,
      triggers: z.number().nullable().describe(`How many name it; null when more than ${lookedAtMax}.`),
      moved: z
        .number()
        .nullable()
        .describe(
          'How many of them get another next firing, as far as was looked, by a misfire threshold of 60 s; null when ' +
            'the look at them took too long.',
        ),
      first: z
        .array(z.strictObject({ key: keyJson, beforeMs: instantOrNull, afterMs: instantOrNull }))
        .describe('The first of those that move, at most 20.'),
    }),
  ),
  async handle(call) {
    const { scheduler, params, body } = call
    const calendar = calendarFromJSON(body.definition)
    const found = await calendarToReplace(scheduler, params.name)
    const before = found?.calendar?.toJSON() ?? null
    call.exchange.noteStored(found === null ? null : (before ?? {}))
    const differs = before === null || JSON.stringify(before) !== JSON.stringify(calendar.toJSON())
    const effect = await effectOf(call, { calendar, old: found?.calendar ?? undefined })
    return change(call, 'data', {
      wouldChange: () => differs,
      async carryOut() {
        const options = { replace: found !== null, updateTriggers: body.updateTriggers }
        if (differs) await scheduler.addCalendar(params.name, calendar, options)
        return differs
      },
      result: { before, after: calendar.toJSON(), ...effect },
    })
  },
})

/** What a scheduler takes for a misfire, unless it is told otherwise. */
const misfireThresholdMs = 60_000

type PutCall = OperationCall<{ readonly name: string }, unknown, { readonly updateTriggers: boolean }>

async function effectOf(
  { scheduler, params, body, parts }: PutCall,
  { calendar, old }: Pick<Replacement, 'calendar' | 'old'>,
): Promise<{ triggers: number | null; moved: number | null; first: Moved[] }> {
  const work = new RequestWork(parts.clock)
  const { items, next } = await scheduler.queryTriggers({ calendarName: params.name, take: lookedAtMax })
  const triggers = next === null ? items.length : null
  const moved: Moved[] = []
  const keys = body.updateTriggers ? items.map(({ key }) => key) : []
  const stored = await storedTriggers(scheduler, keys)
  for (const key of keys) {
    const trigger = stored.get(key)
    if (trigger === undefined) continue
    // A trigger of which the calendar leaves little is searched for a hundred years.
    if (work.isOver()) return { triggers, moved: null, first: moved.slice(0, 20) }
    const beforeMs = trigger.nextFireTimeMs
    const nowMs = parts.clock.now()
    const updated = trigger.updateWithNewCalendar(calendar, nowMs, misfireThresholdMs)
    const afterMs = afterReplacement(trigger, updated, { old, calendar, nowMs }).nextFireTimeMs
    if (beforeMs !== afterMs) moved.push({ key: keyToJson(key), beforeMs, afterMs })
    await work.breathe()
  }
  return { triggers, moved: moved.length, first: moved.slice(0, 20) }
}

const deleteCalendar: Operation = operation({
  id: 'calendars.delete',
  method: 'DELETE',
  path: calendarPath,
  summary: 'Deletes a calendar that no trigger names, also one that cannot be read.',
  role: 'admin',
  reach: 'data',
  isVersioned: true,
  jobGroups: null,
  params: namePath,
  query: nothing,
  body: null,
  answer: actionJson(z.null()),
  async handle(call) {
    const { scheduler, params } = call
    const found = await storedCalendar(scheduler, params.name)
    if (found === null) throw unknownCalendar(params.name)
    const stored = found.calendar?.toJSON() ?? null
    call.exchange.noteStored(stored ?? {})
    call.exchange.noteBefore(stored)
    const { items } = await scheduler.queryTriggers({ calendarName: params.name, take: 1 })
    // A dry run does not say that all is well where the request itself is refused.
    const [user] = items
    if (user !== undefined) throw calendarInUse(params.name, user.key)
    return change(call, 'data', {
      wouldChange: () => true,
      carryOut: () => scheduler.deleteCalendar(params.name),
      result: null,
    })
  },
})

/** @throws JobPersistenceError ERR_CALENDAR_NOT_FOUND, ERR_BROKEN_ROW */
export async function requireCalendar(scheduler: Scheduler, name: string): Promise<Calendar> {
  const calendar = name.trim() === '' ? null : await scheduler.getCalendar(name)
  if (calendar !== null) return calendar
  throw unknownCalendar(name)
}

type StoredCalendar =
  | { readonly calendar: Calendar; readonly fault: null }
  | { readonly calendar: null; readonly fault: SchedulerError }

/** A calendar, or why it cannot be read; null for one that is not there. */
export async function storedCalendar(scheduler: Scheduler, name: string): Promise<StoredCalendar | null> {
  try {
    const calendar = name.trim() === '' ? null : await scheduler.getCalendar(name)
    return calendar && { calendar, fault: null }
  } catch (error) {
    if (!isBrokenRow(error)) throw error
    return { calendar: null, fault: error }
  }
}

/** The same of one that is to be replaced. @throws SchedulerError ERR_BROKEN_ROW for one that Java has serialized */
export async function calendarToReplace(scheduler: Scheduler, name: string): Promise<StoredCalendar | null> {
  const found = await storedCalendar(scheduler, name)
  // Java's nodes could not read what is stored in its place. Only the fault of such a row has a fault as its cause.
  if (found !== null && found.fault !== null && isBrokenRow(found.fault.cause)) throw found.fault
  return found
}

function unknownCalendar(name: string): JobPersistenceError {
  return new JobPersistenceError(`There is no calendar '${name}'.`, { code: 'ERR_CALENDAR_NOT_FOUND' })
}

export const calendarOperations: readonly Operation[] = [
  listCalendars,
  getCalendar,
  calendarDays,
  putCalendar,
  deleteCalendar,
]
