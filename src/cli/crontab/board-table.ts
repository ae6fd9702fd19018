import type { EpochMs } from '../../time/clock.ts'
import type { TimeZone } from '../../time/zone.ts'
import { formatShortDuration } from '../duration.ts'
import { formatClock, formatLocal, formatShort } from '../local-time.ts'
import type { Paint, Tone } from '../terminal/paint.ts'
import { type Align, count, displayWidth, fit, truncate } from '../terminal/text.ts'
import type { BoardRow, JobBoard } from './job-board.ts'

/** How the table of jobs is drawn. */
export interface TableStyle {
  readonly columns: number
  /** Lines that the table may take in all. */
  readonly rows: number
  readonly zone: TimeZone
  readonly paint: Paint
}

interface Cell {
  readonly text: string
  readonly tone: Tone
  /** How many characters at the start have the tone. Default: all. */
  readonly toned?: number
}

interface Column {
  readonly title: string
  readonly width: number
  readonly align: Align
  readonly cell: (row: BoardRow, nowMs: EpochMs) => Cell
}

const gap = '  '
/** From this width on there is room for the count of firings. */
const wideColumns = 100
/** Title, totals and column heads; a line of its own for jobs that did not fit; the cursor's line. */
const frameRows = 6

/** What job and result need together; columns go, in this order, until they have it. */
const restMin = 20
const spared = ['LATE', 'TOOK', 'LAST', 'NEXT'] as const

const plain = (text: string): Cell => ({ text, tone: 'plain' })
const faint = (text: string): Cell => ({ text, tone: 'faint' })

/** The table as lines of exactly the terminal's width at most: a title, the totals, a head, one line per job. */
export function drawBoard(title: string, board: JobBoard, nowMs: EpochMs, style: TableStyle): string[] {
  const columns = columnsFor(style)
  const head = columns.map(({ title: text, width, align }) => fit(text, width, align)).join(gap)
  const shownRows = board.rows.slice(0, Math.max(1, style.rows - frameRows))
  const hidden = board.rows.length - shownRows.length
  const { columns: width, paint, zone } = style
  const time = `${formatLocal(zone, nowMs)} ${zone.name}`
  return [
    spread(truncate(title, Math.max(Math.min(10, width), width - time.length - 2)), time, style, 'strong'),
    spread(truncate(describeTotals(board), width), 'Ctrl-C stops', style, 'plain'),
    '',
    paint(head.trimEnd(), 'faint'),
    ...shownRows.map((row) => drawRow(row, nowMs, columns, paint)),
    ...(hidden === 0 ? [] : [paint(truncate(describeHidden(hidden), width), 'faint')]),
  ]
}

function describeHidden(hidden: number): string {
  return `… and ${count(hidden, 'more job')}; make the window higher`
}

/** `14 jobs, 2 running, 34 fires, 1 failed, late p99 2 ms, max 3 ms` */
function describeTotals(board: JobBoard): string {
  const { fires, failures, lateness } = board.totals
  const p99Ms = lateness.percentileMs(0.99)
  const parts = [
    count(board.rows.length, 'job'),
    `${board.running} running`,
    count(fires, 'fire'),
    `${failures} failed`,
    ...(p99Ms === null ? [] : [`late p99 ${p99Ms} ms`]),
  ]
  return parts.join(', ')
}

/** Two texts at the ends of a line; the right one is left out when there is no room for both. */
function spread(left: string, right: string, { columns, paint }: TableStyle, tone: Tone): string {
  const room = columns - displayWidth(left) - displayWidth(right)
  return room < 2 ? paint(left, tone) : `${paint(left, tone)}${' '.repeat(room)}${paint(right, 'faint')}`
}

function drawRow(row: BoardRow, nowMs: EpochMs, columns: readonly Column[], paint: Paint): string {
  const cells = columns.map(({ width, align, cell }) => {
    const { text, tone, toned = width } = cell(row, nowMs)
    const fitted = fit(text, width, align)
    return paint(fitted.slice(0, toned), tone) + fitted.slice(toned)
  })
  return cells.join(gap)
}

function columnsFor({ columns, zone }: TableStyle): readonly Column[] {
  const narrow: Column[] = [
    {
      title: 'NEXT',
      width: 9,
      align: 'left',
      cell: ({ nextFireMs }, nowMs) =>
        nextFireMs === null ? faint('-') : plain(formatShort(zone, nextFireMs, nowMs)),
    },
    {
      title: 'LAST',
      width: 8,
      align: 'left',
      cell: ({ lastFireMs }) => (lastFireMs === null ? faint('-') : plain(formatClock(zone, lastFireMs))),
    },
    { title: 'LATE', width: 6, align: 'right', cell: ({ latenessMs }) => duration(latenessMs) },
    { title: 'TOOK', width: 6, align: 'right', cell: ({ durationMs }) => duration(durationMs) },
  ]
  const fires: Column = {
    title: 'FIRES',
    width: 6,
    align: 'right',
    cell: (row) => (row.fires === 0 ? faint('-') : plain(row.fires.toLocaleString('en-US'))),
  }
  const middle = columns >= wideColumns ? [...narrow, fires] : fitting(narrow, columns)
  const rest = Math.max(0, columns - takenBy(middle))
  const jobWidth = Math.floor(rest * 0.45)
  return [
    { title: 'JOB', width: jobWidth, align: 'left', cell: ({ label }) => plain(label) },
    ...middle,
    { title: 'RESULT', width: rest - jobWidth, align: 'left', cell: resultCell },
  ]
}

/** A row that is wider than the terminal would be wrapped, and the table could not be drawn again in its place. */
function fitting(all: readonly Column[], columns: number): readonly Column[] {
  let left = all
  for (const title of spared) {
    if (columns - takenBy(left) >= restMin) break
    left = left.filter((column) => column.title !== title)
  }
  return left
}

/** What the columns between job and result take, with their gaps. */
function takenBy(middle: readonly Column[]): number {
  return middle.reduce((sum, { width }) => sum + width + gap.length, gap.length)
}

function duration(durationMs: number | null): Cell {
  return durationMs === null ? faint('-') : plain(formatShortDuration(durationMs))
}

function resultCell({ outcome, progress, running }: BoardRow): Cell {
  if (running > 0) {
    const often = running > 1 ? ` (${running} at once)` : ''
    return { text: progress ?? `running${often}`, tone: 'busy' }
  }
  if (outcome === null) return faint('-')
  const { isGood, status, text } = outcome
  const said = text === '' ? status : `${status}  ${text}`
  return { text: said, tone: isGood ? 'good' : 'bad', toned: status.length }
}
