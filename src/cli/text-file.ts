import { readFileSync } from 'node:fs'

/**
 * The text of a file that people write, by its name or its descriptor. Some editors, mostly on Windows, put a byte
 * order mark before it, which is no part of the text and cannot be seen in a message about it.
 */
export function readTextFile(file: string | number): string {
  return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
}
