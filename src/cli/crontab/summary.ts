import { formatDuration, formatShortDuration } from '../duration.ts'
import type { Paint } from '../terminal/paint.ts'
import { count, displayWidth, fit, truncate } from '../terminal/text.ts'
import type { BoardRow, JobBoard } from './job-board.ts'

const labelWidths = { min: 10, max: 40 }
const numberWidth = 6
const gap = '  '
/** The last three are lateness: half of the firings were at most so late, 99 of 100, all. */
const heads = ['FIRES', 'FAILED', 'p50', 'p99', 'max']

type Numbers = Pick<BoardRow, 'fires' | 'failures' | 'lateness'>

/** The result of a run: fires, failures and lateness of each job that fired, and of all together. */
export function drawSummary(
  board: JobBoard,
  elapsedMs: number,
  style: { readonly columns: number; readonly paint: Paint },
): string[] {
  const { columns, paint } = style
  const { totals } = board
  const fired = board.rows.filter((row) => row.fires > 0)
  const longest = Math.max(labelWidths.min, ...fired.map(({ label }) => displayWidth(label)))
  const room = columns - heads.length * (numberWidth + gap.length)
  const labelWidth = Math.max(labelWidths.min, Math.min(labelWidths.max, longest, room))
  const line = (label: string, cells: readonly string[]): string =>
    [fit(label, labelWidth), ...cells.map((cell) => fit(cell, numberWidth, 'right'))].join(gap)
  const idle = board.rows.length - fired.length
  const sum = `${count(totals.fires, 'fire')} in ${formatDuration(elapsedMs)}, ${totals.failures} failed`
  return [
    paint(idle === 0 ? sum : `${sum}, ${count(idle, 'job')} not due yet`, 'strong'),
    ...downtimeOf(board),
    '',
    paint(line('', ['', '', 'LATE']).trimEnd(), 'faint'),
    paint(line('JOB', heads), 'faint'),
    ...fired.map((row) => paint(line(row.label, numbersOf(row)), row.failures > 0 ? 'bad' : 'plain')),
    paint(line('all', numbersOf(totals)), 'strong'),
    ...fired.flatMap((row) => lastFailureOf(row).map((text) => paint(truncate(text, columns), 'bad'))),
  ]
}

/** What happened to firings that were due while no process ran; empty when there were none. */
function downtimeOf({ downtime: { madeUp, skipped } }: JobBoard): readonly string[] {
  if (madeUp + skipped === 0) return []
  return [`due while nothing ran: ${count(madeUp, 'job')} made up for, ${count(skipped, 'job')} skipped`]
}

function numbersOf({ failures, fires, lateness }: Numbers): readonly string[] {
  const late = [0.5, 0.99, 1].map((share) => {
    const ms = lateness.percentileMs(share)
    return ms === null ? '-' : formatShortDuration(ms)
  })
  return [fires.toLocaleString('en-US'), failures.toLocaleString('en-US'), ...late]
}

function lastFailureOf({ label, lastFailure }: BoardRow): readonly string[] {
  if (lastFailure === null) return []
  return [`failed: ${label}: ${lastFailure.status} ${lastFailure.text}`.trimEnd()]
}
