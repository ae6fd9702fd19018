import { stripVTControlCharacters } from 'node:util'
import { visible } from '../../core/visible-text.ts'

/** Characters that terminals draw two cells wide: East Asian scripts, full-width forms and emoji. */
const wide = new RegExp(
  '[\\u{1100}-\\u{115f}\\u{2e80}-\\u{303e}\\u{3041}-\\u{a4cf}\\u{ac00}-\\u{d7a3}\\u{f900}-\\u{faff}' +
    '\\u{fe30}-\\u{fe6f}\\u{ff00}-\\u{ff60}\\u{ffe0}-\\u{ffe6}\\u{20000}-\\u{3fffd}\\p{Emoji_Presentation}]',
  'u',
)
/** Characters that take no cell of their own. */
const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}]/u

function charWidth(char: string): number {
  if (char < '\u{300}') return 1
  if (zeroWidth.test(char)) return 0
  return wide.test(char) ? 2 : 1
}

/** How many cells of a terminal a plain text takes. */
export function displayWidth(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

/** Cuts a plain text to a width; a text that was cut ends in `…`. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width <= 0) return ''
  let kept = ''
  let used = 0
  for (const char of text) {
    used += charWidth(char)
    if (used > width - 1) break
    kept += char
  }
  return `${kept}…`
}

export type Align = 'left' | 'right'

/** A plain text at exactly a width: cut or filled with blanks. */
export function fit(text: string, width: number, align: Align = 'left'): string {
  const cut = truncate(text, width)
  const blanks = ' '.repeat(width - displayWidth(cut))
  return align === 'left' ? `${cut}${blanks}` : `${blanks}${cut}`
}

/**
 * A text of unknown origin made safe to print within a line: no escape sequences, no control characters, and signs for
 * what controls the direction of writing. Blanks alone stay as they are: they may be of a name.
 */
export function oneLine(text: string): string {
  const line = stripVTControlCharacters(text).replace(/[\p{Cc}\s]+/gu, (run) =>
    /^\p{Zs}+$/u.test(run) ? run : ' ',
  )
  return visible(line.trim())
}

/** A line with names of unknown origin, which make no further lines of it. */
export function lineOf(text: string): string {
  return `${oneLine(text)}\n`
}

/** `1 job`, `2 jobs`; with thousands marked. */
export function count(number: number, noun: string, plural: string = `${noun}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? noun : plural}`
}

/** A line of text with a caret under one of its characters, both indented; tabs keep the caret in place. */
export function pointAt(text: string, position: number, indent: string = '  '): string {
  const before = text.slice(0, position).replace(/[^\t]/gu, ' ')
  return `${indent}${text}\n${indent}${before}^`
}
