import type { JSX } from 'preact'
import { viewerZone } from '../state/preferences.ts'
import { nowMs, tick } from '../time/clock.ts'
import { durationText, fullInstantText, instantText, relativeText, unknownText } from '../time/format.ts'

interface InstantProps {
  readonly ms: number | null | undefined
  /** The zone of the trigger, which the title says beside the viewer's. */
  readonly zone?: string | null
}

function titleOf(ms: number, zone: string | null | undefined): string {
  const own = fullInstantText(ms)
  const other = zone && zone !== viewerZone() ? `\n${fullInstantText(ms, zone)} (${zone})` : ''
  return `${own}${other}\n${new Date(ms).toISOString()}`
}

/** A date and a time in the viewer's zone. */
export function Instant({ ms, zone }: InstantProps): JSX.Element {
  if (ms === null || ms === undefined) return <span class="unknown">{unknownText}</span>
  return (
    <time dateTime={new Date(ms).toISOString()} title={titleOf(ms, zone)}>
      {instantText(ms, nowMs())}
    </time>
  )
}

/** As in "5 minutes ago", which it goes on being. */
export function Relative({ ms, zone }: InstantProps): JSX.Element {
  if (ms === null || ms === undefined) return <span class="unknown">{unknownText}</span>
  return (
    <time dateTime={new Date(ms).toISOString()} title={titleOf(ms, zone)} class="muted">
      {relativeText(ms, tick.value)}
    </time>
  )
}

/** A date and a time, and how far away that is. */
export function When(props: InstantProps): JSX.Element {
  if (props.ms === null || props.ms === undefined) return <span class="unknown">{unknownText}</span>
  return (
    <span class="when">
      <Instant {...props} /> <Relative {...props} />
    </span>
  )
}

export function Duration({ ms }: { readonly ms: number | null | undefined }): JSX.Element {
  return <span class={ms === null || ms === undefined ? 'unknown' : 'number'}>{durationText(ms)}</span>
}

interface ElapsedProps {
  readonly sinceMs: number
  /** When that was last known, where it is not known of now. */
  readonly knownMs?: number | null
}

/** How long something has been going on. */
export function Elapsed({ sinceMs, knownMs = null }: ElapsedProps): JSX.Element {
  return <Duration ms={Math.max(0, (knownMs ?? tick.value) - sinceMs)} />
}
