import type { JSX } from 'preact'
import { type TriggerState, triggerStates } from '../../../../src/jobstore/trigger-state.ts'
import { StateBadge } from '../../parts/badge.tsx'
import { Panel } from '../../parts/panel.tsx'
import { href } from '../../state/place.ts'
import { numberText } from '../../time/format.ts'
import type { Overview } from './overview.tsx'
import { words } from './words.ts'

/** How many triggers are in each state; each bar leads to them. */
export function StateBars({ overview }: { readonly overview: Overview | null }): JSX.Element {
  const { byState: title } = words()
  const counts = overview?.triggers.counts ?? null
  return (
    <Panel title={title}>
      {counts === null ? (
        <p class="muted">…</p>
      ) : (
        <ul class="bars">
          {triggerStates
            .filter((state) => state !== 'NONE')
            .map((state) => (
              <StateBar key={state} state={state} count={counts.byState[state] ?? 0} of={counts.triggers} />
            ))}
        </ul>
      )}
    </Panel>
  )
}

interface StateBarProps {
  readonly state: TriggerState
  readonly count: number
  readonly of: number
}

function StateBar({ state, count, of }: StateBarProps): JSX.Element {
  return (
    <li>
      <a href={href('/triggers', { state })}>
        <StateBadge state={state} />
        <span class="bar-track">
          <span class={`bar is-${state}`} style={{ width: `${of === 0 ? 0 : (100 * count) / of}%` }} />
        </span>
        <span class="number">{numberText(count)}</span>
      </a>
    </li>
  )
}
