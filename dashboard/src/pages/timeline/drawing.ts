import { inkOf } from '../../charts/ink.ts'
import { axisTicks } from '../../time/axis.ts'
import type { Bar, BarKind, Row } from './rows.ts'

export const rowHeight = 28
export const axisHeight = 26
const barHeight = 14
/** What is shorter is still seen. */
const barWidthMin = 3
/** Of what has not happened. */
const ghostWidth = 5
/** Half the height of a mark that is no bar. */
const markPx = 6
const dashPx = 5
/** Bars of one kind that are less than this apart are drawn once. */
const hiddenPx = 0.5
const tickWidth = 84
/** How near to a bar the pointer has to be. */
const nearPx = 4

export const inks: Readonly<Record<BarKind, string>> = {
  succeeded: '--good-fill',
  failed: '--bad-fill',
  timedOut: '--bad-fill',
  lost: '--bad-fill',
  interrupted: '--warn-fill',
  vetoed: '--text-quiet',
  running: '--accent-fill',
  planned: '--accent',
  blocked: '--warn-fill',
  overdue: '--bad-fill',
  missed: '--bad',
}

/** What is drawn, and between which instants. */
export interface Scene {
  readonly rows: readonly Row[]
  readonly fromMs: number
  readonly toMs: number
  readonly nowMs: number
  /** Outside of these nothing is known. */
  readonly knownFromMs: number | null
  readonly knownToMs: number | null
}

interface Pen {
  readonly context: CanvasRenderingContext2D
  readonly scene: Scene
  readonly width: number
  readonly height: number
  readonly x: (ms: number) => number
  readonly ink: (name: string) => string
}

/** Draws all of it anew: thousands of bars take a few milliseconds. */
export function drawTimeline(canvas: HTMLCanvasElement, scene: Scene): void {
  const { clientWidth: width, parentElement } = canvas
  const context = canvas.getContext('2d')
  if (context === null || parentElement === null || width === 0) return
  const height = axisHeight + scene.rows.length * rowHeight
  const ratio = devicePixelRatio
  canvas.width = Math.round(width * ratio)
  canvas.height = Math.round(height * ratio)
  context.scale(ratio, ratio)
  const known = new Map<string, string>()
  const ink = (name: string): string => {
    const color = known.get(name) ?? inkOf(parentElement, name)
    known.set(name, color)
    return color
  }
  const pen = { context, scene, width, height, x: scaleOf(scene, width), ink }
  drawUnknown(pen)
  drawGrid(pen)
  scene.rows.forEach((row, index) => {
    drawRow(pen, row, axisHeight + index * rowHeight + (rowHeight - barHeight) / 2)
  })
  drawNow(pen)
}

function scaleOf({ fromMs, toMs }: Scene, width: number): (ms: number) => number {
  return (ms) => ((ms - fromMs) / (toMs - fromMs)) * width
}

function drawUnknown({ context, scene, width, height, x, ink }: Pen): void {
  const { knownFromMs, knownToMs } = scene
  context.fillStyle = ink('--surface-over')
  if (knownFromMs !== null) context.fillRect(0, axisHeight, x(knownFromMs), height)
  if (knownToMs !== null) context.fillRect(x(knownToMs), axisHeight, width, height)
}

function drawGrid({ context, scene, width, height, x, ink }: Pen): void {
  context.font = '11px sans-serif'
  context.textBaseline = 'middle'
  context.lineWidth = 1
  context.strokeStyle = ink('--line')
  context.beginPath()
  for (let y = axisHeight; y <= height; y += rowHeight) {
    context.moveTo(0, y + 0.5)
    context.lineTo(width, y + 0.5)
  }
  const ticks = axisTicks(scene.fromMs, scene.toMs, Math.max(2, Math.floor(width / tickWidth)))
  for (const { ms } of ticks) {
    const at = Math.round(x(ms)) + 0.5
    context.moveTo(at, axisHeight - 5)
    context.lineTo(at, height)
  }
  context.stroke()
  context.fillStyle = ink('--text-quiet')
  for (const { ms, text } of ticks) {
    const half = context.measureText(text).width / 2
    context.fillText(text, Math.min(Math.max(x(ms) - half, 0), width - 2 * half), axisHeight / 2 - 2)
  }
}

