import { readFileSync } from 'node:fs'
import { withoutMark } from '../core/byte-order-mark.ts'

/** The text of a file that people write, by its name or its descriptor. */
export function readTextFile(file: string | number): string {
  return withoutMark(readFileSync(file, 'utf8'))
}
