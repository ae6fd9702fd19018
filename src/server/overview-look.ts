import type { GroupCount, TriggerCounts, TriggerSummary } from '../jobstore/queries.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock } from '../time/clock.ts'
import type { MisfireStatsJson } from './wire/misfires.ts'

/** What one look at a scheduler found. */
export interface Overview {
  readonly byState: TriggerCounts
  readonly next: readonly TriggerSummary[]
  readonly countedMs: number
}

/** How many of the triggers that fire next are in it. */
const nextShown = 20

export async function lookAtTriggers(scheduler: Scheduler, clock: Clock): Promise<Overview> {
  const countedMs = clock.now()
  const byState = await scheduler.getTriggerCounts()
  const { items } = await scheduler.queryNextTriggers({ take: nextShown })
  return { byState, next: items, countedMs }
}

/** The groups that are not empty. */
export interface GroupCounts {
  readonly jobs: readonly GroupCount[]
  readonly triggers: readonly GroupCount[]
}

export async function countGroups(scheduler: Scheduler): Promise<GroupCounts> {
  const jobs = await scheduler.getGroupCounts('jobs')
  return { jobs, triggers: await scheduler.getGroupCounts('triggers') }
}

/** How much was missed since an instant. */
export async function lookAtMisfires(scheduler: Scheduler, fromMs: number): Promise<MisfireStatsJson> {
  const { rows, fires, byCause, isWhole } = await scheduler.getMisfireCounts({ from: new Date(fromMs) })
  return { fromMs, rows, fires, hasMore: !isWhole, byCause }
}
