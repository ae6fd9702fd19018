import { z } from 'zod'
import { InvalidArgumentError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { KeySet } from '../../core/key-set.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { DefinitionChanges, NamedCalendar } from '../../jobstore/definition-changes.ts'
import type { JobAndTriggers } from '../../jobstore/job-and-triggers.ts'
import { isMadeByScheduler } from '../../jobstore/own-triggers.ts'
import { redefined } from '../../jobstore/planned-job.ts'
import type { JobSummary, TriggerSummary } from '../../jobstore/queries.ts'
import { calendarInUse } from '../../jobstore/refusals.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock } from '../../time/clock.ts'
import type { Calendar, CalendarDefinition } from '../../triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../../triggers/calendars/calendar-json.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { RequestWork } from '../request-work.ts'
import { actionJson } from '../wire/action.ts'
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
import { calendarDefinitionJson } from './calendars.ts'
import { change, jobKeyOf, triggerKeyOf } from './changes.ts'
import { jobOf } from './jobs.ts'
import { storedJobs, storedTriggers } from './stored.ts'
import { calendarOf } from './trigger-details.ts'
import { editedTrigger, refuseOtherJob, triggerText } from './triggers.ts'

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

const definitionsMax = 20_000

const definitionsJson: z.ZodType<DefinitionsJson> = z.strictObject({
  format: z.literal('quartz-ts'),
  version: z.literal(1),
  schedulerName: textUpTo(500),
  exportedMs: instantMs,
  calendars: z.array(z.strictObject({ name: nameText, definition: calendarDefinitionJson })).max(1000),
  jobs: z.array(z.strictObject({ key: keyJson, fields: jobFieldsJson })).max(definitionsMax),
  triggers: z.array(z.strictObject({ key: keyJson, fields: triggerFieldsJson })).max(definitionsMax),
})

const exportDefinitions: Operation = operation({
  id: 'definitions.export',
  method: 'GET',
  path: '/definitions',
  summary:
    'All calendars, jobs and triggers as one file. Triggers of other programs and of your own families are left out, ' +
    'and those that the scheduler makes: retries, recoveries, items of sharded firings, and runs that were asked for.',
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
  const storedJob = await storedJobs(scheduler, keys.jobs)
  const storedTrigger = await storedTriggers(scheduler, keys.triggers)
  const calendars: DefinitionsJson['calendars'][number][] = []
  for (const name of await scheduler.getCalendarNames()) {
    const calendar = await scheduler.getCalendar(name)
    if (calendar !== null) calendars.push({ name, definition: calendar.toJSON() })
  }
  const jobs: DefinitionsJson['jobs'][number][] = []
  for (const key of keys.jobs) {
    const job = storedJob.get(key)
    if (job === undefined) continue
    const { key: jobKey, ...fields } = jobToJson(job, { secrets })
    jobs.push({ key: jobKey, fields })
    await work.breathe()
  }
  const triggers: DefinitionsJson['triggers'][number][] = []
  for (const key of keys.triggers) {
    const trigger = storedTrigger.get(key)
    const fields = trigger && definitionOf(trigger, { secrets })
    if (fields) triggers.push({ key: keyToJson(key), fields })
    await work.breathe()
  }
  const { schedulerName } = scheduler
  const exportedMs = clock.now()
  return { format: 'quartz-ts', version: 1, schedulerName, exportedMs, calendars, jobs, triggers }
}

async function keysOf(scheduler: Scheduler): Promise<{ jobs: JobKey[]; triggers: TriggerKey[] }> {
  const jobs: JobKey[] = []
  const triggers: TriggerKey[] = []
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
    ({ key, type }) => {
      if (type !== 'unknown' && !isMadeByScheduler(key)) collect(triggers, key)
    },
  )
  return { jobs, triggers }
}

interface Difference {
  readonly kind: 'calendar' | 'job' | 'trigger'
  /** The group of a calendar is empty. */
  readonly key: KeyJson
  readonly change: 'add' | 'change' | 'remove'
}

interface CalendarDifference extends Difference, NamedCalendar {}

interface JobDifference extends Difference {
  readonly job: JobDetail
}

interface TriggerDifference extends Difference {
  readonly trigger: Trigger
  /** That it takes the place of. */
  readonly stored: Trigger | null
}

const importDefinitions: Operation = operation({
  id: 'definitions.import',
  method: 'POST',
  path: '/definitions',
  summary:
    'Stores what a file defines, all of it or nothing; a dry run says what differs. A store of your own without ' +
    '`changeDefinitions` stores calendars first, one by one; then jobs and triggers; then removes what is not there.',
  role: 'admin',
  reach: 'data',
  takesFile: true,
  jobGroups: null,
  params: nothing,
  query: nothing,
  body: z.strictObject({
    definitions: definitionsJson,
    remove: z.boolean().default(false).describe('Also delete what the file does not have.'),
  }),
  answer: actionJson(
    z.strictObject({
      counts: z.strictObject({ add: z.number(), change: z.number(), remove: z.number(), same: z.number() }),
      differences: z
        .array(
          z.strictObject({
            kind: z.enum(['calendar', 'job', 'trigger']),
            key: z.strictObject({ group: z.string(), name: z.string() }),
            change: z.enum(['add', 'change', 'remove']),
          }),
        )
        .describe('The first thousand, in the order in which they are carried out.'),
    }),
  ),
  async handle(call) {
    const { scheduler, body, parts } = call
    const { definitions, remove } = body
    refuseTwice(definitions)
    refuseMadeByScheduler(definitions)
    const work = new RequestWork(parts.clock)
    const calendars = await calendarDifferences(scheduler, definitions)
    const differingJobs = await jobDifferences(scheduler, definitions, work)
    const triggers = await triggerDifferences(scheduler, definitions, { calendars, clock: parts.clock, work })
    const jobs = withoutPassed(differingJobs, definitions, triggers)
    const removals = remove ? await removalsOf(scheduler, definitions) : nothingToRemove
    const changes = { calendars, entries: entriesOf(jobs, triggers), ...removals }
    // A dry run does not say that all is well where the request itself is refused.
    if (call.isDryRun) {
      await scheduler.changeDefinitions(changes, { dryRun: true })
      await refuseOver(scheduler, { calendars, triggers }, parts.clock)
      await refuseUsedCalendars(scheduler, definitions, removals)
    }
    const steps: readonly Difference[] = [...calendars, ...jobs, ...triggers, ...removedDifferences(removals)]
    const count = (wanted: Difference['change']): number =>
      steps.filter((step) => step.change === wanted).length
    const named = definitions.calendars.length + definitions.jobs.length + definitions.triggers.length
    const counts = { add: count('add'), change: count('change'), remove: count('remove') }
    return change(call, 'data', {
      wouldChange: () => steps.length > 0,
      async carryOut() {
        await scheduler.changeDefinitions(changes)
        return steps.length > 0
      },
      result: {
        counts: { ...counts, same: named - counts.add - counts.change },
        differences: steps
          .slice(0, 1000)
          .map((step) => ({ kind: step.kind, key: step.key, change: step.change })),
      },
    })
  },
})

/** The last one would be stored, and the others would not. @throws InvalidArgumentError */
function refuseTwice({ calendars, jobs, triggers }: DefinitionsJson): void {
  const refuse = (list: 'calendars' | 'jobs' | 'triggers', texts: readonly string[]): void => {
    const seen = new Map<string, number>()
    for (const [index, text] of texts.entries()) {
      const first = seen.get(text)
      seen.set(text, index)
      if (first === undefined) continue
      const field = `definitions.${list}.${index}`
      throw new InvalidArgumentError(
        field,
        `'${field}' has the name of 'definitions.${list}.${first}'. Leave one of them out.`,
      )
    }
  }
  const textOf = ({ key: { group, name } }: { readonly key: KeyJson }): string =>
    JSON.stringify([group, name])
  refuse(
    'calendars',
    calendars.map(({ name }) => name),
  )
  refuse('jobs', jobs.map(textOf))
  refuse('triggers', triggers.map(textOf))
}

/** @throws InvalidArgumentError */
function refuseMadeByScheduler({ triggers }: DefinitionsJson): void {
  for (const [index, { key }] of triggers.entries()) {
    if (!isMadeByScheduler(triggerKeyOf(key))) continue
    const field = `definitions.triggers.${index}`
    throw new InvalidArgumentError(
      field,
      `'${field}' is a trigger that a scheduler makes by itself, to run something once. Leave it out.`,
    )
  }
}

async function calendarDifferences(
  scheduler: Scheduler,
  { calendars }: DefinitionsJson,
): Promise<readonly CalendarDifference[]> {
  const differences: CalendarDifference[] = []
  for (const { name, definition } of calendars) {
    const calendar = calendarFromJSON(definition)
    const stored = await scheduler.getCalendar(name)
    if (stored !== null && JSON.stringify(stored.toJSON()) === JSON.stringify(calendar.toJSON())) continue
    const key = { group: '', name }
    differences.push({ kind: 'calendar', key, change: stored === null ? 'add' : 'change', name, calendar })
  }
  return differences
}

async function jobDifferences(
  scheduler: Scheduler,
  { jobs }: DefinitionsJson,
  work: RequestWork,
): Promise<readonly JobDifference[]> {
  const differences: JobDifference[] = []
  const known = await storedJobs(
    scheduler,
    jobs.map(({ key }) => jobKeyOf(key)),
  )
  for (const [index, { key, fields }] of jobs.entries()) {
    const stored = known.get(jobKeyOf(key)) ?? null
    await work.breathe()
    const defined = jobOf(key, fields, stored, `definitions.jobs.${index}.fields.jobDataMap`)
    const job = stored === null ? defined : withDataKept(defined, stored)
    const text = JSON.stringify(jobToJson(job, { secrets: true }))
    if (stored !== null && JSON.stringify(jobToJson(stored, { secrets: true })) === text) continue
    differences.push({ kind: 'job', key, change: stored === null ? 'add' : 'change', job })
  }
  return differences
}

/** What a job keeps in its data is how far it has come, and no definition. */
function withDataKept(defined: JobDetail, stored: JobDetail): JobDetail {
  const keeps = defined.persistJobDataAfterExecution && stored.persistJobDataAfterExecution
  return keeps ? { ...defined, jobDataMap: stored.jobDataMap } : defined
}

/** Without new jobs that would be there for nothing, because the file has triggers of them that are over. */
function withoutPassed(
  jobs: readonly JobDifference[],
  { triggers }: DefinitionsJson,
  added: readonly TriggerDifference[],
): readonly JobDifference[] {
  const inFile = new KeySet(triggers.map(({ fields }) => jobKeyOf(fields.jobKey)))
  const needed = new KeySet(added.flatMap(({ trigger: { jobKey } }) => (jobKey === null ? [] : [jobKey])))
  return jobs.filter(({ change: kind, job }) => {
    return kind !== 'add' || job.durable || !inFile.has(job.key) || needed.has(job.key)
  })
}

interface TriggerComparison {
  readonly calendars: readonly CalendarDifference[]
  readonly clock: Clock
  readonly work: RequestWork
}

/** A trigger that is new here and over is left out: whatever it was to run has run elsewhere, or was missed there. */
async function triggerDifferences(
  scheduler: Scheduler,
  { triggers }: DefinitionsJson,
  { calendars, clock, work }: TriggerComparison,
): Promise<readonly TriggerDifference[]> {
  const differences: TriggerDifference[] = []
  const known = await storedTriggers(
    scheduler,
    triggers.map(({ key }) => triggerKeyOf(key)),
  )
  const calendarFor = calendarsInPlace(scheduler, calendars)
  const nowMs = clock.now()
  for (const [index, { key, fields }] of triggers.entries()) {
    await work.breathe()
    const stored = known.get(triggerKeyOf(key)) ?? null
    const dataField = `definitions.triggers.${index}.fields.jobDataMap`
    const trigger = editedTrigger(key, fields, { stored, nowMs, dataField })
    if (stored === null && isOver(trigger, await calendarFor(trigger), nowMs)) continue
    const text = triggerText(trigger)
    if (stored !== null && triggerText(stored) === text) continue
    if (stored !== null) refuseOtherJob(stored, trigger)
    differences.push({ kind: 'trigger', key, change: stored === null ? 'add' : 'change', trigger, stored })
  }
  return differences
}

/** Whether all of its fire times have passed. One that never had any is refused where it is stored. */
function isOver(trigger: Trigger, calendar: Calendar | null, nowMs: number): boolean {
  const first = trigger.computeFirstFireTime(calendar)
  return first.nextFireTimeMs !== null && first.withoutMissed(calendar, nowMs).nextFireTimeMs === null
}

/** The calendars of triggers, as they will be when the changes are made. */
function calendarsInPlace(
  scheduler: Scheduler,
  changed: readonly CalendarDifference[],
): (trigger: Trigger) => Promise<Calendar | null> {
  const known = new Map<string | null, Calendar | null>([[null, null]])
  for (const { name, calendar } of changed) known.set(name, calendar)
  return async (trigger) => {
    const { calendarName } = trigger
    if (!known.has(calendarName)) known.set(calendarName, await calendarOf(scheduler, trigger))
    return known.get(calendarName) ?? null
  }
}

/** Refuses what would not fire any more in place of what is stored. @throws SchedulerError ERR_TRIGGER_NEVER_FIRES */
async function refuseOver(
  scheduler: Scheduler,
  changed: {
    readonly calendars: readonly CalendarDifference[]
    readonly triggers: readonly TriggerDifference[]
  },
  clock: Clock,
): Promise<void> {
  const calendarFor = calendarsInPlace(scheduler, changed.calendars)
  const work = new RequestWork(clock)
  for (const { trigger, stored } of changed.triggers) {
    if (stored === null) continue
    const calendar = await calendarFor(trigger)
    redefined(stored, { trigger: trigger.computeFirstFireTime(calendar), calendar, nowMs: clock.now() })
    await work.breathe()
  }
}

/** Each job with its triggers; those of jobs that stay as they are by themselves. */
function entriesOf(
  jobs: readonly JobDifference[],
  triggers: readonly TriggerDifference[],
): readonly JobAndTriggers[] {
  const ofJob = new KeyMap<JobKey, Trigger[]>()
  for (const { job } of jobs) ofJob.set(job.key, [])
  const ofStored: Trigger[] = []
  for (const { trigger } of triggers) {
    const others = trigger.jobKey === null ? undefined : ofJob.get(trigger.jobKey)
    ;(others ?? ofStored).push(trigger)
  }
  return [
    ...jobs.map(({ job }) => ({ job, triggers: ofJob.get(job.key) ?? [] })),
    { job: null, triggers: ofStored },
  ]
}

type Removals = Pick<DefinitionChanges, 'removedTriggers' | 'removedJobs' | 'removedCalendars'>

const nothingToRemove: Removals = { removedTriggers: [], removedJobs: [], removedCalendars: [] }

async function removalsOf(scheduler: Scheduler, definitions: DefinitionsJson): Promise<Removals> {
  const keys = await keysOf(scheduler)
  const jobs = new KeySet(definitions.jobs.map(({ key }) => jobKeyOf(key)))
  const triggers = new KeySet(definitions.triggers.map(({ key }) => triggerKeyOf(key)))
  const calendars = new Set(definitions.calendars.map(({ name }) => name))
  return {
    removedTriggers: keys.triggers.filter((key) => !triggers.has(key)),
    removedJobs: keys.jobs.filter((key) => !jobs.has(key)),
    removedCalendars: (await scheduler.getCalendarNames()).filter((name) => !calendars.has(name)),
  }
}

/**
 * Refuses to remove a calendar that a trigger names in the end: one of the file, or of another program, which stays.
 *
 * @throws JobPersistenceError ERR_CALENDAR_IN_USE
 */
async function refuseUsedCalendars(
  scheduler: Scheduler,
  { triggers }: DefinitionsJson,
  { removedCalendars, removedJobs }: Removals,
): Promise<void> {
  const withoutJob = new KeySet(removedJobs)
  const users = new Map<string | null | undefined, KeyJson>()
  for (const { key, fields } of triggers) {
    if (!withoutJob.has(jobKeyOf(fields.jobKey))) users.set(fields.calendarName, key)
  }
  for (const calendarName of removedCalendars) {
    const user = users.get(calendarName)
    if (user !== undefined) throw calendarInUse(calendarName, triggerKeyOf(user))
    await eachOf<TriggerSummary, TriggerKey>(
      (after) => scheduler.queryTriggers({ calendarName, take: 1000, ...(after !== null && { after }) }),
      ({ key, jobKey, type }) => {
        if (type === 'unknown' && !withoutJob.has(jobKey)) throw calendarInUse(calendarName, key)
      },
    )
  }
}

function removedDifferences(removals: Removals): readonly Difference[] {
  const removal = (kind: Difference['kind'], key: KeyJson): Difference => ({ kind, key, change: 'remove' })
  return [
    ...removals.removedTriggers.map((key) => removal('trigger', keyToJson(key))),
    ...removals.removedJobs.map((key) => removal('job', keyToJson(key))),
    ...removals.removedCalendars.map((name) => removal('calendar', { group: '', name })),
  ]
}

export const definitionOperations: readonly Operation[] = [exportDefinitions, importDefinitions]
