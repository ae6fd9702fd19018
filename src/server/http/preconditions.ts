import { createHash } from 'node:crypto'
import { SchedulerError } from '../../core/errors.ts'

/** What a request says about the thing that it changes (RFC 9110, 13.1): as it was read, or not there yet. */
export class Preconditions {
  readonly #match: string | null
  readonly #noneMatch: string | null

  constructor({ headers }: Request) {
    this.#match = headers.get('if-match')
    this.#noneMatch = headers.get('if-none-match')
  }

  /** Empty when there are none. */
  get texts(): readonly string[] {
    return [this.#match, this.#noneMatch].filter((text) => text !== null)
  }

  /** Whether it changes the thing only as it was read; `*` is content with whatever is there. */
  get isOnlyAsRead(): boolean {
    return this.#match !== null && this.#match.trim() !== '*'
  }

  /**
   * @param stored What is stored now; null when nothing is.
   * @throws SchedulerError ERR_CHANGED_MEANWHILE
   */
  require(stored: unknown): void {
    const tag = stored === null ? null : entityTag(stored)
    if (this.#match !== null && !names(this.#match, tag)) {
      const what = tag === null ? 'is not there any more' : 'was changed since it was read'
      throw changed(`It ${what}. Read it again, and decide anew.`)
    }
    if (this.#noneMatch !== null && names(this.#noneMatch, tag)) {
      throw changed('It is there already. Choose another name, or change the one that is there.')
    }
  }
}

/** The same text for the same JSON. */
export function entityTag(stored: unknown): string {
  return `"${digestOf(stored)}"`
}

/** 22 characters, the same for the same JSON. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)
}

/** Proxies that compress answers mark their tags as weak. */
function names(header: string, tag: string | null): boolean {
  if (tag === null) return false
  if (header.trim() === '*') return true
  return header.split(',').some((text) => text.trim().replace(/^W\//, '') === tag)
}

function changed(message: string): SchedulerError {
  return new SchedulerError('ERR_CHANGED_MEANWHILE', message)
}
