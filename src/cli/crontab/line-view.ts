import { formatDuration } from '../duration.ts'
import { formatClock, formatShort } from '../local-time.ts'
import { fit, oneLine } from '../terminal/text.ts'
import type { BoardView, BoardViewOptions } from './board-view.ts'
import type { Completion } from './job-board.ts'

const labelWidth = 32

/** One line per execution, for pipes, files and logs. */
export class LineView implements BoardView {
  readonly #options: BoardViewOptions

  constructor(options: BoardViewOptions) {
    this.#options = options
  }

  start(): void {
    const { board, clock, output, title, zone } = this.#options
    board.observe({
      changed: () => {},
      completed: (completion) => {
        output.write(`${this.#lineOf(completion)}\n`)
      },
    })
    output.write(`${title}\n\n`)
    for (const { label, nextFireMs } of board.rows) {
      const next = nextFireMs === null ? 'never' : formatShort(zone, nextFireMs, clock.now())
      output.write(`next ${fit(next, 9)}  ${label}\n`)
    }
    output.write('\n')
  }

  note(text: string): void {
    this.#options.output.write(`${oneLine(text)}\n`)
  }

  stop(): void {
    this.#options.board.observe({ changed: () => {}, completed: () => {} })
  }

  #lineOf({ durationMs, fireMs, latenessMs, outcome, row }: Completion): string {
    const { paint, zone } = this.#options
    const status = paint(fit(outcome.status, 8), outcome.isGood ? 'good' : 'bad')
    const late = fit(`late ${formatDuration(latenessMs)}`, 12)
    const took = fit(`took ${formatDuration(durationMs)}`, 12)
    const label = fit(row.label, labelWidth)
    return `${formatClock(zone, fireMs)}  ${label}  ${late}  ${took}  ${status}  ${outcome.text}`.trimEnd()
  }
}
