import { checkWhole } from '../core/arguments.ts'
import { SchedulerError } from '../core/errors.ts'
import { checkJobKey, type JobKey } from '../core/key.ts'
import { isAhead } from '../jobstore/clock-ahead.ts'
import type { JobStatus } from '../jobstore/job-status.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { dayMs } from '../time/civil.ts'
import type { EpochMs } from '../time/clock.ts'
import type { HealthReason } from './health-report.ts'

/** What a rule of health or of alerts is checked with. */
export interface RuleCheck {
  readonly scheduler: Scheduler
  readonly nowMs: EpochMs
  /**
   * Since when the health of the scheduler is watched. What never happened was not expected before, as far as the store
   * does not know better.
   */
  readonly watchedSinceMs: EpochMs
}

/** Something that must hold, or that somebody should hear of. */
export interface HealthRule {
  readonly name: string
  /** Answers what is the matter, or null. */
  check(check: RuleCheck): Promise<HealthReason | null>
}

/** Most of what a rule waits for. */
export const longestMs = 31_536_000_000

/**
 * Instants by which a job had run that never ended well. The store keeps them, so that the time goes on where a process
 * starts anew. Of older runs it keeps the day alone.
 */
function instantsAfterFirstRun(status: JobStatus | null): readonly EpochMs[] {
  if (status === null || status.lastFireTimeMs === null) return []
  const firstDay = status.days.findLast(({ counts }) =>
    Object.entries(counts).some(([outcome, count]) => outcome !== 'vetoed' && count > 0),
  )
  const endOfDay = firstDay === undefined ? [] : [Date.parse(firstDay.day) + dayMs]
  return [status.lastFireTimeMs, ...endOfDay]
}

/** What is not noted would be taken for what did not happen. @throws SchedulerError ERR_NOT_SUPPORTED */
export function requireJobStatus(scheduler: Pick<Scheduler, 'getMetaData'>): void {
  if (scheduler.getMetaData().jobStatusIsKept) return
  throw new SchedulerError(
    'ERR_NOT_SUPPORTED',
    'How jobs end is not known, because the job store does not note it: leave out its `jobStatus: false`.',
  )
}

/** That a job has not ended well for so long, in words; null when it has. */
export async function lackOfSuccess(
  { scheduler, nowMs, watchedSinceMs }: RuleCheck,
  jobKey: JobKey,
  ms: number,
): Promise<string | null> {
  requireJobStatus(scheduler)
  const status = await scheduler.getJobStatus(jobKey)
  const lastMs = status?.lastSuccessTimeMs ?? null
  // When a success was that is of a clock that was ahead, nothing tells.
  const isOfClockAhead = lastMs !== null && isAhead(lastMs, nowMs)
  const sinceMs =
    lastMs === null || isOfClockAhead ? Math.min(watchedSinceMs, ...instantsAfterFirstRun(status)) : lastMs
  if (nowMs - sinceMs <= ms) return null
  const at = lastMs === null ? null : new Date(lastMs).toISOString()
  const byWhat = isOfClockAhead ? ', by a clock that was ahead' : ''
  const last = at === null ? 'it never has' : `it last did at ${at}${byWhat}`
  return `Job ${jobKey.toString()} has not ended well for ${ms} ms: ${last}.`
}

/** That a trigger waits longer than so long, in words; null when none does. */
export async function lateness({ scheduler, nowMs }: RuleCheck, ms: number): Promise<string | null> {
  const due = await scheduler.getEarliestDueTime()
  const lateMs = due === null ? 0 : nowMs - due.getTime()
  if (due === null || lateMs <= ms) return null
  return `A trigger was due at ${due.toISOString()} and has not fired: ${lateMs} ms late.`
}

/** What is due is due by the time of the store, from which the clock of this machine may be far. */
async function byTimeOfStore(check: RuleCheck): Promise<RuleCheck> {
  const own = (await check.scheduler.cluster.nodes()).find(({ isSelf }) => isSelf)
  const aheadMs = own?.clockOffsetMs ?? 0
  return { ...check, nowMs: check.nowMs + aheadMs, watchedSinceMs: check.watchedSinceMs + aheadMs }
}

/**
 * A job must have ended well within the last `ms` milliseconds (1 to 31,536,000,000, a year), on whatever node. With a
 * store that keeps no status of jobs the rule fails. For a job that never did, the time counts from the start of the
 * watch, from the last run, or from the end of the first day (in UTC) of which the store knows a run, whichever was
 * earliest.
 *
 * @throws InvalidArgumentError when an argument is wrong
 */
export function successWithin(jobKey: JobKey, ms: number): HealthRule {
  checkJobKey('successWithin', 'jobKey', jobKey)
  checkWhole(1, longestMs)('successWithin', 'ms', ms)
  return {
    name: `success of ${jobKey.toString()} within ${ms} ms`,
    async check(check) {
      const message = await lackOfSuccess(await byTimeOfStore(check), jobKey, ms)
      return message === null ? null : { code: 'noSuccess', message }
    },
  }
}

/**
 * No trigger may wait longer than `ms` milliseconds (1 to 31,536,000,000) past its time, on whatever node.
 *
 * @throws InvalidArgumentError when an argument is wrong
 */
export function noFiringLaterThan(ms: number): HealthRule {
  checkWhole(1, longestMs)('noFiringLaterThan', 'ms', ms)
  return {
    name: `no firing later than ${ms} ms`,
    async check(check) {
      const message = await lateness(await byTimeOfStore(check), ms)
      return message === null ? null : { code: 'firingLate', message }
    },
  }
}
