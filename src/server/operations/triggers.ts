import { z } from 'zod'
import { InvalidArgumentError } from '../../core/errors.ts'
import { emptyJobDataMap, mergeJobData } from '../../core/job-data-map.ts'
import type { TriggerKey } from '../../core/key.ts'
import { firingPartOf } from '../../jobstore/firing-part.ts'
import { redefined, redefinition } from '../../jobstore/planned-job.ts'
import { jobKeyMismatch, noFireIsNext, otherFireIsNext } from '../../jobstore/refusals.ts'
import type { Scheduler, SkippedFireTimes } from '../../scheduler/scheduler.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { unmasked } from '../masking.ts'
import { actionJson, plainActionJson, runActionJson } from '../wire/action.ts'
import {
  dataJson,
  instantMs,
  instantOrNull,
  type KeyJson,
  keyPath,
  nothing,
  wholeQuery,
} from '../wire/fields.ts'
import { pauseBody, pauseOptionsOf, requireLater, resumeBody } from '../wire/pauses.ts'
import {
  definitionOf,
  type TriggerFieldsJson,
  triggerDetailJson,
  triggerFieldsJson,
  triggerOf,
} from '../wire/triggers.ts'
import {
  change,
  changesTrigger,
  jobGroupsOfTrigger,
  readableTrigger,
  requireJob,
  requireTrigger,
  requireTriggerKey,
  runOnce,
  triggerKeyOf,
} from './changes.ts'
import { calendarOf, detailOf, fireTimesOf, storedFireTimesOf } from './trigger-details.ts'

const triggerPath = '/triggers/{group}/{name}'

const ofTrigger = ({
  scheduler,
  params,
}: OperationCall<KeyJson, unknown, unknown>): Promise<readonly string[]> =>
  jobGroupsOfTrigger(scheduler, params)

const getTrigger: Operation = operation({
  id: 'triggers.get',
  method: 'GET',
  path: triggerPath,
  summary: 'A trigger of any kind, its data and how far it has come.',
  role: 'viewer',
  reach: null,
  isVersioned: true,
  jobGroups: ofTrigger,
  params: keyPath,
  query: nothing,
  body: null,
  answer: triggerDetailJson,
  async handle({ scheduler, params, exchange }) {
    const trigger = await requireTrigger(scheduler, params)
    exchange.noteStored(planOf(trigger))
    return detailOf(scheduler, trigger)
  },
})

const instants = z.array(instantMs)

const fireTimes: Operation = operation({
  id: 'triggers.fireTimes',
  method: 'GET',
  path: `${triggerPath}/fire-times`,
  summary: 'The next fire times of a trigger, without those that its calendar excludes.',
  role: 'viewer',
  reach: null,
  jobGroups: ofTrigger,
  params: keyPath,
  query: z.strictObject({ count: wholeQuery(1, 100).default(20) }),
  body: null,
  answer: z.strictObject({ fireTimesMs: instants }),
  async handle({ scheduler, params, query }) {
    const trigger = await requireTrigger(scheduler, params)
    return { fireTimesMs: await storedFireTimesOf(scheduler, trigger, query.count) }
  },
})

/** How many fire times the answers to edits have. */
const shownFireTimes = 10

const putTrigger: Operation = operation({
  id: 'triggers.put',
  method: 'PUT',
  path: triggerPath,
  summary:
    'Stores a trigger of any kind for a job that exists, or replaces one; says its fire times before and after.',
  role: 'admin',
  reach: 'data',
  isVersioned: true,
  async jobGroups({ scheduler, params, body }) {
    return [...(await jobGroupsOfTrigger(scheduler, params)), body.jobKey.group]
  },
  params: keyPath,
  query: nothing,
  body: triggerFieldsJson,
  answer: actionJson(
    z.strictObject({
      before: triggerFieldsJson.nullable(),
      beforeMs: instants,
      after: triggerFieldsJson,
      afterMs: instants,
    }),
  ),
  async handle(call) {
    const { scheduler, params, body, parts } = call
    await requireJob(scheduler, body.jobKey)
    const stored = await scheduler.getTrigger(triggerKeyOf(params))
    call.exchange.noteStored(stored && planOf(stored))
    const nowMs = parts.clock.now()
    const trigger = editedTrigger(params, body, { stored, nowMs })
    const differs = stored === null || triggerText(stored) !== triggerText(trigger)
    if (stored !== null) refuseOtherJob(stored, trigger)
    // A dry run does not say that all is well where the request itself is refused.
    if (differs && call.isDryRun) {
      await scheduler.changeDefinitions({ entries: [{ job: null, triggers: [trigger] }] }, { dryRun: true })
    }
    const beforeMs = stored === null ? [] : await storedFireTimesOf(scheduler, stored, shownFireTimes)
    const edited = differs ? await asItWillBe(scheduler, trigger, { stored, nowMs }) : null
    const afterMs = edited === null ? beforeMs : await fireTimesOf(scheduler, edited, shownFireTimes)
    return change(call, 'data', {
      wouldChange: () => differs,
      async carryOut() {
        if (differs) await storeTrigger(call, trigger, stored)
        return differs
      },
      result: {
        before: stored && definitionOf(stored),
        beforeMs,
        after: definitionOf(trigger) ?? body,
        afterMs,
      },
    })
  },
})