function spanOf({ scene, x }: Pick<Pen, 'scene' | 'x'>, bar: Bar): readonly [left: number, right: number] {
  const left = x(bar.beginMs)
  return [left, Math.max(x(bar.endMs ?? scene.nowMs), left + barWidthMin)]
}

/** What was drawn before in the same row; another of the same kind within it is not seen. */
interface Drawn {
  kind: BarKind | null
  left: number
  right: number
}

function drawRow(pen: Pen, { bars }: Row, top: number): void {
  const drawn: Drawn = { kind: null, left: 0, right: 0 }
  for (const bar of bars) drawBar(pen, bar, top, drawn)
}

function drawBar(pen: Pen, bar: Bar, top: number, drawn: Drawn): void {
  const { width, x } = pen
  const [left, right] = spanOf(pen, bar)
  const dueX = x(bar.dueMs)
  if (right < 0 || Math.min(left, dueX) > width) return
  const isSeen =
    left - dueX > barWidthMin || bar.kind !== drawn.kind || left < drawn.left || right > drawn.right
  if (!isSeen) return
  Object.assign(drawn, { kind: bar.kind, left: left - hiddenPx, right: right + hiddenPx })
  drawKind(pen, bar.kind, left, right, top)
  // From when it was due to when it began.
  if (left - dueX > barWidthMin) {
    pen.context.fillStyle = pen.ink('--warn-fill')
    pen.context.fillRect(dueX, top + barHeight / 2 - 1, left - dueX, 2)
  }
}

function drawKind(
  { context, width, ink }: Pen,
  kind: BarKind,
  left: number,
  right: number,
  top: number,
): void {
  context.fillStyle = ink(inks[kind])
  const middle = top + barHeight / 2
  if (kind === 'planned') {
    // Without sides, so that many of them beside each other are still no solid bar.
    const at = Math.round(left)
    context.fillRect(at, top, ghostWidth, barHeight)
    context.fillStyle = ink('--accent-soft')
    context.fillRect(at, top + 1, ghostWidth, barHeight - 2)
  } else if (kind === 'vetoed') {
    drawShape(context, [
      [left, middle - markPx],
      [left + markPx, middle],
      [left, middle + markPx],
      [left - markPx, middle],
    ])
  } else if (kind === 'missed') {
    context.fillRect(left, middle - 1, right - left, 2)
    drawShape(context, [
      [left - markPx, middle - markPx],
      [left + markPx, middle - markPx],
      [left, middle + markPx],
    ])
  } else if (kind === 'blocked' || kind === 'overdue') {
    // Dashes: nothing runs. It may be due for a year, in a picture of a minute.
    for (let at = Math.max(left, 0); at < Math.min(right, width); at += 2 * dashPx) {
      context.fillRect(at, middle - 3, Math.min(dashPx, right - at), 6)
    }
  } else {
    context.fillRect(left, top, right - left, barHeight)
  }
}

type Point = readonly [x: number, y: number]

function drawShape(context: CanvasRenderingContext2D, points: readonly Point[]): void {
  context.beginPath()
  for (const [x, y] of points) context.lineTo(x, y)
  context.fill()
}

function drawNow({ context, scene, width, height, x, ink }: Pen): void {
  const at = x(scene.nowMs)
  if (at < 0 || at > width) return
  context.fillStyle = ink('--bad')
  context.fillRect(Math.round(at) - 0.5, axisHeight - 8, 1.5, height)
}

/** The bar at a point; of several the one that was drawn last. */
export function barAt(canvas: HTMLCanvasElement, scene: Scene, x: number, y: number): Bar | null {
  const row = scene.rows[Math.floor((y - axisHeight) / rowHeight)]
  if (row === undefined || y < axisHeight) return null
  const scale = scaleOf(scene, canvas.clientWidth)
  return (
    row.bars.findLast((bar) => {
      const [left, right] = spanOf({ scene, x: scale }, bar)
      return x >= left - nearPx && x <= right + nearPx
    }) ?? null
  )
}
