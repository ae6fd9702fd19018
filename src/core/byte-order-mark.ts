/**
 * A text without the byte order mark that some editors, mostly on Windows, put before it: it is no part of the text and
 * cannot be seen in a message about it.
 */
export function withoutMark(text: string): string {
  return text.replace(/^\u{FEFF}/u, '')
}
