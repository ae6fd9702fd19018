import { InvalidArgumentError } from '../../../../core/errors.ts'
import { describeValue } from '../../../../core/options.ts'
import { type LackingCharacter, lackedBy } from '../../kernel/poor-encoding.ts'

/** The widths of Quartz's columns, in characters (code points), as PostgreSQL counts them. */
export const columnWidths = {
  /** Names and groups of jobs and triggers. */
  keyPart: 200,
  description: 250,
  jobType: 250,
  cronExpression: 120,
  timeZone: 80,
  calendarName: 200,
  instanceId: 200,
  schedulerName: 120,
  /** The text columns of `simprop_triggers`. */
  property: 512,
} as const

/** Characters that no text column can hold: NUL, and halves of surrogate pairs, which have no form in UTF-8. */
const unstorable = /[\0\p{Surrogate}]/u

/** Whether a column of this width can hold a text. */
export function fits(text: string, width: number): boolean {
  return (
    (text.length <= width || codePoints(text) <= width) && !unstorable.test(text) && lackedBy(text) === null
  )
}

/**
 * Refuses a text that its column cannot hold, before the statement is sent. `owner` names the field's owner in the
 * message.
 *
 * @throws InvalidArgumentError naming field, length and limit
 */
export function requireFits(
  owner: { readonly kind: string; readonly identity: string | { toString(): string } },
  field: string,
  text: string | null,
  width: number,
): void {
  if (text === null || fits(text, width)) return
  const lacking = lackedBy(text)
  const problem = lacking === null ? misfitOf(text, width) : lackOf(lacking)
  throw new InvalidArgumentError(
    field,
    `${owner.kind} ${describeValue(String(owner.identity))}: '${field}' ${problem}.`,
  )
}

function misfitOf(text: string, width: number): string {
  return unstorable.test(text)
    ? 'holds a NUL or half of a surrogate pair, which databases cannot store; remove it'
    : `has ${codePoints(text)} characters, more than the ${width} that its column holds; shorten it`
}

function lackOf({ character, encoding }: LackingCharacter): string {
  const where = encoding === null ? "the database's encoding" : `the database's encoding ${encoding}`
  const remedy = 'write it otherwise, or use a database in UTF8'
  return `holds ${describeValue(character)}, which ${where} does not have; ${remedy}`
}

function codePoints(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++, count++) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index++
  }
  return count
}
