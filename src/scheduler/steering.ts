import { checkDate, checkOptions } from '../core/arguments.ts'
import { InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import { type JobKey, jobKeyOf, type TriggerKey, triggerKeyOf } from '../core/key.ts'
import { checkGroupMatcher, type GroupMatcher } from '../core/matcher.ts'
import { requireInteger } from '../core/options.ts'
import { shardItemsMax } from '../jobs/sharding.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { JobStoreShards, ShardOverview } from '../jobstore/job-store-shards.ts'
import { ordinaryResume, type PauseNote, type ResumeManner } from '../jobstore/pauses.ts'
import type { Clock } from '../time/clock.ts'
import type { Notifier } from './notifier.ts'
import type { PauseWatch } from './pause-watch.ts'
import type { PauseOptions, ResumeOptions, SkippedFireTimes } from './scheduler.ts'
import { pauseOptions, resumeOptions } from './scheduler-arguments.ts'

export interface SteeringParts {
  readonly clock: Clock
  readonly notifier: Notifier
  readonly pauseWatch: PauseWatch
  /** Changes data in the store. */
  readonly change: <T>(change: (store: JobStore) => Promise<T>) => Promise<T>
}

/** Pausing, resuming and skipping, as the scheduler's users call it. */
export class Steering {
  readonly #parts: SteeringParts

  constructor(parts: SteeringParts) {
    this.#parts = parts
  }

  async pauseTrigger(triggerKey: TriggerKey | string, options: PauseOptions): Promise<boolean> {
    const key = triggerKeyOf('pauseTrigger', 'triggerKey', triggerKey)
    const { notifier } = this.#parts
    const found = await this.#pause('pauseTrigger', options, (store, note) => store.pauseTrigger(key, note))
    if (found) await notifier.tell('triggerPaused', { triggerKey: key }, (l) => l.triggerPaused?.(key))
    return found
  }

  async pauseTriggers(matcher: GroupMatcher, options: PauseOptions): Promise<readonly string[]> {
    checkGroupMatcher('pauseTriggers', 'matcher', matcher)
    const groups = await this.#pause('pauseTriggers', options, (store, note) =>
      store.pauseTriggers(matcher, note),
    )
    return this.#tellGroups('triggersPaused', groups)
  }

  async pauseJob(jobKey: JobKey | string, options: PauseOptions): Promise<boolean> {
    const key = jobKeyOf('pauseJob', 'jobKey', jobKey)
    const { notifier } = this.#parts
    const found = await this.#pause('pauseJob', options, (store, note) => store.pauseJob(key, note))
    if (found) await notifier.tell('jobPaused', { jobKey: key }, (l) => l.jobPaused?.(key))
    return found
  }

  async pauseJobs(matcher: GroupMatcher, options: PauseOptions): Promise<readonly string[]> {
    checkGroupMatcher('pauseJobs', 'matcher', matcher)
    const groups = await this.#pause('pauseJobs', options, (store, note) => store.pauseJobs(matcher, note))
    return this.#tellGroups('jobsPaused', groups)
  }

  async pauseAll(options: PauseOptions): Promise<void> {
    await this.#pause('pauseAll', options, (store, note) => store.pauseAll(note))
    await this.#parts.notifier.tell('triggersPaused', { group: null }, (l) => l.triggersPaused?.(null))
  }

  async resumeTrigger(triggerKey: TriggerKey | string, options: ResumeOptions): Promise<boolean> {
    const key = triggerKeyOf('resumeTrigger', 'triggerKey', triggerKey)
    const { change, notifier } = this.#parts
    const manner = mannerOf('resumeTrigger', options)
    const found = await change((store) => store.resumeTrigger(key, manner))
    if (found) await notifier.tell('triggerResumed', { triggerKey: key }, (l) => l.triggerResumed?.(key))
    return found
  }

  async resumeTriggers(matcher: GroupMatcher, options: ResumeOptions): Promise<readonly string[]> {
    checkGroupMatcher('resumeTriggers', 'matcher', matcher)
    const manner = mannerOf('resumeTriggers', options)
    const groups = await this.#parts.change((store) => store.resumeTriggers(matcher, manner))
    return this.#tellGroups('triggersResumed', groups)
  }

  async resumeJob(jobKey: JobKey | string, options: ResumeOptions): Promise<boolean> {
    const key = jobKeyOf('resumeJob', 'jobKey', jobKey)
    const { change, notifier } = this.#parts
    const manner = mannerOf('resumeJob', options)
    const found = await change((store) => store.resumeJob(key, manner))
    if (found) await notifier.tell('jobResumed', { jobKey: key }, (l) => l.jobResumed?.(key))
    return found
  }

  async resumeJobs(matcher: GroupMatcher, options: ResumeOptions): Promise<readonly string[]> {
    checkGroupMatcher('resumeJobs', 'matcher', matcher)
    const manner = mannerOf('resumeJobs', options)
    const groups = await this.#parts.change((store) => store.resumeJobs(matcher, manner))
    return this.#tellGroups('jobsResumed', groups)
  }

  async resumeAll(options: ResumeOptions): Promise<void> {
    const { change, notifier } = this.#parts
    const manner = mannerOf('resumeAll', options)
    await change((store) => store.resumeAll(manner))
    await notifier.tell('triggersResumed', { group: null }, (l) => l.triggersResumed?.(null))
  }

  async skipNextFire(
    triggerKey: TriggerKey | string,
    expected: Date | undefined,
  ): Promise<SkippedFireTimes | null> {
    const key = triggerKeyOf('skipNextFire', 'triggerKey', triggerKey)
    if (expected !== undefined) checkDate('skipNextFire', 'expected', expected)
    const expectedMs = expected?.getTime() ?? null
    const found = await this.#parts.change((store) => store.skipNextFire(key, expectedMs))
    if (found === null) return null
    const { skippedMs, nextMs } = found
    return { skipped: new Date(skippedMs), next: nextMs === null ? null : new Date(nextMs) }
  }

  async setShard(
    method: string,
    jobKey: JobKey | string,
    item: number,
    options: { readonly enabled: boolean },
  ): Promise<boolean> {
    const key = jobKeyOf(method, 'jobKey', jobKey)
    requireInteger(method, 'item', item, { min: 0, max: shardItemsMax - 1, code: 'ERR_INVALID_ARGUMENT' })
    return this.#parts.change((store) => shardsOf(method, store).setItem(key, item, options))
  }

  getShards(jobKey: JobKey | string, store: JobStore): Promise<ShardOverview | null> {
    const key = jobKeyOf('getShards', 'jobKey', jobKey)
    return shardsOf('getShards', store).overview(key)
  }

  async #tellGroups(
    name: 'triggersPaused' | 'jobsPaused' | 'triggersResumed' | 'jobsResumed',
    groups: readonly string[],
  ): Promise<readonly string[]> {
    for (const group of groups) await this.#parts.notifier.tell(name, { group }, (l) => l[name]?.(group))
    return groups
  }

  async #pause<T>(
    method: string,
    options: PauseOptions,
    pause: (store: JobStore, note: PauseNote) => Promise<T>,
  ): Promise<T> {
    const { change, clock, pauseWatch } = this.#parts
    const note = noteOf(method, options, clock)
    const answer = await change((store) => pause(store, note))
    if (note.untilMs !== null) pauseWatch.expect(note.untilMs)
    return answer
  }
}

function shardsOf(method: string, store: JobStore): JobStoreShards {
  const { shards } = store
  if (shards !== null) return shards
  throw new SchedulerError(
    'ERR_NOT_SUPPORTED',
    `${method}: ${store.name} does not split firings of sharded jobs.`,
  )
}

function noteOf(method: string, options: PauseOptions, clock: Clock): PauseNote {
  checkOptions(method, options, pauseOptions)
  const { reason = null, by = null, until } = options
  const untilMs = until?.getTime() ?? null
  if (untilMs !== null && untilMs <= clock.now()) {
    throw new InvalidArgumentError(
      'until',
      `${method}: 'until' must be an instant after now, got ${new Date(untilMs).toISOString()}.`,
      'ERR_INVALID_OPTION',
    )
  }
  return { reason, by, untilMs }
}

function mannerOf(method: string, options: ResumeOptions): ResumeManner {
  checkOptions(method, options, resumeOptions)
  return options.withoutMissed === true ? { withoutMissed: true } : ordinaryResume
}
