import type { JSX } from 'preact'
import type { ExecutionJson } from '../../../../src/server/wire/runs.ts'
import { durationText } from '../../time/format.ts'
import { words } from './words.ts'

/** How long an execution waited and ran, to scale. */
export function Phases({ execution }: { readonly execution: ExecutionJson }): JSX.Element {
  const text = words()
  const { latenessMs, durationMs, outcome } = execution
  const waitMs = Math.max(0, latenessMs)
  const ranMs = Math.max(0, durationMs ?? 0)
  const wholeMs = Math.max(1, waitMs + ranMs)
  const phases = [
    { name: text.wait, ms: waitMs, isKnown: true, kind: 'is-waiting' },
    { name: text.runs, ms: ranMs, isKnown: durationMs !== null, kind: `is-${outcome}` },
  ]
  return (
    <ul class="phases">
      {phases.map(({ name, ms, isKnown, kind }, index) => (
        <li key={name}>
          <span class="muted">{name}</span>
          <span class="phase-track">
            <span
              class={`phase ${kind}`}
              style={{
                marginLeft: `${index === 0 ? 0 : (100 * waitMs) / wholeMs}%`,
                width: `${(100 * ms) / wholeMs}%`,
              }}
            />
          </span>
          <span class="number">{durationText(isKnown ? ms : null)}</span>
        </li>
      ))}
    </ul>
  )
}
