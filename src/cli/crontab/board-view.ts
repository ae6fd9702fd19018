import type { Clock } from '../../time/clock.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { Output } from '../terminal/output.ts'
import type { Paint } from '../terminal/paint.ts'
import type { JobBoard } from './job-board.ts'

export interface BoardViewOptions {
  readonly title: string
  readonly output: Output
  readonly board: JobBoard
  readonly clock: Clock
  readonly zone: TimeZone
  readonly paint: Paint
}

/** Shows a board while it changes. */
export interface BoardView {
  start(): void
  /** A line for the reader that is not about one job. */
  note(text: string): void
  /** Shows the last state and leaves the terminal as it was found. */
  stop(): void
}
