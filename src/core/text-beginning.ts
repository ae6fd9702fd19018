/** What ends a text that was cut; no whole JSON text ends with it. */
export const cutMark = '…'

/**
 * The first `length` UTF-16 units of a text, one fewer where the last of them would be half of a character: databases
 * store no half, and readers see a sign for what cannot be read.
 */
export function beginningOf(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}

/** The beginning of a text, `…` at the end where it was cut. */
export function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : beginningOf(text, maxLength - 1) + cutMark
}
