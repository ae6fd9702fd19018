import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Drawing } from '../charts/draw.ts'
import { onLookChange } from '../state/look.ts'
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

/** Bars over time. What draws them is loaded when it is first needed. */
export function Chart({ data, label }: ChartProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null)
  const drawing = useRef<Drawing | null>(null)
  const latest = useRef(data)
  latest.current = data
  const isDrawn = useSignal(false)
  const zone = viewerZone()
  const look = `${theme.value} ${zone} ${data.series.length}`
  useEffect(() => {
    let isOver = false
    let forget = (): void => undefined
    const begin = async (): Promise<void> => {
      const { draw } = await import('../charts/draw.ts')
      if (isOver || element.current === null) return
      const { current } = element
      const drawAnew = (): void => {
        drawing.current?.remove()
        drawing.current = draw(current, latest.current, zone)
      }
      drawAnew()
      // At once: paper does not wait.
      forget = onLookChange(drawAnew)
      isDrawn.value = true
    }
    unawaited(begin())
    return () => {
      isOver = true
      forget()
      drawing.current?.remove()
      drawing.current = null
    }
  }, [look])
  useEffect(() => {
    drawing.current?.update(data)
  }, [data])
  return <div ref={element} class="chart" role="img" aria-label={label} aria-busy={!isDrawn.value} />
}
