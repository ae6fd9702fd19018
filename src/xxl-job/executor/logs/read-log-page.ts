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
/**
 * Most bytes of one line, up to the end of a character; a longer one counts as several, so that no line makes a reader
 * read without end.
 */
const lineBytesMax = 65_536
/** How many bytes a character of UTF-8 has besides its first one. */
const moreBytesMax = 3
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

  constructor(wish: PageWish) {
    this.#wish = wish
    this.#line = wish.start.line
    this.#lineOffset = wish.start.offset
    this.#position = wish.start.offset
  }

  /** True when the page is full. */
  take(chunk: Buffer): boolean {
    for (let begin = 0; begin < chunk.length; ) {
      const found = chunk.indexOf(lineFeed, begin)
      const end = this.#endIn(chunk, begin, found < 0 ? chunk.length : found)
      // A copy: the chunk is read into again.
      if (this.#line >= this.#wish.fromLine) this.#parts.push(Buffer.from(chunk.subarray(begin, end)))
      this.#position += end - begin
      if (end === chunk.length) return false
      const feed = chunk[end] === lineFeed ? 1 : 0
      this.#position += feed
      begin = end + feed
      this.#endLine()
      if (this.#bytes >= this.#wish.maxBytes) return true
    }
    return false
  }

  /** Where the current line ends in the chunk: at a line break or the end, or where it is too long. */
  #endIn(chunk: Buffer, begin: number, last: number): number {
    const before = this.#position - this.#lineOffset
    let end = Math.min(last, begin + Math.max(0, lineBytesMax - before))
    const limit = begin + lineBytesMax + moreBytesMax - before
    while (end < Math.min(last, limit) && isWithinCharacter(chunk[end])) end++
    return end
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

  #endLine(): void {
    if (this.#line >= this.#wish.fromLine) {
      const bytes = Buffer.concat(this.#parts)
      const end = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length
      this.#lines.push(bytes.toString('utf8', 0, end))
      this.#bytes += bytes.length + 1
    }
    this.#parts = []
    this.#line++
    this.#lineOffset = this.#position
  }
}

function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
