import type { ClockTimer } from '../../time/clock.ts'
import { oneLine } from '../terminal/text.ts'
import { drawBoard } from './board-table.ts'
import type { BoardView, BoardViewOptions } from './board-view.ts'

/** Drawn at most this often, however much changes, and at least once a second for the time of day. */
const frameMs = 100
const idleFrameMs = 1000

const escape = '\u001b['
const hideCursor = `${escape}?25l`
const showCursor = `${escape}?25h`
const clearToLineEnd = `${escape}K`
const clearBelow = `${escape}J`
const clearScreen = `${escape}2J${escape}H`
const upToFirstColumn = (lines: number): string => (lines === 0 ? '' : `${escape}${lines}F`)

/** A table in a terminal, drawn again in place as the board changes. */
export class LiveView implements BoardView {
  readonly #options: BoardViewOptions
  #drawnLines = 0
  #timer: ClockTimer | null = null
  #isSoon = false
  #stopListening: () => void = () => {}

  constructor(options: BoardViewOptions) {
    this.#options = options
  }

  start(): void {
    const { board, output } = this.#options
    board.observe({
      changed: () => {
        this.#drawSoon()
      },
      completed: () => {},
    })
    // The terminal may have wrapped lines of the old width, so the number of lines to go up is not known.
    this.#stopListening = output.onResize(() => {
      output.write(clearScreen)
      this.#drawnLines = 0
      this.#draw()
    })
    output.write(hideCursor)
    this.#draw()
  }

  note(text: string): void {
    this.#draw(`${oneLine(text)}${clearToLineEnd}\n`)
  }

  stop(): void {
    this.#stopListening()
    this.#draw()
    this.#timer?.cancel()
    this.#write(showCursor)
  }

  #drawSoon(): void {
    if (this.#isSoon) return
    this.#timer?.cancel()
    this.#isSoon = true
    this.#schedule(frameMs)
  }

  #schedule(delayMs: number): void {
    const onFire = (): void => {
      this.#draw()
    }
    this.#timer = this.#options.clock.setTimer(delayMs, onFire, { unref: true })
  }

  /** Draws the table where it stood, below what is to be written above it. */
  #draw(above = ''): void {
    const { board, clock, output, paint, title, zone } = this.#options
    const style = { columns: output.columns, rows: output.rows, paint, zone }
    const lines = drawBoard(title, board, clock.now(), style)
    const text = lines.map((line) => `${line}${clearToLineEnd}\n`).join('')
    this.#write(`${upToFirstColumn(this.#drawnLines)}${above}${text}${clearBelow}`)
    this.#drawnLines = lines.length
    this.#isSoon = false
    this.#timer?.cancel()
    this.#schedule(idleFrameMs)
  }

  #write(text: string): void {
    this.#options.output.write(text)
  }
}
