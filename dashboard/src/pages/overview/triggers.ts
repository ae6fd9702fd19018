import type { TriggerState } from '../../../../src/jobstore/trigger-state.ts'
import type { OverviewJson } from '../../../../src/server/operations/overview.ts'
import { call } from '../../api/client.ts'
import { fullPage } from '../../api/full-page.ts'
import type { Query } from '../../api/operations.ts'
import { may } from '../../state/session.ts'
import { nowMs } from '../../time/clock.ts'

/** How the triggers are that somebody may see. */
export interface TriggersSeen {
  /** How many there are, of each state as well; null for those with a role on some groups alone. */
  readonly counts: Pick<OverviewJson, 'triggers' | 'byState'> | null
  readonly inError: number
  /** Whether more are in error than were asked for. */
  readonly isMoreInError: boolean
  readonly isAllPaused: boolean
  /** Those that fire next. */
  readonly next: OverviewJson['next']
  /** Whether more wait than those. */
  readonly isMoreWaiting: boolean
  readonly countedMs: number
}

const nextAsked = 20
const inErrorAsked = 100

/** Those with a role on some groups alone are told of no others, so their page looks at the triggers themselves. */
export function loadTriggers(signal: AbortSignal): Promise<TriggersSeen> {
  return may('scheduler.overview') ? loadAll(signal) : loadOwn(signal)
}

async function loadAll(signal: AbortSignal): Promise<TriggersSeen> {
  const { triggers, byState, next, countedMs } = await call('scheduler.overview', { signal })
  const { ERROR = 0, PAUSED = 0, NORMAL = 0, BLOCKED = 0 } = byState
  return {
    counts: { triggers, byState },
    inError: ERROR,
    isMoreInError: false,
    isAllPaused: PAUSED > 0 && NORMAL + BLOCKED === 0,
    next,
    isMoreWaiting: NORMAL > next.length,
    countedMs,
  }
}

async function loadOwn(signal: AbortSignal): Promise<TriggersSeen> {
  const list = (query: Query & { readonly take: number }) =>
    fullPage((after) => call('triggers.list', { query: { ...query, after }, signal }), {
      after: '',
      take: query.take,
    })
  const state = (one: TriggerState, take: number) => list({ state: one, take })
  const [inError, paused, next] = await Promise.all([
    state('ERROR', inErrorAsked),
    state('PAUSED', 1),
    list({ order: 'nextFireTime', take: nextAsked }),
  ])
  return {
    counts: null,
    inError: inError.items.length,
    isMoreInError: inError.next !== null,
    isAllPaused: paused.items.length > 0 && next.items.length === 0,
    next: next.items,
    isMoreWaiting: next.next !== null,
    countedMs: nowMs(),
  }
}