/** The trigger with its next fire time, in place of the stored one. @throws SchedulerError ERR_TRIGGER_NEVER_FIRES */
async function asItWillBe(
  scheduler: Scheduler,
  trigger: Trigger,
  { stored, nowMs }: EditedFrom,
): Promise<Trigger> {
  const calendar = await calendarOf(scheduler, trigger)
  const first = trigger.computeFirstFireTime(calendar)
  return stored === null ? first : redefined(stored, { trigger: first, calendar, nowMs })
}

/** Stores an edited trigger, which keeps the pause of the stored one and what was due. */
async function storeTrigger(
  { scheduler, exchange }: OperationCall<KeyJson, unknown, unknown>,
  trigger: Trigger,
  stored: Trigger | null,
): Promise<void> {
  if (stored !== null) {
    const calendar = await calendarOf(scheduler, trigger)
    const { trigger: next, goesOnFrom } = redefinition(stored, trigger, calendar)
    const options = { goesOnFrom, ...(exchange.isOnlyAsRead && { expected: stored }) }
    if ((await scheduler.rescheduleJob(stored.key, next, options)) !== null) return
    // It has ended, or was deleted, since it was read: a caller who wants it as it was is told so.
    exchange.noteStored(null)
  }
  await scheduler.scheduleJob(trigger)
}

/** A trigger keeps its job, as it does when it is rescheduled. @throws JobPersistenceError ERR_JOB_KEY_MISMATCH */
export function refuseOtherJob(stored: Trigger, trigger: Trigger): void {
  const { jobKey } = stored
  if (jobKey !== null && trigger.jobKey?.equals(jobKey) !== true) {
    throw jobKeyMismatch(trigger.key, jobKey, trigger.jobKey)
  }
}

/** What an edit replaces: not how far the trigger has come. */
const planOf = (trigger: Trigger): { readonly definition: unknown } => ({ definition: definitionOf(trigger) })

interface EditedFrom {
  readonly stored: Trigger | null
  readonly nowMs: number
  /** Where its data are, for messages. */
  readonly dataField?: string
}

/**
 * The trigger that a client describes. Masked values stand for those that are stored, and one that begins "now" has
 * begun: the same may be sent again and again.
 *
 * @throws InvalidArgumentError for masked values that stand for nothing
 */
export function editedTrigger(
  key: KeyJson,
  fields: TriggerFieldsJson,
  { stored, nowMs, dataField }: EditedFrom,
): Trigger {
  const jobDataMap = unmasked(fields.jobDataMap, stored?.jobDataMap ?? {}, dataField)
  const storedStartMs = stored === null ? nowMs : (definitionOf(stored)?.startTimeMs ?? stored.startTimeMs)
  return triggerOf(key, { ...fields, jobDataMap }, fields.startTimeMs ?? storedStartMs)
}

