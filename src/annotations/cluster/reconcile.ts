import { ObjectAlreadyExistsError, SchedulerError } from '../../core/errors.ts'
import { type JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { jobTypesOfLiving } from '../../jobstore/cluster-view.ts'
import type { JobSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { CronTrigger } from '../../triggers/families/cron/cron-trigger.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { type ClusterJob, type ClusterTrigger, digestOf, jobTypeOf, schedulesOfJob } from './cluster-jobs.ts'

interface StoreOptions {
  readonly decides: boolean
  /** Whether a schedule was cancelled, maybe after storing began, so that it is stored no more. Default: none was. */
  readonly isCancelled?: (trigger: ClusterTrigger) => boolean
}

/** How often an instance starts again when another one deletes a job between two of its steps. */
const attemptsMax = 5

/**
 * Stores the jobs and triggers of this instance's methods. Those that are stored already are left alone, so that
 * instances that start together or one after the other change nothing.
 *
 * Where another instance has other schedules for a method, this one takes the method over only when it `decides`: when
 * it starts. Else it stores what has no trigger left, and mends what it has decided itself.
 */
export async function storeJobs(
  scheduler: Scheduler,
  jobs: Iterable<ClusterJob>,
  options: StoreOptions,
): Promise<void> {
  for (const each of jobs) {
    for (let attempt = 1; ; attempt++) {
      try {
        await storeJob(scheduler, each, options)
        break
      } catch (error) {
        const isGone = error instanceof SchedulerError && error.code === 'ERR_JOB_NOT_FOUND'
        if (!isGone || attempt === attemptsMax) throw error
      }
    }
  }
}

/**
 * The job says whose schedules are to be stored, and one of several instances is the last to write that. Nothing else
 * keeps instances from writing triggers at the same time, so each looks again after it has written.
 */
async function storeJob(
  scheduler: Scheduler,
  { job, triggers }: ClusterJob,
  { decides, isCancelled = () => false }: StoreOptions,
): Promise<void> {
  if (triggers.length === 0) {
    // Later the job is that of an instance which started after this one and has a schedule.
    if (decides) await scheduler.deleteJob(job.key)
    return
  }
  const added: ClusterTrigger[] = []
  for (let pass = 1; pass <= attemptsMax; pass++) {
    const wanted = triggers.filter((trigger) => !isCancelled(trigger))
    if (wanted.length === 0) return
    const existing = await scheduler.getJobDetail(job.key)
    // Triggers of retries, recoveries and users are in other groups.
    const stored = (await scheduler.getTriggersOfJob(job.key)).filter(
      ({ key }) => key.group === job.key.group,
    )
    const isDecided = existing !== null && stored.length > 0 && !haveSameSchedules(existing, job)
    if (isDecided && !(decides && pass === 1)) {
      await withdraw(scheduler, added, { stored, wanted: schedulesOfJob(existing) })
      return
    }
    const isStored = existing !== null && isSame(existing, job)
    if (!isStored) await unlessStored(scheduler.addJob(job, { replace: existing !== null }))
    const comparison = compare(stored, wanted)
    if (isStored && isSettled(comparison)) return
    added.push(...(await storeTriggers(scheduler, comparison, isCancelled)))
  }
}

/** Answers what was added, and not put in the place of another schedule. */
async function storeTriggers(
  scheduler: Scheduler,
  { fresh, changed, stale }: Comparison,
  isCancelled: (trigger: ClusterTrigger) => boolean,
): Promise<readonly ClusterTrigger[]> {
  for (const [former, trigger] of changed) {
    if (isCancelled(trigger)) continue
    trigger.key = former.key
    // The pause stays, and the misfire policy of the new schedule decides about what was due.
    const goesOnFrom = trigger.kind === 'cron' ? 'due' : 'lastFire'
    const next = await scheduler.rescheduleJob(former.key, trigger.build(), { goesOnFrom })
    if (next === null) fresh.push(trigger)
  }
  for (const trigger of fresh) {
    if (!isCancelled(trigger)) await unlessStored(scheduler.scheduleJob(trigger.build()))
  }
  if (stale.length > 0) await scheduler.unscheduleJobs(stale.map(({ key }) => key))
  return fresh
}

/**
 * Deletes what this instance has added while another one decided. While a schedule of that one is missing, they stay:
 * it may have stopped before it stored all, and the method would run no more.
 */
async function withdraw(
  scheduler: Scheduler,
  added: readonly ClusterTrigger[],
  { stored, wanted }: { readonly stored: readonly Trigger[]; readonly wanted: readonly string[] },
): Promise<void> {
  const digests = new Set(stored.map(digestOf))
  if (!wanted.every((digest) => digests.has(digest))) return
  const unwanted = stored.filter((trigger) => {
    const digest = digestOf(trigger)
    return !wanted.includes(digest) && added.some((each) => each.digest === digest)
  })
  if (unwanted.length > 0) await scheduler.unscheduleJobs(unwanted.map(({ key }) => key))
}

interface Comparison {
  /** Schedules that are to be stored. */
  readonly fresh: ClusterTrigger[]
  /** Schedules that take the places of stored ones. */
  readonly changed: readonly (readonly [former: Trigger, trigger: ClusterTrigger])[]
  /** What no schedule is left for. */
  readonly stale: readonly Trigger[]
}

function isSettled({ fresh, changed, stale }: Comparison): boolean {
  return fresh.length + changed.length + stale.length === 0
}

/**
 * Finds the schedules of a method among its stored triggers. What is stored of a former schedule goes to one of the
 * same kind first, and then to any that is not stored.
 */
function compare(stored: readonly Trigger[], triggers: readonly ClusterTrigger[]): Comparison {
  const stale = new Set(stored)
  const fresh = new Set(triggers)
  const pair = (fits: (former: Trigger, trigger: ClusterTrigger) => boolean): [Trigger, ClusterTrigger][] => {
    const pairs: [Trigger, ClusterTrigger][] = []
    for (const trigger of fresh) {
      const former = [...stale].find((each) => fits(each, trigger))
      if (former === undefined) continue
      pairs.push([former, trigger])
      stale.delete(former)
      fresh.delete(trigger)
    }
    return pairs
  }
  const same = pair((former, { digest }) => digestOf(former) === digest)
  for (const [former, trigger] of same) trigger.key = former.key
  const changed = [
    ...pair((former, { kind }) => former instanceof CronTrigger === (kind === 'cron')),
    ...pair(() => true),
  ]
  const taken = new Set([...same, ...changed].map(([{ key }]) => key.name))
  for (const trigger of fresh) trigger.key = freeKey(trigger.key, taken)
  return { fresh: [...fresh], changed, stale: [...stale] }
}

/** A schedule may come back whose own name another one has taken. */
function freeKey(key: TriggerKey, taken: ReadonlySet<string>): TriggerKey {
  return taken.has(key.name) ? freeKey(new TriggerKey(`${key.name}+`, key.group), taken) : key
}

/** Another instance that starts at the same time may have stored it first. */
async function unlessStored(storing: Promise<unknown>): Promise<void> {
  try {
    await storing
  } catch (error) {
    if (!(error instanceof ObjectAlreadyExistsError)) throw error
  }
}

function isSame(stored: JobDetail, job: JobDetail): boolean {
  return (
    stored.jobType === job.jobType &&
    stored.description === job.description &&
    stored.durable &&
    stored.disallowConcurrentExecution &&
    haveSameSchedules(stored, job)
  )
}

function haveSameSchedules(stored: JobDetail, job: JobDetail): boolean {
  return schedulesOfJob(stored).join() === schedulesOfJob(job).join()
}

/** What a look for jobs without a method found. */
export interface Look {
  /** False while other nodes have methods that this one lacks, or may have: those nodes may stop. */
  readonly isOver: boolean
  /** The job types that no node has. */
  readonly unknown: ReadonlySet<string>
}

/**
 * Deletes the jobs of the group whose methods no live node has. Where there may be other nodes, a look before this one
 * must have found the same, because the only node with a method may just start again.
 */
export async function deleteUnknown(
  scheduler: Scheduler,
  group: string,
  { own, before }: { readonly own: readonly JobKey[]; readonly before: ReadonlySet<string> },
): Promise<Look> {
  const foreign = (await jobsOf(scheduler, group)).filter(({ key }) => !own.some((mine) => mine.equals(key)))
  // Read after the jobs: a node publishes its job types before it looks for its jobs.
  const known = jobTypesOfLiving(await scheduler.cluster.nodes())
  if (known === null) return { isOver: foreign.length === 0, unknown: new Set() }
  const unknown = foreign.filter(({ jobType }) => !known.has(jobType))
  const { jobStoreClustered } = scheduler.getMetaData()
  const lost = jobStoreClustered ? unknown.filter(({ jobType }) => before.has(jobType)) : unknown
  if (lost.length > 0) await scheduler.deleteJobs(lost.map(({ key }) => key))
  return {
    isOver: lost.length === foreign.length,
    unknown: new Set(unknown.map(({ jobType }) => jobType)),
  }
}

async function jobsOf(scheduler: Scheduler, group: string): Promise<readonly JobSummary[]> {
  const jobs: JobSummary[] = []
  let after: JobKey | null = null
  do {
    const page: Awaited<ReturnType<Scheduler['queryJobs']>> = await scheduler.queryJobs({
      group: GroupMatcher.groupEquals(group),
      ...(after === null ? {} : { after }),
    })
    // Other entries of the group do not belong to the annotations.
    jobs.push(...page.items.filter(({ key, jobType }) => jobType === jobTypeOf(group, key.name)))
    after = page.next
  } while (after !== null)
  return jobs
}
