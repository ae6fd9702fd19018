import type { Output } from './output.ts'
import { type Align, displayWidth, fit, oneLine } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  /** Default `left`. */
  readonly align?: Align
}

/** Width of output to a file or a pipe. */
const fileColumns = 200
/** Columns are not cut to less than this. */
const narrowest = 6
const gap = 2

/** Rows of text in columns, no wider than the terminal. The first rows decide how wide the columns are. */
export class Table<Row> {
  readonly #columns: readonly Column<Row>[]
  readonly #output: Output
  #widths: readonly number[] | null = null

  constructor(columns: readonly Column<Row>[], output: Output) {
    this.#columns = columns
    this.#output = output
  }

  write(rows: readonly Row[]): void {
    const cells = rows.map((row) => this.#columns.map(({ of }) => oneLine(of(row))))
    if (this.#widths === null) {
      const titles = this.#columns.map(({ title }) => title)
      this.#widths = widthsOf(
        [titles, ...cells],
        this.#output.isTerminal ? this.#output.columns : fileColumns,
      )
      this.#writeLine(titles)
    }
    for (const line of cells) this.#writeLine(line)
  }

  #writeLine(cells: readonly string[]): void {
    const fitted = cells.map((cell, index) => {
      return fit(cell, this.#widths?.[index] ?? cell.length, this.#columns[index]?.align)
    })
    this.#output.write(`${fitted.join(' '.repeat(gap)).trimEnd()}\n`)
  }
}

/** As wide as the widest cell; where that is too much in all, the widest columns are cut. */
function widthsOf(lines: readonly (readonly string[])[], available: number): readonly number[] {
  const widths = (lines[0] ?? []).map((_title, index) => {
    return Math.max(...lines.map((line) => displayWidth(line[index] ?? '')))
  })
  let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - available
  while (excess > 0) {
    const widest = Math.max(...widths)
    if (widest <= narrowest) break
    const next = Math.max(narrowest, ...widths.filter((width) => width < widest))
    const those = widths.filter((width) => width === widest).length
    // Down to the next widest column, or as far as it takes.
    const cut = Math.min(widest - next, Math.ceil(excess / those))
    widths.forEach((width, index) => {
      if (width !== widest || excess <= 0) return
      widths[index] = width - cut
      excess -= cut
    })
  }
  return widths
}

/** Names and values, one pair a line. */
export function writePairs(pairs: readonly (readonly [string, string])[], output: Output): void {
  const width = Math.max(...pairs.map(([name]) => name.length))
  for (const [name, value] of pairs) output.write(`${name.padEnd(width)}  ${oneLine(value)}\n`)
}
