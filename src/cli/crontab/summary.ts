import { formatDuration } from '../duration.ts'
import type { Paint } from '../terminal/paint.ts'
import { count, displayWidth, fit } from '../terminal/text.ts'
import type { JobBoard } from './job-board.ts'
import type { Lateness } from './lateness.ts'

const labelWidthMax = 40
const numberWidth = 8

/** What a run amounted to: fires, failures and lateness of each job that fired, and of all together. */
export function drawSummary(board: JobBoard, elapsedMs: number, paint: Paint): string[] {
  const { fires, failures, lateness } = board.totals
  const fired = board.rows.filter((row) => row.fires > 0)
  const labelWidth = Math.min(labelWidthMax, Math.max(10, ...fired.map(({ label }) => displayWidth(label))))
  const line = (label: string, cells: readonly string[]): string =>
    [fit(label, labelWidth), ...cells.map((cell) => fit(cell, numberWidth, 'right'))].join('  ')
  const numbers = (row: { fires: number; failures: number; lateness: Lateness }): string[] => [
    row.fires.toLocaleString('en-US'),
    row.failures.toLocaleString('en-US'),
    ...[0.5, 0.99, 1].map((share) => milliseconds(row.lateness.percentileMs(share))),
  ]
  const idle = board.rows.length - fired.length
  return [
    paint(
      `${count(fires, 'fire')} in ${formatDuration(elapsedMs)}, ${failures} failed` +
        (idle === 0 ? '' : `, ${count(idle, 'job')} not due yet`),
      'strong',
    ),
    '',
    paint(line('JOB', ['FIRES', 'FAILED', 'LATE p50', 'p99', 'max']), 'faint'),
    ...fired.map((row) => {
      const text = line(row.label, numbers(row))
      return row.failures > 0 ? paint(text, 'bad') : text
    }),
    paint(line('all', numbers({ fires, failures, lateness })), 'strong'),
    ...fired.flatMap(({ label, lastFailure }) =>
      lastFailure === null ? [] : [paint(`failed: ${label}: ${lastFailure.status} ${lastFailure.text}`.trimEnd(), 'bad')],
    ),
  ]
}

function milliseconds(ms: number | null): string {
  return ms === null ? '-' : formatDuration(ms)
}
