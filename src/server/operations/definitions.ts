import { z } from 'zod'
import { InvalidArgumentError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { KeySet } from '../../core/key-set.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import {
  type DefinitionChanges,
  type NamedCalendar,
  withDataKept,
} from '../../jobstore/definition-changes.ts'
import type { JobAndTriggers } from '../../jobstore/job-and-triggers.ts'
import { isMadeByScheduler } from '../../jobstore/own-triggers.ts'
import { redefined } from '../../jobstore/planned-job.ts'
import type { TriggerSummary } from '../../jobstore/queries.ts'
import { calendarInUse } from '../../jobstore/refusals.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../../triggers/calendars/calendar-json.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { RequestWork } from '../request-work.ts'
import { actionJson } from '../wire/action.ts'
import { type KeyJson, keyToJson, nothing } from '../wire/fields.ts'
import { jobToJson } from '../wire/jobs.ts'
import { eachOf } from '../wire/pages.ts'
import { calendarToReplace } from './calendars.ts'
import { change, jobKeyOf, triggerKeyOf } from './changes.ts'
import {
  type DefinitionsJson,
  definitionsJson,
  exportDefinitions,
  keysOf,
  spentJobs,
} from './definitions-export.ts'
import { ofEntry } from './import-entry.ts'
import { jobOf } from './jobs.ts'
import { storedJobs, storedTriggers } from './stored.ts'
import { calendarOf } from './trigger-details.ts'
import { editedTrigger, refuseOtherJob, triggerText } from './triggers.ts'

/** What is due for less long is in time, and is stored. */
const inTimeMs = 60_000

interface Difference {
  readonly kind: 'calendar' | 'job' | 'trigger'
  /** The group of a calendar is empty. */
  readonly key: KeyJson
  readonly change: 'add' | 'change' | 'remove' | 'leaveOut'
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
      counts: z.strictObject({
        add: z.number(),
        change: z.number(),
        remove: z.number(),
        leaveOut: z
          .number()
          .describe('New triggers whose times have all passed, and jobs that are there for them.'),
        same: z.number(),
      }),
      differences: z
        .array(
          z.strictObject({
            kind: z.enum(['calendar', 'job', 'trigger']),
            key: z.strictObject({ group: z.string(), name: z.string() }),
            change: z.enum(['add', 'change', 'remove', 'leaveOut']),
          }),
        )
        .describe('The first thousand, in the order in which they are carried out.'),
    }),
  ),
  async handle(call) {
    const { scheduler, body, parts } = call
    const { definitions, remove } = body
    refuseTwice(definitions)
    const work = new RequestWork(parts.clock)
    const calendars = await calendarDifferences(scheduler, definitions)
    const differingJobs = await jobDifferences(scheduler, definitions, work)
    const triggers = await triggerDifferences(scheduler, definitions, { calendars, clock: parts.clock, work })
    const jobs = withoutPassed(differingJobs, triggers)
    const removals = remove ? await removalsOf(scheduler, definitions) : nothingToRemove
    const entries = entriesOf(jobs.filter(isStored), triggers.filter(isStored))
    const changes = { calendars, entries, keepsJobData: true, ...removals }
    // A dry run does not say that all is well where the request itself is refused.
    if (call.isDryRun) {
      await scheduler.changeDefinitions(changes, { dryRun: true })
      await refuseOver(scheduler, { calendars, triggers }, parts.clock)
      await refuseUsedCalendars(scheduler, definitions, removals)
    }
    const steps: readonly Difference[] = [...calendars, ...jobs, ...triggers, ...removedDifferences(removals)]
    const isChange = steps.some(isStored)
    return change(call, 'data', {
      wouldChange: () => isChange,
      async carryOut() {
        await scheduler.changeDefinitions(changes)
        return isChange
      },
      result: {
        counts: countsOf(steps, definitions),
        differences: steps
          .slice(0, 1000)
          .map((step) => ({ kind: step.kind, key: step.key, change: step.change })),
      },
    })
  },
})

function isStored({ change: kind }: Difference): boolean {
  return kind !== 'leaveOut'
}