/** What a trigger is to be, as text to compare. */
export function triggerText(trigger: Trigger): string {
  const entries = Object.entries(definitionOf(trigger, { secrets: true }) ?? {})
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const deleteTrigger: Operation = operation({
  id: 'triggers.delete',
  method: 'DELETE',
  path: triggerPath,
  summary:
    'Unschedules a trigger, also one that cannot be read, and deletes its job when that is not durable and this was ' +
    'its last trigger.',
  role: 'admin',
  reach: 'data',
  isVersioned: true,
  jobGroups: ofTrigger,
  params: keyPath,
  query: nothing,
  body: null,
  answer: plainActionJson,
  async handle(call) {
    // One that cannot be read is deleted as well: nothing else can be done to it.
    const trigger = await readableTrigger(call.scheduler, call.params)
    const key = triggerKeyOf(call.params)
    call.exchange.noteStored(trigger === null ? {} : planOf(trigger))
    call.exchange.noteBefore(trigger === null ? null : definitionOf(trigger))
    return change(call, 'data', {
      wouldChange: () => true,
      async carryOut() {
        const { scheduler, exchange } = call
        const options = exchange.isOnlyAsRead && trigger !== null ? { expected: trigger } : {}
        const isDeleted = await scheduler.unscheduleJob(key, options)
        if (!isDeleted) exchange.noteStored(null)
        return isDeleted
      },
      result: null,
    })
  },
})

interface Verb<Body> {
  readonly verb: 'pause' | 'resume' | 'resetError'
  readonly summary: string
  readonly body: z.ZodType<Body> | null
  readonly carryOut: (call: OperationCall<KeyJson, unknown, Body>, key: TriggerKey) => Promise<boolean>
}

function steerTrigger<Body>({ verb, summary, body, carryOut }: Verb<Body>): Operation {
  return operation({
    id: `triggers.${verb}`,
    method: 'POST',
    path: `${triggerPath}/${verb === 'resetError' ? 'reset-error' : verb}`,
    summary,
    role: 'operator',
    reach: 'data',
    jobGroups: ofTrigger,
    params: keyPath,
    query: nothing,
    body,
    answer: plainActionJson,
    async handle(call) {
      requireLater(call.body, call.parts.clock.now())
      const key = await requireTriggerKey(call.scheduler, call.params)
      const changes = await changesTrigger(call.scheduler, key, verb, call.body)
      return change(call, 'data', {
        wouldChange: () => changes,
        carryOut: async () => (await carryOut(call as OperationCall<KeyJson, unknown, Body>, key)) && changes,
        result: null,
      })
    },
  })
}

const runTrigger: Operation = operation({
  id: 'triggers.run',
  method: 'POST',
  path: `${triggerPath}/run`,
  summary:
    'Runs the job of a trigger once, now, with the data of the trigger; the trigger stays as it is. Where groups of ' +
    'the run are paused, it waits.',
  role: 'operator',
  reach: 'data',
  jobGroups: ofTrigger,
  params: keyPath,
  query: nothing,
  body: z.strictObject({ jobDataMap: dataJson.default({}).describe("Goes over the trigger's data.") }),
  answer: runActionJson,
  async handle(call) {
    const { scheduler, params, body } = call
    const trigger = await requireTrigger(scheduler, params)
    const job = await requireJob(scheduler, trigger.jobKey ?? params)
    refuseItem(trigger)
    const own = mergeJobData(emptyJobDataMap, trigger.jobDataMap)
    const shown = { ...job.jobDataMap, ...own }
    const data = { ...own, ...unmasked(body.jobDataMap, shown) }
    return runOnce(call, job.key, data)
  },
})

/** A run of its job would be one of all items. @throws InvalidArgumentError */
function refuseItem({ jobDataMap }: Trigger): void {
  if (firingPartOf(jobDataMap) === null) return
  throw new InvalidArgumentError(
    'name',
    'This trigger is of one item of a sharded firing, and runs it by itself. Run the job to run all of its items.',
  )
}

const skipNext: Operation = operation({
  id: 'triggers.skipNext',
  method: 'POST',
  path: `${triggerPath}/skip-next`,
  summary: 'Leaves out the next fire of a trigger; one that has none left is complete, or stays paused.',
  role: 'operator',
  reach: 'data',
  jobGroups: ofTrigger,
  params: keyPath,
  query: nothing,
  body: z.strictObject({
    expectedMs: instantOrNull
      .default(null)
      .describe(
        'The fire time to leave out, as it was shown: 412 when another one or none is next. Null: any.',
      ),
  }),
  answer: actionJson(
    z
      .strictObject({ skippedMs: instantMs, nextMs: instantOrNull })
      .nullable()
      .describe('Null for a trigger that is complete or in error, where no fire time was expected.'),
  ),
  async handle(call) {
    const { scheduler, params, body, isDryRun } = call
    const trigger = await requireTrigger(scheduler, params)
    const { expectedMs } = body
    const expected = expectedMs === null ? undefined : new Date(expectedMs)
    const result = isDryRun
      ? await wouldSkip(scheduler, trigger, expectedMs)
      : skippedToJson(await scheduler.skipNextFire(trigger.key, expected))
    return change(call, 'data', {
      wouldChange: () => result !== null,
      carryOut: async () => result !== null,
      result,
    })
  },
})

interface SkippedJson {
  readonly skippedMs: number
  readonly nextMs: number | null
}

function skippedToJson(skipped: SkippedFireTimes | null): SkippedJson | null {
  return skipped && { skippedMs: skipped.skipped.getTime(), nextMs: skipped.next?.getTime() ?? null }
}

async function wouldSkip(
  scheduler: Scheduler,
  trigger: Trigger,
  expectedMs: number | null,
): Promise<SkippedJson | null> {
  const { nextFireTimeMs } = trigger
  const state = await scheduler.getTriggerState(trigger.key)
  if (nextFireTimeMs === null || state === 'COMPLETE' || state === 'ERROR') return noFireIsNext(expectedMs)
  if (expectedMs !== null && nextFireTimeMs !== expectedMs) throw otherFireIsNext(expectedMs, nextFireTimeMs)
  const after = trigger.withoutNextFire(await calendarOf(scheduler, trigger))
  return { skippedMs: nextFireTimeMs, nextMs: after.nextFireTimeMs }
}

export const triggerOperations: readonly Operation[] = [
  getTrigger,
  fireTimes,
  putTrigger,
  deleteTrigger,
  runTrigger,
  skipNext,
  steerTrigger({
    verb: 'pause',
    summary: 'Pauses a trigger; the reason and who paused it are listed with it.',
    body: pauseBody,
    carryOut: ({ scheduler, body, access }, key) =>
      scheduler.pauseTrigger(key, pauseOptionsOf(body, access.principal.name)),
  }),
  steerTrigger({
    verb: 'resume',
    summary: 'Resumes a trigger; what it missed goes through its misfire instruction.',
    body: resumeBody,
    carryOut: ({ scheduler, body }, key) => scheduler.resumeTrigger(key, body),
  }),
  steerTrigger({
    verb: 'resetError',
    summary: 'Lets a trigger in the ERROR state fire again.',
    body: null,
    carryOut: ({ scheduler }, key) => scheduler.resetTriggerFromErrorState(key),
  }),
]
