import type { Output } from './output.ts'
import { type Align, displayWidth, fit, oneLine } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
  /** Default `left`. */
  readonly align?: Align
  /** Where the terminal has no room. Others have keys, ids and times, which are of use only when they are whole. */
  readonly mayBeCut?: true
}

/** Columns are not cut to less than this. */
const narrowest = 6
const gap = 2

/** Rows of text in columns; the first rows decide how wide they are. Nothing is cut in a file or a pipe. */
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
      this.#widths = this.#widthsOf([titles, ...cells])
      this.#writeLine(titles)
    }
    for (const line of cells) this.#writeLine(line)
  }

  #writeLine(cells: readonly string[]): void {
    const fitted = cells.map((cell, index) => {
      const width = this.#widths?.[index] ?? 0
      return fit(
        cell,
        this.#cuts(index) ? width : Math.max(width, displayWidth(cell)),
        this.#columns[index]?.align,
      )
    })
    this.#output.write(`${fitted.join(' '.repeat(gap)).trimEnd()}\n`)
  }

  #cuts(index: number): boolean {
    return this.#output.isTerminal && this.#columns[index]?.mayBeCut === true
  }

  /** As wide as the widest cell; where that is too much in all, the widest columns of those that may be are cut. */
  #widthsOf(lines: readonly (readonly string[])[]): readonly number[] {
    const widths = this.#columns.map((_column, index) => {
      return Math.max(...lines.map((line) => displayWidth(line[index] ?? '')))
    })
    let excess = widths.reduce((sum, width) => sum + width + gap, -gap) - this.#output.columns
    while (excess > 0) {
      const cuttable = widths.filter((_width, index) => this.#cuts(index))
      const widest = Math.max(narrowest, ...cuttable)
      if (widest === narrowest) break
      const next = Math.max(narrowest, ...cuttable.filter((width) => width < widest))
      const those = cuttable.filter((width) => width === widest).length
      // Down to the next widest column, or as far as it takes.
      const cut = Math.min(widest - next, Math.ceil(excess / those))
      widths.forEach((width, index) => {
        if (width !== widest || excess <= 0 || !this.#cuts(index)) return
        widths[index] = width - cut
        excess -= cut
      })
    }
    return widths
  }
}

/** Names and values, one pair a line. */
export function writePairs(pairs: readonly (readonly [string, string])[], output: Output): void {
  const width = Math.max(...pairs.map(([name]) => name.length))
  for (const [name, value] of pairs) output.write(`${name.padEnd(width)}  ${oneLine(value)}\n`)
}