function countsOf(
  steps: readonly Difference[],
  { calendars, jobs, triggers }: DefinitionsJson,
): Record<Difference['change'] | 'same', number> {
  const count = (wanted: Difference['change']): number =>
    steps.filter((step) => step.change === wanted).length
  const [add, changed, leaveOut] = [count('add'), count('change'), count('leaveOut')]
  const same = calendars.length + jobs.length + triggers.length - add - changed - leaveOut
  return { add, change: changed, remove: count('remove'), leaveOut, same }
}

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

async function calendarDifferences(
  scheduler: Scheduler,
  { calendars }: DefinitionsJson,
): Promise<readonly CalendarDifference[]> {
  const differences: CalendarDifference[] = []
  for (const [index, { name, definition }] of calendars.entries()) {
    const calendar = ofEntry({ list: 'calendars', index, name }, () => calendarFromJSON(definition))
    const found = await calendarToReplace(scheduler, name)
    const stored = found?.calendar?.toJSON()
    if (stored !== undefined && JSON.stringify(stored) === JSON.stringify(calendar.toJSON())) continue
    const key = { group: '', name }
    differences.push({ kind: 'calendar', key, change: found === null ? 'add' : 'change', name, calendar })
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
    const dataField = `definitions.jobs.${index}.fields.jobDataMap`
    const entry = { list: 'jobs', index, name: nameOf(key) } as const
    const defined = ofEntry(entry, () => jobOf(key, fields, stored, dataField))
    const job = stored === null ? defined : withDataKept(defined, stored)
    const text = JSON.stringify(jobToJson(job, { secrets: true }))
    if (stored !== null && JSON.stringify(jobToJson(stored, { secrets: true })) === text) continue
    differences.push({ kind: 'job', key, change: stored === null ? 'add' : 'change', job })
  }
  return differences
}

const nameOf = ({ group, name }: KeyJson): string => `${group}/${name}`

/** New jobs that would be there for nothing, because the file has triggers of them that are over, are left out. */
function withoutPassed(
  jobs: readonly JobDifference[],
  triggers: readonly TriggerDifference[],
): readonly JobDifference[] {
  const jobsOf = (differences: readonly TriggerDifference[]): KeySet<JobKey> =>
    new KeySet(differences.flatMap(({ trigger: { jobKey } }) => (jobKey === null ? [] : [jobKey])))
  const passed = jobsOf(triggers.filter((trigger) => !isStored(trigger)))
  const needed = jobsOf(triggers.filter(isStored))
  return jobs.map((difference) => {
    const { change: kind, job } = difference
    const isNeeded = kind !== 'add' || job.durable || !passed.has(job.key) || needed.has(job.key)
    return isNeeded ? difference : { ...difference, change: 'leaveOut' }
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
    const entry = { list: 'triggers', index, name: nameOf(key) } as const
    const trigger = ofEntry(entry, () => editedTrigger(key, fields, { stored, nowMs, dataField }))
    const text = triggerText(trigger)
    if (stored !== null && triggerText(stored) === text) continue
    if (stored !== null) refuseOtherJob(stored, trigger)
    refuseMadeByScheduler(trigger, `definitions.triggers.${index}`)
    const isPassed = stored === null && fields.startTimeMs !== null
    const isLeftOut = isPassed && isOver(trigger, await calendarFor(trigger), nowMs - inTimeMs)
    const kind = isLeftOut ? 'leaveOut' : 'add'
    differences.push({ kind: 'trigger', key, change: stored === null ? kind : 'change', trigger, stored })
  }
  return differences
}

/** @throws InvalidArgumentError */
function refuseMadeByScheduler(trigger: Trigger, field: string): void {
  if (!isMadeByScheduler(trigger)) return
  throw new InvalidArgumentError(
    field,
    `'${field}' is a trigger that a scheduler makes by itself, to run something once. Leave it out.`,
  )
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
  const others = keys.triggers.filter((key) => !triggers.has(key))
  const stored = await storedTriggers(scheduler, others)
  const isDefined = (key: TriggerKey): boolean => {
    const trigger = stored.get(key)
    return trigger !== undefined && !isMadeByScheduler(trigger)
  }
  const spent = spentJobs(stored.values(), keys.ofOthers)
  return {
    removedTriggers: others.filter(isDefined),
    removedJobs: keys.jobs.filter((key) => !jobs.has(key) && !spent.has(key)),
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
