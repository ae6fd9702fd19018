import { JobPersistenceError, SchedulerError } from '../../core/errors.ts'
import type { JobDataMap } from '../../core/job-data-map.ts'
import { defaultGroup, JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { isAttached } from '../../health/scheduler-health.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { PauseScope } from '../../jobstore/pauses.ts'
import type { Page, TriggerQuery, TriggerSummary } from '../../jobstore/queries.ts'
import type { TriggerState } from '../../jobstore/trigger-state.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { OperationCall, Reach } from '../catalogue/operation.ts'
import type { ActionJson, LandedJson, RunJson } from '../wire/action.ts'
import { type KeyJson, keyToJson } from '../wire/fields.ts'
import { eachOf } from '../wire/pages.ts'
import { isReplacingPause } from '../wire/pauses.ts'
import { summaryOf, unlessUnreadable } from './trigger-details.ts'

/** Where what this scheduler is told arrives. The data to which a server is attached is that of other nodes. */
export function landedIn(scheduler: Scheduler, reach: Reach): LandedJson {
  const { jobStoreClustered } = scheduler.getMetaData()
  const isShared = jobStoreClustered || isAttached(scheduler)
  const scope = reach === 'data' && isShared ? 'cluster' : 'node'
  return { scope, node: scheduler.schedulerInstanceId }
}

interface Change<Result> {
  /** Asked for a dry run. */
  readonly wouldChange: () => boolean | Promise<boolean>
  /** Answers whether something has changed. */
  readonly carryOut: () => Promise<boolean>
  readonly result: Result
}

/** Does what was asked, or says in a dry run what it would do. */
export async function change<Result>(
  { scheduler, isDryRun }: { readonly scheduler: Scheduler; readonly isDryRun: boolean },
  reach: Reach,
  { wouldChange, carryOut, result }: Change<Result>,
): Promise<ActionJson<Result>> {
  const changed = isDryRun ? await wouldChange() : await carryOut()
  return { dryRun: isDryRun, changed, landed: landedIn(scheduler, reach), result }
}

type TriggerVerb = 'pause' | 'resume' | 'resetError'

/** The states in which a trigger is changed. */
export const statesBefore: Readonly<Record<TriggerVerb, readonly TriggerState[]>> = {
  pause: ['NORMAL', 'BLOCKED'],
  resume: ['PAUSED'],
  resetError: ['ERROR'],
}

/** Whether it changes the trigger, or what is said of its pause. `body` is what a pause says. */
export async function changesTrigger(
  scheduler: Scheduler,
  key: TriggerKey,
  verb: TriggerVerb,
  body: unknown,
): Promise<boolean> {
  const summary = await summaryOf(scheduler, key)
  if (summary === undefined) return false
  if (statesBefore[verb].includes(summary.state)) return true
  if (verb !== 'pause' || summary.state !== 'PAUSED') return false
  return isReplacingPause(body) || summary.pause?.scope !== 'trigger'
}

/** Whether it changes a trigger of the job, which has no pause of its own, or what is said of the pause. */
export async function changesJob(
  scheduler: Scheduler,
  key: JobKey,
  verb: 'pause' | 'resume',
  body: unknown,
): Promise<boolean> {
  if (await isAnyIn(scheduler, { jobKey: key, state: statesBefore[verb] })) return true
  if (verb === 'resume') return false
  const ofJob = { jobKey: key, state: 'PAUSED' } as const
  if (isReplacingPause(body)) return isAnyIn(scheduler, ofJob)
  // A pause of each trigger itself hides that of the job.
  const scopes = new Set<PauseScope | null>()
  await eachOf<TriggerSummary, TriggerKey>(
    (after) => scheduler.queryTriggers({ ...ofJob, take: 1000, ...(after !== null && { after }) }),
    ({ pause }) => {
      scopes.add(pause?.scope ?? null)
    },
  )
  return scopes.size > 0 && !scopes.has('job')
}

/** Whether there is such a trigger. */
export async function isAnyIn(scheduler: Scheduler, wanted: TriggerQuery): Promise<boolean> {
  let after: TriggerKey | null = null
  do {
    const query: TriggerQuery = { ...wanted, take: 1, ...(after !== null && { after }) }
    const { items, next }: Page<TriggerSummary, TriggerKey> = await scheduler.queryTriggers(query)
    if (items.length > 0) return true
    after = next
  } while (after !== null)
  return false
}

/** @throws JobPersistenceError ERR_JOB_NOT_FOUND */
export function jobKeyOf({ group, name }: KeyJson): JobKey {
  if (isBlank(group, name)) throw unknownJob({ group, name })
  return new JobKey(name, group)
}

/** @throws SchedulerError ERR_TRIGGER_NOT_FOUND */
export function triggerKeyOf({ group, name }: KeyJson): TriggerKey {
  if (isBlank(group, name)) throw unknownTrigger({ group, name })
  return new TriggerKey(name, group)
}

function isBlank(group: string, name: string): boolean {
  return group.trim() === '' || name.trim() === ''
}

/** @throws JobPersistenceError ERR_JOB_NOT_FOUND */
export async function requireJob(scheduler: Scheduler, key: KeyJson): Promise<JobDetail> {
  const job = await scheduler.getJobDetail(jobKeyOf(key))
  if (job !== null) return job
  throw unknownJob(key)
}

export function unknownJob({ group, name }: KeyJson): JobPersistenceError {
  return new JobPersistenceError(`There is no job '${group}.${name}'.`, { code: 'ERR_JOB_NOT_FOUND' })
}

/** @throws SchedulerError ERR_TRIGGER_NOT_FOUND */
export async function requireTrigger(scheduler: Scheduler, key: KeyJson): Promise<Trigger> {
  const trigger = await scheduler.getTrigger(triggerKeyOf(key))
  if (trigger === null) throw unknownTrigger(key)
  return trigger
}

/**
 * The key of a stored job, whether it can be read or not: one that Java wrote can be paused.
 *
 * @throws JobPersistenceError ERR_JOB_NOT_FOUND
 */
export async function requireJobKey(scheduler: Scheduler, key: KeyJson): Promise<JobKey> {
  await unlessUnreadable(() => requireJob(scheduler, key))
  return jobKeyOf(key)
}

/** The same for a trigger. @throws SchedulerError ERR_TRIGGER_NOT_FOUND */
export async function requireTriggerKey(scheduler: Scheduler, key: KeyJson): Promise<TriggerKey> {
  await readableTrigger(scheduler, key)
  return triggerKeyOf(key)
}

/**
 * A stored trigger, or null for one that cannot be read: a row of it is there.
 *
 * @throws SchedulerError ERR_TRIGGER_NOT_FOUND
 */
export function readableTrigger(scheduler: Scheduler, key: KeyJson): Promise<Trigger | null> {
  return unlessUnreadable(() => requireTrigger(scheduler, key))
}

/** The group of the job of a trigger; none for a trigger that is not there. */
export async function jobGroupsOfTrigger(scheduler: Scheduler, key: KeyJson): Promise<readonly string[]> {
  const summary = await summaryOf(scheduler, triggerKeyOf(key))
  return summary === undefined ? [] : [summary.jobKey.group]
}

function unknownTrigger({ group, name }: KeyJson): SchedulerError {
  return new SchedulerError('ERR_TRIGGER_NOT_FOUND', `There is no trigger '${group}.${name}'.`)
}

/**
 * Which jobs a run by hand waits for, by their group: its trigger is stored paused in a paused group, as in Quartz. The
 * group of such triggers is always the default one.
 */
export async function pausedRuns(scheduler: Scheduler): Promise<(jobGroup: string) => boolean> {
  const paused = await scheduler.getPausedGroups()
  const jobGroups = new Set(paused.jobGroups.map(({ group }) => group))
  const ofTriggers = { group: GroupMatcher.groupEquals(defaultGroup) }
  // While everything is paused, so is a group that is not there yet.
  const isAll =
    paused.triggerGroups.some(({ group }) => group === defaultGroup) ||
    (paused.everyNewTriggerGroup && !(await isAnyIn(scheduler, ofTriggers)))
  return (jobGroup) => isAll || jobGroups.has(jobGroup)
}

/** Runs a job once, or looks in a dry run whether it could. */
export async function runOnce(
  call: Pick<OperationCall<unknown, unknown, unknown>, 'scheduler' | 'parts' | 'access' | 'isDryRun'>,
  jobKey: JobKey,
  data: JobDataMap,
): Promise<ActionJson<RunJson>> {
  const { scheduler, access, isDryRun } = call
  if (isDryRun) await requireRunnable(call, jobKey, data)
  // Before the run: were it looked at afterwards and that failed, the client would ask for another run.
  const paused = (await pausedRuns(scheduler))(jobKey.group)
  const made = isDryRun ? null : await scheduler.triggerJob(jobKey, data, { by: access.principal.name })
  return change(call, 'data', {
    wouldChange: () => true,
    carryOut: async () => true,
    result: { triggerKey: made && keyToJson(made), paused },
  })
}

/** A dry run does not say that all is well where the run itself is refused, as for data that are too large. */
async function requireRunnable(
  { scheduler, parts }: Pick<OperationCall<unknown, unknown, unknown>, 'scheduler' | 'parts'>,
  jobKey: JobKey,
  data: JobDataMap,
): Promise<void> {
  const { clock } = parts
  const trigger = TriggerBuilder.newTrigger({ clock }).forJob(jobKey).usingJobData(data).build()
  await scheduler.changeDefinitions({ entries: [{ job: null, triggers: [trigger] }] }, { dryRun: true })
}
