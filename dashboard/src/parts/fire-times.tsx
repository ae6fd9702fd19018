import type { ComponentChildren, JSX } from 'preact'
import { viewerZone } from '../state/preferences.ts'
import { fireTimeText, offsetText } from '../time/format.ts'
import { Relative } from './time.tsx'

interface FireTimesProps {
  readonly fireTimesMs: readonly number[]
  /** The zone in which the trigger counts; null for the viewer's. */
  readonly zone: string | null
  readonly empty: string
  /** Fire times that are marked as new. */
  readonly isNew?: (ms: number) => boolean
  /** What is said of a fire time. */
  readonly note?: (ms: number) => ComponentChildren
}

/** A list of fire times, in the trigger's zone, with the viewer's beside it where that is another one. */
export function FireTimes(props: FireTimesProps): JSX.Element {
  const { fireTimesMs, zone, empty, isNew = () => false, note } = props
  const viewer = viewerZone()
  const shown = zone ?? viewer
  if (fireTimesMs.length === 0) return <p class="panel-body muted">{empty}</p>
  return (
    <ol class="fire-times">
      {fireTimesMs.map((ms) => (
        <li key={ms} class={isNew(ms) ? 'is-new' : ''}>
          <span class="number">
            {fireTimeText(ms, shown)} <span class="muted">{offsetText(ms, shown)}</span>
          </span>
          {shown !== viewer && <span class="number muted">{fireTimeText(ms, viewer)}</span>}
          {note !== undefined && <small>{note(ms)}</small>}
          <Relative ms={ms} />
        </li>
      ))}
    </ol>
  )
}
