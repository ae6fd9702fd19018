import type { Logger } from './logger.ts'
import { objectText } from './object-text.ts'

/**
 * The message of anything that was thrown, without trusting it: reading it may throw, and it may be no text. Of an
 * object without a message it is what the object has.
 */
export function textOf(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    // Errors of another realm are no instances of this realm's Error, but have a message.
    const message: unknown = Reflect.get(thrown, 'message')
    return typeof message === 'string' ? message : objectText(thrown)
  } catch (error) {
    return `something that cannot be read (${error === thrown ? 'its message throws' : 'reading it throws'})`
  }
}

/** How many causes of an error are named. */
const causesMax = 5

/**
 * What was thrown, its causes, and the errors of which it is made, as `Promise.any` has them: the outermost first, at
 * most five more, because causes may form a circle.
 */
export function withCauses(thrown: unknown): readonly unknown[] {
  const found: unknown[] = [thrown]
  for (let index = 0; index < found.length && found.length <= causesMax; index++) {
    const cause = propertyOf(found[index], 'cause')
    const more = [cause, ...errorsOf(found[index])]
    found.push(...more.filter((each) => each !== undefined && each !== null))
  }
  return found.slice(0, causesMax + 1)
}

/** The first errors of which an error is made, as many as are named: a batch may collect a million of them. */
function errorsOf(thrown: unknown): readonly unknown[] {
  try {
    const errors = propertyOf(thrown, 'errors')
    return Array.isArray(errors) ? (errors.slice(0, causesMax) as readonly unknown[]) : []
  } catch {
    return []
  }
}

/** Texts of an error and its causes as one. Most messages repeat the message of their cause, which is left out. */
export function joinedTexts(texts: readonly string[]): string {
  const own: string[] = []
  for (const text of texts) if (!own.some((known) => known.includes(text))) own.push(text)
  return own.join('; cause: ')
}

/**
 * The messages of what was thrown and of its causes. The code of a cause stands before a message that has not been said
 * yet: some errors of the network have nothing else.
 */
export function fullTextOf(thrown: unknown): string {
  const [outermost, ...causes] = withCauses(thrown)
  const texts = [textOf(outermost)]
  for (const cause of causes) {
    const text = textOf(cause)
    const isKnown = text !== '' && texts.some((known) => known.includes(text))
    if (!isKnown) texts.push(withCode(cause))
  }
  return joinedTexts(texts)
}

export function withCode(thrown: unknown): string {
  const code = propertyOf(thrown, 'code')
  const text = textOf(thrown)
  if (typeof code !== 'string') return text
  return text === '' ? code : `${code}: ${text}`
}

/** A property of anything; undefined when there is none or reading it throws. */
export function propertyOf(value: unknown, name: string): unknown {
  try {
    return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  } catch {
    return undefined
  }
}

/** The code of an error of the system or of a library, such as `ENOENT`; null for what has none. */
export function codeOf(thrown: unknown): string | null {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : null
  return typeof code === 'string' ? code : null
}

/** Handles the rejection of a promise that was thrown, or is refused: unhandled, it would end the process. */
export function disarm(thrown: unknown): void {
  try {
    if (thrown instanceof Promise) void thrown.catch(() => {})
  } catch {
    // A proxy with throwing traps is no promise.
  }
}

/** Logs what was thrown, with a logger that `resolveLogger` or `unfailing` has made: it never throws. */
export function logThrown(
  logger: Logger,
  thrown: unknown,
  message: string,
  fields: object = {},
  level: keyof Logger = 'error',
): void {
  disarm(thrown)
  logger[level]({ ...fields, err: thrown }, message)
}
