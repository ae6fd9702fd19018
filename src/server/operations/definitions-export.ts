import { z } from 'zod'
import { InvalidArgumentError, type SchedulerError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import { KeySet } from '../../core/key-set.ts'
import { isMadeByScheduler } from '../../jobstore/own-triggers.ts'
import type { JobSummary, TriggerSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock } from '../../time/clock.ts'
import type { CalendarDefinition } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { RequestWork } from '../request-work.ts'
import { definitionsMax } from '../wire/definitions-max.ts'
import {
  flagQuery,
  instantMs,
  type KeyJson,
  keyJson,
  keyToJson,
  nameText,
  nothing,
  textUpTo,
} from '../wire/fields.ts'
import { type JobFieldsJson, jobFieldsJson, jobToJson } from '../wire/jobs.ts'
import { eachOf } from '../wire/pages.ts'
import { definitionOf, type TriggerFieldsJson, triggerFieldsJson } from '../wire/triggers.ts'
import { calendarDefinitionJson, storedCalendar } from './calendars.ts'
import { readableJobs, readableTriggers, refuseUnreadable, type Unreadable } from './stored.ts'

/** One file of everything that is defined: calendars, jobs and triggers, without how far they have come. */
export interface DefinitionsJson {
  readonly format: 'quartz-ts'
  readonly version: 1
  readonly schedulerName: string
  readonly exportedMs: number
  readonly calendars: readonly { readonly name: string; readonly definition: CalendarDefinition }[]
  readonly jobs: readonly { readonly key: KeyJson; readonly fields: JobFieldsJson }[]
  readonly triggers: readonly { readonly key: KeyJson; readonly fields: TriggerFieldsJson }[]
}

export const definitionsJson: z.ZodType<DefinitionsJson> = z.strictObject({
  format: z.literal('quartz-ts'),
  version: z.literal(1),
  schedulerName: textUpTo(500),
  exportedMs: instantMs,
  calendars: z.array(z.strictObject({ name: nameText, definition: calendarDefinitionJson })).max(1000),
  jobs: z.array(z.strictObject({ key: keyJson, fields: jobFieldsJson })).max(definitionsMax),
  triggers: z.array(z.strictObject({ key: keyJson, fields: triggerFieldsJson })).max(definitionsMax),
})

export const exportDefinitions: Operation = operation({
  id: 'definitions.export',
  method: 'GET',
  path: '/definitions',
  summary:
    'All calendars, jobs and triggers as one file, at most 20,000 jobs and as many triggers. Triggers of other ' +
    'programs and of your own families are left out, and those that the scheduler makes: retries, recoveries, items ' +
    'of sharded firings, and runs that were asked for. Rows that cannot be read are no part of a file: the ' +
    'answer is a 409 that names them, 20 of each kind.',
  role: 'admin',
  reach: null,
  isAudited: true,
  jobGroups: null,
  params: nothing,
  query: z.strictObject({
    secrets: flagQuery.default(false).describe('With the values that are masked otherwise.'),
  }),
  body: null,
  answer: definitionsJson,
  handle: ({ scheduler, query, parts }) =>
    definitionsOf(scheduler, { secrets: query.secrets, clock: parts.clock }),
})

async function definitionsOf(
  scheduler: Scheduler,
  { secrets, clock }: { readonly secrets: boolean; readonly clock: Clock },
): Promise<DefinitionsJson> {
  const work = new RequestWork(clock)
  const keys = await keysOf(scheduler)
  const readJobs = await readableJobs(scheduler, keys.jobs)
  const readTriggers = await readableTriggers(scheduler, keys.triggers)
  const calendars = await readableCalendars(scheduler)
  // A file that is not whole, imported with the removal of what it lacks, would delete what is left out here.
  refuseUnreadable([calendars, readJobs, readTriggers])
  const storedJob = readJobs.found
  const storedTrigger = readTriggers.found
  const spent = spentJobs(storedTrigger.values(), keys.ofOthers)
  const jobs: DefinitionsJson['jobs'][number][] = []
  for (const key of keys.jobs) {
    const job = storedJob.get(key)
    if (job === undefined || (!job.durable && spent.has(key))) continue
    const { key: jobKey, ...fields } = jobToJson(job, { secrets })
    jobs.push({ key: jobKey, fields })
    await work.breathe()
  }
  const triggers: DefinitionsJson['triggers'][number][] = []
  for (const key of keys.triggers) {
    const trigger = storedTrigger.get(key)
    const isDefined = trigger !== undefined && !isMadeByScheduler(trigger)
    const fields = isDefined ? definitionOf(trigger, { secrets }) : null
    if (fields) triggers.push({ key: keyToJson(key), fields })
    await work.breathe()
  }
  const { schedulerName } = scheduler
  const exportedMs = clock.now()
  return {
    format: 'quartz-ts',
    version: 1,
    schedulerName,
    exportedMs,
    calendars: calendars.items,
    jobs,
    triggers,
  }
}

async function readableCalendars(
  scheduler: Scheduler,
): Promise<Unreadable & { readonly items: DefinitionsJson['calendars'] }> {
  const items: DefinitionsJson['calendars'][number][] = []
  const faults: SchedulerError[] = []
  for (const name of await scheduler.getCalendarNames()) {
    const found = await storedCalendar(scheduler, name)
    if (found === null) continue
    if (found.fault !== null) faults.push(found.fault)
    else items.push({ name, definition: found.calendar.toJSON() })
  }
  return { items, faults, further: 0 }
}

/** Jobs that are there for what a scheduler has still to run, and for nothing else. */
export function spentJobs(triggers: readonly Trigger[], ofOthers: readonly JobKey[]): KeySet<JobKey> {
  const own = triggers.flatMap((trigger) => {
    return trigger.jobKey === null || !isMadeByScheduler(trigger) ? [] : [trigger.jobKey]
  })
  const others = triggers.flatMap((trigger) => {
    return trigger.jobKey === null || isMadeByScheduler(trigger) ? [] : [trigger.jobKey]
  })
  const defined = new KeySet([...others, ...ofOthers])
  return new KeySet(own.filter((key) => !defined.has(key)))
}

interface StoredKeys {
  readonly jobs: readonly JobKey[]
  readonly triggers: readonly TriggerKey[]
  /** Jobs with triggers of other programs. */
  readonly ofOthers: readonly JobKey[]
}

export async function keysOf(scheduler: Scheduler): Promise<StoredKeys> {
  const jobs: JobKey[] = []
  const triggers: TriggerKey[] = []
  const ofOthers: JobKey[] = []
  const collect = <Key>(keys: Key[], key: Key): void => {
    if (keys.length >= definitionsMax) {
      throw new InvalidArgumentError(
        'definitions',
        `A file has at most ${definitionsMax} jobs and as many triggers.`,
      )
    }
    keys.push(key)
  }
  await eachOf<JobSummary, JobKey>(
    (after) => scheduler.queryJobs({ take: 1000, ...(after !== null && { after }) }),
    ({ key }) => {
      collect(jobs, key)
    },
  )
  await eachOf<TriggerSummary, TriggerKey>(
    (after) => scheduler.queryTriggers({ take: 1000, ...(after !== null && { after }) }),
    ({ key, jobKey, type }) => {
      if (type === 'unknown') ofOthers.push(jobKey)
      else collect(triggers, key)
    },
  )
  return { jobs, triggers, ofOthers }
}
