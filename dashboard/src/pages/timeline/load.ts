import type { MisfireJson } from '../../../../src/server/wire/misfires.ts'
import type { ExecutionJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { gatherRows, type PageOf } from '../../api/gather-rows.ts'
import { isOverdue } from '../../parts/overdue.ts'
import { may } from '../../state/session.ts'
import { nowMs } from '../../time/clock.ts'
import type { TimelineData } from './rows.ts'

/** How many executions are drawn: this many requests of that many. */
const pagesMax = 3
const pageSize = 1000
/** How many triggers, and how often each of them fires. */
const triggersMax = 500
const timesMax = 500
const dueMax = 500

export interface TimelineWindow {
  readonly fromMs: number
  readonly toMs: number
}

export interface Loaded extends TimelineData {
  /** What began before this instant is not known; null when nothing is missing. */
  readonly knownFromMs: number | null
  /** What is planned after this instant is not known; null when nothing is missing. */
  readonly knownToMs: number | null
  readonly isOftenLeftOut: boolean
  /** Whether there are more misfires, and more triggers that are due, than were asked for. */
  readonly isMissedLeftOut: boolean
  readonly isDueLeftOut: boolean
  readonly isRunningKnown: boolean
  /** Whether a group was asked for in which no job is stored. */
  readonly isGroupEmpty: boolean
}

/** All that is to be drawn, and how far that reaches. */
export async function loadTimeline(
  { fromMs, toMs }: TimelineWindow,
  group: string,
  signal: AbortSignal,
): Promise<Loaded> {
  const now = Math.floor(nowMs())
  const planFromMs = Math.max(now, fromMs)
  const ofGroup = group === '' ? undefined : group
  const [past, executing, plan, due, missed, jobs] = await Promise.all([
    loadExecutions({ fromMs, toMs }, group, signal),
    call('executing.list', { signal }),
    planFromMs < toMs
      ? call('planned.list', {
          query: { fromMs: planFromMs, toMs, take: triggersMax, times: timesMax, jobGroup: ofGroup },
          signal,
        })
      : null,
    now >= fromMs
      ? call('triggers.list', {
          query: {
            order: 'nextFireTime',
            dueBeforeMs: Math.min(now, toMs) + 1,
            jobGroup: ofGroup,
            take: dueMax,
          },
          signal,
        })
      : null,
    may('misfires.list') ? loadMissed(fromMs, group, signal) : null,
    group === '' ? null : call('jobs.list', { query: { group, take: 1 }, signal }),
  ])
  return {
    executions: past.executions,
    // What runs reaches from when it began to now.
    executing: executing.items.filter(
      ({ jobKey, fireTimeMs }) =>
        fireTimeMs <= toMs && now >= fromMs && (group === '' || jobKey.group === group),
    ),
    planned: plan?.items ?? [],
    missed: (missed?.items ?? []).filter((each) => each.fromMs <= toMs && each.toMs >= fromMs),
    // One that has just become due is about to fire.
    due: (due?.items ?? []).filter((trigger) => trigger.state === 'BLOCKED' || isOverdue(trigger, now)),
    knownFromMs: past.knownFromMs,
    knownToMs: plan !== null && plan.completeUntilMs < toMs ? plan.completeUntilMs : null,
    isOftenLeftOut: plan?.items.some(({ isComplete }) => !isComplete) ?? false,
    isMissedLeftOut: (missed?.next ?? null) !== null,
    isDueLeftOut: (due?.next ?? null) !== null,
    isRunningKnown: executing.isWhole,
    isGroupEmpty: jobs !== null && jobs.items.length === 0 && jobs.next === null,
  }
}

function groupFilter(group: string): string {
  return group === '' ? '' : `group:"${group.replace(/[\\"]/g, '\\$&')}"`
}

/** Misfires are told by when they were noticed, the last first, which may be later than what is shown. */
function loadMissed(fromMs: number, group: string, signal: AbortSignal): Promise<PageOf<MisfireJson>> {
  let pages = 0
  return gatherRows(
    (after) => {
      const query = { fromMs, take: pageSize, filter: groupFilter(group), after }
      return call('misfires.list', { query, signal })
    },
    { after: '', take: Number.POSITIVE_INFINITY, isPatient: () => ++pages < pagesMax },
  )
}

interface Past {
  readonly executions: readonly ExecutionJson[]
  readonly knownFromMs: number | null
}

async function loadExecutions(
  { fromMs, toMs }: TimelineWindow,
  group: string,
  signal: AbortSignal,
): Promise<Past> {
  // What began before the first instant that is shown may reach into what is shown.
  const sinceMs = Math.floor(fromMs - (toMs - fromMs) / 2)
  const filter = groupFilter(group)
  let pages = 0
  const { items: executions, next } = await gatherRows(
    (after) => {
      const query = { fromMs: Math.max(0, sinceMs), toMs, take: pageSize, filter, after }
      return call('executions.list', { query, signal })
    },
    { after: '', take: Number.POSITIVE_INFINITY, isPatient: () => ++pages < pagesMax },
  )
  if (next === null) return { executions, knownFromMs: null }
  const oldestMs = executions.at(-1)?.fireTimeMs ?? toMs
  return { executions, knownFromMs: oldestMs > fromMs ? oldestMs : null }
}
