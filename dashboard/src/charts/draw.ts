import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { ChartData } from '../parts/chart.tsx'
import { clockText } from '../time/format.ts'
import { inkOf } from './ink.ts'

export interface Drawing {
  readonly update: (data: ChartData) => void
  readonly remove: () => void
}

const height = 200

function aligned({ atMs, series }: ChartData): uPlot.AlignedData {
  return [atMs.map((ms) => ms / 1000), ...series.map(({ values }) => [...values])]
}

export function draw(element: HTMLElement, data: ChartData, zone: string): Drawing {
  const [text, line] = [inkOf(element, '--text-quiet'), inkOf(element, '--line')]
  const axis = {
    stroke: text,
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: '11px sans-serif',
  }
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], radius: 0.15 })
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height,
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        { ...axis, values: (_, splits) => splits.map((seconds) => clockText(seconds * 1000, zone)) },
        { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000] },
      ],
      series: [
        {},
        ...data.series.map(({ name, ink }) => ({
          label: name,
          fill: inkOf(element, ink),
          width: 0,
          points: { show: false },
          ...(bars !== undefined && { paths: bars }),
        })),
      ],
    },
    aligned(data),
    element,
  )
  const resize = new ResizeObserver(() => {
    plot.setSize({ width: element.clientWidth, height })
  })
  resize.observe(element)
  return {
    update(next) {
      plot.setData(aligned(next))
    },
    remove() {
      resize.disconnect()
      plot.destroy()
    },
  }
}
