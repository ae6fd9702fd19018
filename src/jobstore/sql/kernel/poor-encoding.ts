import { noReply, type SqlProgram, type SqlReply } from './statement.ts'

/** A character that the encoding of a database does not have. */
export interface LackingCharacter {
  readonly character: string
  /** Null where the database did not say which it is. */
  readonly encoding: string | null
}

/** How texts are written while a program runs. */
interface Manner {
  /** The code units that are escaped; null: none. */
  readonly escaped: RegExp | null
  /** What texts are refused for that must be written as they are. */
  readonly lacking: readonly LackingCharacter[]
}

const ordinary: Manner = { escaped: null, lacking: [] }
const allButAscii = /[^\0-\x7f]/g
/** Latin-1 and its kin are common, so what they hold stays readable at first. */
const escapes: readonly RegExp[] = [/[^\0-\xff]/g, allButAscii]
/** How many different characters one transaction is told of. */
const lackingMax = 20

/**
 * The manner of the step of a program that runs now. It is set for one synchronous step and taken back behind it, so it
 * is no state of a store: that of another store, or of another program, never sees it.
 */
const step: { manner: Manner } = { manner: ordinary }

/**
 * A text of which nothing is lost when it is written with escapes: JSON. Elsewhere people read the escapes. Most
 * databases hold every character: a text is escaped only in a transaction that the database has refused before.
 */
export function escapedForEncoding(text: string): string {
  const { escaped } = step.manner
  return escaped === null ? text : inAscii(text, escaped)
}

/** What no column can hold of a text that must be written as it is; null as far as the database has not refused it. */
export function lackedBy(text: string): LackingCharacter | null {
  if (step.manner === ordinary) return null
  return step.manner.lacking.find(({ character }) => text.includes(character)) ?? null
}

/** JSON in ASCII, which every database holds. */
export function asciiJson(value: unknown): string {
  return inAscii(JSON.stringify(value), allButAscii)
}

function inAscii(text: string, escaped: RegExp): string {
  return text.replace(escaped, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Begins the tries of one transaction. Free texts with characters that the database's encoding lacks are written with
 * escapes in further tries. When that does not help, the character is in a text that must be as it is: the last tries
 * look for no such text, and refuse the field that is to hold one.
 */
export class EncodingTries {
  #count = 0
  #manner = ordinary

  begin<Answer>(program: SqlProgram<Answer>): SqlProgram<Answer> {
    return this.#manner === ordinary ? program : writtenSo(program, this.#manner)
  }

  /** Whether it is worth another try, after the database has refused a character. */
  refused(found: LackingCharacter): boolean {
    const escaped = escapes[this.#count++]
    const { lacking } = this.#manner
    if (escaped !== undefined) {
      this.#manner = { escaped, lacking: [] }
      return true
    }
    const isKnown = lacking.some(({ character }) => character === found.character)
    this.#manner = { escaped: allButAscii, lacking: [...lacking, found] }
    return !isKnown && lacking.length < lackingMax
  }
}

function* writtenSo<Answer>(program: SqlProgram<Answer>, manner: Manner): SqlProgram<Answer> {
  let reply: SqlReply = noReply
  for (;;) {
    const before = step.manner
    step.manner = manner
    let next: ReturnType<typeof program.next>
    try {
      next = program.next(reply)
    } finally {
      step.manner = before
    }
    if (next.done === true) return next.value
    reply = yield next.value
  }
}
