import { open } from 'node:fs/promises'

/** Where a line begins in a file. */
export interface LinePlace {
  /** From 1. */
  readonly line: number
  readonly offset: number
}

export interface LogPage {
  readonly text: string
  /** The last line of the page; 0 when it has none. */
  readonly toLine: number
  /** Where the line after the page begins. */
  readonly next: LinePlace
}

export interface PageWish {
  /** From 1. */
  readonly fromLine: number
  /** A place at or before that line. */
  readonly start: LinePlace
  /** The page ends with the line that reaches so many bytes. */
  readonly maxBytes: number
  /** Whether the file grows no more, so that a last line without a line break is whole. */
  readonly isComplete: boolean
}

const chunkBytes = 65_536
/** Most bytes of one line; of a longer one the beginning is shown. */
const lineBytesMax = 65_536
const lineFeed = 10
const carriageReturn = 13

/** Reads lines of a file of any size, one chunk of it in memory at a time. */
export async function readLogPage(path: string, wish: PageWish): Promise<LogPage> {
  const file = await open(path, 'r')
  try {
    const page = new PageMaker(wish)
    const chunk = Buffer.allocUnsafe(chunkBytes)
    for (let position = wish.start.offset; ; ) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, position)
      if (bytesRead === 0) return page.end()
      if (page.take(chunk.subarray(0, bytesRead))) return page.page()
      position += bytesRead
    }
  } finally {
    await file.close()
  }
}

class PageMaker {
  readonly #wish: PageWish
  readonly #lines: string[] = []
  #bytes = 0
  #line: number
  /** Where the current line begins. */
  #lineOffset: number
  #position: number
  /** What is kept of the current line. */
  #parts: Buffer[] = []
  #partBytes = 0

  constructor(wish: PageWish) {
    this.#wish = wish
    this.#line = wish.start.line
    this.#lineOffset = wish.start.offset
    this.#position = wish.start.offset
  }

  /** True when the page is full. */
  take(chunk: Buffer): boolean {
    for (let begin = 0; begin < chunk.length; ) {
      const end = chunk.indexOf(lineFeed, begin)
      this.#keep(chunk.subarray(begin, end < 0 ? chunk.length : end))
      if (end < 0) {
        this.#position += chunk.length - begin
        return false
      }
      this.#position += end + 1 - begin
      begin = end + 1
      this.#endLine()
      if (this.#bytes >= this.#wish.maxBytes) return true
    }
    return false
  }

  /** The page at the end of the file. */
  end(): LogPage {
    if (this.#wish.isComplete && this.#position > this.#lineOffset) this.#endLine()
    return this.page()
  }

  page(): LogPage {
    return {
      text: this.#lines.map((line) => `${line}\n`).join(''),
      toLine: this.#lines.length === 0 ? 0 : this.#line - 1,
      next: { line: this.#line, offset: this.#lineOffset },
    }
  }

  #keep(part: Buffer): void {
    if (this.#line < this.#wish.fromLine) return
    const room = lineBytesMax - this.#partBytes
    this.#partBytes += part.length
    // A copy: the chunk is read into again.
    if (room > 0) this.#parts.push(Buffer.from(part.subarray(0, room)))
  }

  #endLine(): void {
    if (this.#line >= this.#wish.fromLine) {
      const isCut = this.#partBytes > lineBytesMax
      let bytes = Buffer.concat(this.#parts)
      if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1)
      this.#lines.push(isCut ? `${bytes.toString('utf8')}...` : bytes.toString('utf8'))
      this.#bytes += bytes.length + 1
    }
    this.#parts = []
    this.#partBytes = 0
    this.#line++
    this.#lineOffset = this.#position
  }
}
