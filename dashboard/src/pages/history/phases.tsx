import type { JSX } from 'preact'
import type { ExecutionJson } from '../../../../src/server/wire/runs.ts'
import { durationText } from '../../time/format.ts'
import { words } from './words.ts'

interface Phase {
  readonly name: string
  readonly fromMs: number
  /** Null while that is not known. */
  readonly toMs: number | null
  readonly kind: string
}

/** From the planned instant to the end; what is not known is left out. */
function phasesOf(execution: ExecutionJson): readonly Phase[] {
  const text = words()
  const { scheduledFireTimeMs, fireTimeMs, beganTimeMs, finishedTimeMs, outcome } = execution
  const began = beganTimeMs ?? fireTimeMs
  return [
    { name: text.wait, fromMs: scheduledFireTimeMs, toMs: fireTimeMs, kind: 'is-waiting' },
    ...(beganTimeMs === null
      ? []
      : [{ name: text.handedOver, fromMs: fireTimeMs, toMs: beganTimeMs, kind: 'is-waiting' }]),
    { name: text.runs, fromMs: began, toMs: finishedTimeMs, kind: `is-${outcome}` },
  ]
}

/** How long an execution waited and ran, to scale. */
export function Phases({ execution }: { readonly execution: ExecutionJson }): JSX.Element {
  const phases = phasesOf(execution)
  const firstMs = phases[0]?.fromMs ?? 0
  const lastMs = Math.max(...phases.map(({ fromMs, toMs }) => toMs ?? fromMs))
  const wholeMs = Math.max(1, lastMs - firstMs)
  const share = (ms: number): string => `${(100 * Math.max(0, ms)) / wholeMs}%`
  return (
    <ul class="phases">
      {phases.map(({ name, fromMs, toMs, kind }) => (
        <li key={name}>
          <span class="muted">{name}</span>
          <span class="phase-track">
            <span
              class={`phase ${kind}`}
              style={{ marginLeft: share(fromMs - firstMs), width: share((toMs ?? fromMs) - fromMs) }}
            />
          </span>
          <span class="number">{durationText(toMs === null ? null : toMs - fromMs)}</span>
        </li>
      ))}
    </ul>
  )
}
