import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import type { ExecutionOutcome } from '../../../../src/jobstore/queries.ts'
import { keyText } from '../../parts/links.tsx'
import { onLookChange } from '../../state/look.ts'
import { language, theme, viewerZone } from '../../state/preferences.ts'
import { durationText, fullInstantText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { words as misfires } from '../misfires/words.ts'
import { axisHeight, barAt, drawTimeline, rowHeight, type Scene } from './drawing.ts'
import type { Bar, BarKind } from './rows.ts'
import { words } from './words.ts'

interface Pointed {
  readonly bar: Bar
  readonly x: number
  readonly y: number
  readonly isAtEnd: boolean
}

/** All bars in one drawing; the names of the rows stand beside it. */
export function TimelineCanvas({
  scene,
  label,
}: {
  readonly scene: Scene
  readonly label: string
}): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null)
  const latest = useRef(scene)
  latest.current = scene
  const pointed = useSignal<Pointed | null>(null)
  const { route } = useLocation()
  useEffect(() => {
    const draw = (): void => {
      if (element.current !== null) drawTimeline(element.current, latest.current)
    }
    const resize = new ResizeObserver(draw)
    if (element.current !== null) resize.observe(element.current)
    const forget = onLookChange(draw)
    return () => {
      resize.disconnect()
      forget()
    }
  }, [])
  useEffect(() => {
    if (element.current !== null) drawTimeline(element.current, scene)
  }, [scene, theme.value, language.value, viewerZone()])
  const find = ({ offsetX, offsetY }: MouseEvent): Bar | null =>
    element.current && barAt(element.current, latest.current, offsetX, offsetY)
  return (
    <div class="timeline-canvas" style={{ height: `${heightOf(scene)}px` }}>
      <canvas
        ref={element}
        role="img"
        aria-label={label}
        class={pointed.value === null ? '' : 'is-pointed'}
        onMouseMove={(event) => {
          const bar = find(event)
          const isAtEnd = event.offsetX > (element.current?.clientWidth ?? 0) / 2
          pointed.value = bar && { bar, x: event.offsetX, y: event.offsetY, isAtEnd }
        }}
        onMouseLeave={() => {
          pointed.value = null
        }}
        onClick={(event) => {
          const bar = find(event)
          if (bar !== null) route(bar.href())
        }}
      />
      {pointed.value !== null && <BarNote pointed={pointed.value} nowMs={scene.nowMs} />}
    </div>
  )
}

function heightOf({ rows }: Scene): number {
  return axisHeight + rows.length * rowHeight
}

export function kindText(kind: BarKind): string {
  const { kinds } = words()
  return isOutcome(kind) ? common().outcomes[kind] : kinds[kind]
}

function isOutcome(kind: BarKind): kind is ExecutionOutcome {
  return !['running', 'planned', 'blocked', 'overdue', 'missed'].includes(kind)
}

function BarNote({ pointed, nowMs }: { readonly pointed: Pointed; readonly nowMs: number }): JSX.Element {
  const names = common()
  const { bar, x, y, isAtEnd } = pointed
  const lateMs = bar.beginMs - bar.dueMs
  const place = isAtEnd
    ? { right: `calc(100% - ${x - 12}px)`, top: `${y + 12}px` }
    : { left: `${x + 12}px`, top: `${y + 12}px` }
  return (
    <div class="timeline-note" style={place}>
      <strong>{keyText(bar.jobKey)}</strong>
      <span>{kindText(bar.kind)}</span>
      <span class="number">{fullInstantText(bar.beginMs)}</span>
      {bar.cause !== undefined && <span>{misfires().causes[bar.cause]}</span>}
      {(bar.kind === 'blocked' || bar.kind === 'overdue') && (
        <span class="number">{durationText(nowMs - bar.dueMs)}</span>
      )}
      {(isOutcome(bar.kind) || bar.kind === 'running') && (
        <span class="number">
          {names.late} {durationText(lateMs)} · {names.took}{' '}
          {durationText(bar.kind === 'lost' ? null : (bar.endMs ?? nowMs) - bar.beginMs)}
        </span>
      )}
    </div>
  )
}
