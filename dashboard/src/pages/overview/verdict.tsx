import type { JSX } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import { isOverdue } from '../../parts/overdue.ts'
import { nowMs, tick } from '../../time/clock.ts'
import { instantText, relativeText } from '../../time/format.ts'
import type { AlertCounts } from './alerts.tsx'
import type { Overview } from './overview.tsx'
import { countOf, type Problem } from './problems.tsx'
import { words } from './words.ts'

interface VerdictProps {
  readonly overview: Overview | null
  readonly problems: readonly Problem[] | null
  readonly alerts: AlertCounts
  /** The last attempt to look has failed, so nothing is known of now. */
  readonly isStale: boolean
}

/** How the scheduler is, in one line. */
export function Verdict({ overview, problems, alerts, isStale }: VerdictProps): JSX.Element {
  const { verdict } = words()
  if (isStale) {
    return (
      <p class="verdict quiet" role="status">
        {verdict.stale}
      </p>
    )
  }
  if (overview === null || problems === null) {
    return (
      <p class="verdict quiet" aria-busy="true">
        {verdict.unknown}
      </p>
    )
  }
  const isBad = alerts.loud > 0 || problems.some((problem) => problem.isBad)
  const isWell = problems.length + alerts.active === 0
  const isBlind = !overview.seesNodes
  const tone = isBad ? 'bad' : !isWell ? 'warn' : isBlind ? 'quiet' : 'good'
  return (
    <p class={`verdict ${tone}`}>
      {(!isWell || !isBlind) && <Icon name={isWell ? 'check' : 'misfires'} />}
      <span>
        {/* Without the countdown, of which a reader would speak each second. */}
        <span role="status">
          {isWell && isBlind
            ? verdict.blind
            : saying(countOf(problems), overview.isMoreFailing, alerts.active)}
        </span>
        <span class="verdict-next">{nextText(overview)}</span>
      </span>
    </p>
  )
}

/** What a rule raises is often among the problems as well, so the two are not added up. */
function saying(problems: number, isMore: boolean, alerts: number): string {
  const { verdict } = words()
  if (problems > 0) return verdict.problems(problems, isMore)
  return alerts > 0 ? verdict.alerts(alerts) : verdict.well
}

function nextText({ triggers }: Overview): string {
  const { verdict } = words()
  // One that waits for its job fires when that has ended, which nobody knows.
  const next = triggers.next.find(({ state }) => state !== 'BLOCKED') ?? triggers.next[0]
  const ms = next?.nextFireTimeMs ?? null
  if (ms === null) return verdict.idle
  if (next !== undefined && isOverdue(next, triggers.countedMs)) return verdict.due(instantText(ms, nowMs()))
  return verdict.next(relativeText(Math.max(ms, tick.value), tick.value), instantText(ms, nowMs()))
}
