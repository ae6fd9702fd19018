import type { TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import { KeySet } from '../../core/key-set.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { TriggerSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { EpochMs } from '../../time/clock.ts'
import { demoGroup } from './demo-jobs.ts'
import type { PlannedJob } from './plan-entries.ts'
import { entryGroup } from './plan-entries.ts'

/** The result of storing a plan. */
export interface StoredPlan {
  /** In the order of the plan. */
  readonly nextFires: readonly (EpochMs | null)[]
  /** How many jobs were due before now, and since when; null when none was. */
  readonly overdue: { readonly jobs: number; readonly sinceMs: EpochMs } | null
  /** Jobs of the store that the plan does not have; they were deleted. */
  readonly deleted: number
}

/**
 * Stores the plan and deletes what is left of an earlier one. Triggers that are stored already stay as they are, so
 * that their misfire policies decide about missed times; jobs that run at each start are stored anew. To be called once
 * the store is this scheduler's own: another one that has it fires what would be deleted.
 */
export async function storePlan(
  scheduler: Scheduler,
  planned: readonly PlannedJob[],
  nowMs: EpochMs,
): Promise<StoredPlan> {
  const stored = await storedTriggers(scheduler)
  const kept = new KeySet(planned.map(({ job }) => job.key))
  const jobKeys = (await Promise.all(groups.map((group) => scheduler.getJobKeys(group)))).flat()
  const left = jobKeys.filter((key) => !kept.has(key))
  if (left.length > 0) await scheduler.deleteJobs(left)
  const due: EpochMs[] = []
  const nextFires: (EpochMs | null)[] = []
  for (const { job, trigger, runs } of planned) {
    const before = runs === 'atStart' ? undefined : stored.get(trigger.key)
    if (before !== undefined && before.state !== 'ERROR' && before.nextFireTimeMs !== null) {
      if (before.nextFireTimeMs < nowMs) due.push(before.nextFireTimeMs)
      nextFires.push(before.nextFireTimeMs)
    } else {
      const firstFire = await scheduler.scheduleJob(job, [trigger], { replace: true })
      nextFires.push(firstFire.getTime())
    }
  }
  const overdue = due.length === 0 ? null : { jobs: due.length, sinceMs: Math.min(...due) }
  return { nextFires, overdue, deleted: left.length }
}

const groups = [entryGroup, demoGroup].map((group) => GroupMatcher.groupEquals(group))

async function storedTriggers(scheduler: Scheduler): Promise<KeyMap<TriggerKey, TriggerSummary>> {
  const found = new KeyMap<TriggerKey, TriggerSummary>()
  for (const group of groups) {
    let page = await scheduler.queryTriggers({ group, take: 1000 })
    for (;;) {
      for (const summary of page.items) found.set(summary.key, summary)
      if (page.next === null) break
      page = await scheduler.queryTriggers({ group, take: 1000, after: page.next })
    }
  }
  return found
}
