/** Where a command writes to. */
export interface Output {
  /** A person is looking, so lines may be drawn again in place. */
  readonly isTerminal: boolean
  /** Width in characters. */
  readonly columns: number
  /** Height in lines. */
  readonly rows: number
  write(text: string): void
  /** Calls the listener whenever the size changes; returns what takes the listener away. */
  onResize(listener: () => void): () => void
}

/** The size of an output that has none, such as a pipe. */
const defaultSize = { columns: 80, rows: 24 }

/** An output that writes to a stream of the process. */
export function streamOutput(stream: NodeJS.WriteStream): Output {
  return {
    get isTerminal() {
      return stream.isTTY
    },
    get columns() {
      return positive(stream.columns) ?? defaultSize.columns
    },
    get rows() {
      return positive(stream.rows) ?? defaultSize.rows
    },
    write(text) {
      stream.write(text)
    },
    onResize(listener) {
      stream.on('resize', listener)
      return () => {
        stream.removeListener('resize', listener)
      }
    },
  }
}

/** Some terminals report a width of 0; a pipe reports none. */
function positive(size: number | undefined): number | null {
  return size !== undefined && size > 0 ? size : null
}
