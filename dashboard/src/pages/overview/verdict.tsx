import type { JSX } from 'preact'
import { Icon } from '../../parts/icon.tsx'
import { nowMs, tick } from '../../time/clock.ts'
import { instantText, relativeText } from '../../time/format.ts'
import type { Overview } from './overview.tsx'
import type { Problem } from './problems.tsx'
import { words } from './words.ts'

interface VerdictProps {
  readonly overview: Overview | null
  readonly problems: readonly Problem[] | null
}

/** How the scheduler is, in one line. */
export function Verdict({ overview, problems }: VerdictProps): JSX.Element {
  const { verdict } = words()
  if (overview === null || problems === null) {
    return (
      <p class="verdict quiet" aria-busy="true">
        {verdict.unknown}
      </p>
    )
  }
  const isBad = problems.some((problem) => problem.isBad)
  const tone = isBad ? 'bad' : problems.length > 0 ? 'warn' : 'good'
  return (
    <p class={`verdict ${tone}`} role="status">
      <Icon name={tone === 'good' ? 'check' : 'misfires'} />
      <span>
        {problems.length === 0 ? verdict.well : verdict.problems(problems.length)}
        <span class="verdict-next">{nextText(overview)}</span>
      </span>
    </p>
  )
}

function nextText({ triggers }: Overview): string {
  const { verdict } = words()
  if (triggers === null) return ''
  const ms = triggers.next[0]?.nextFireTimeMs ?? null
  if (ms === null) return verdict.idle
  return verdict.next(`${relativeText(Math.max(ms, tick.value), tick.value)} (${instantText(ms, nowMs())})`)
}
