import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Drawing } from '../charts/draw.ts'
import { theme, viewerZone } from '../state/preferences.ts'
import { unawaited } from '../state/toasts.ts'

export interface ChartData {
  /** Epoch milliseconds. */
  readonly atMs: readonly number[]
  /** Bars in front of each other: each one holds those after it. */
  readonly series: readonly {
    readonly name: string
    readonly ink: string
    readonly values: readonly number[]
  }[]
}

interface ChartProps {
  readonly data: ChartData
  /** What it shows, for those who do not see it. */
  readonly label: string
}

const dark = matchMedia('(prefers-color-scheme: dark)')

/** Bars over time. What draws them is loaded when it is first needed. */
export function Chart({ data, label }: ChartProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null)
  const drawing = useRef<Drawing | null>(null)
  const latest = useRef(data)
  latest.current = data
  const isDrawn = useSignal(false)
  const inks = useSignal(0)
  const zone = viewerZone()
  const look = `${theme.value} ${inks.value} ${zone} ${data.series.length}`
  useEffect(() => {
    const change = (): void => {
      inks.value++
    }
    dark.addEventListener('change', change)
    return () => {
      dark.removeEventListener('change', change)
    }
  }, [])
  useEffect(() => {
    let isOver = false
    const begin = async (): Promise<void> => {
      const { draw } = await import('../charts/draw.ts')
      if (isOver || element.current === null) return
      drawing.current = draw(element.current, latest.current, zone)
      isDrawn.value = true
    }
    unawaited(begin())
    return () => {
      isOver = true
      drawing.current?.remove()
      drawing.current = null
    }
  }, [look])
  useEffect(() => {
    drawing.current?.update(data)
  }, [data])
  return <div ref={element} class="chart" role="img" aria-label={label} aria-busy={!isDrawn.value} />
}
