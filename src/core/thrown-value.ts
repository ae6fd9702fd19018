import type { Logger } from './logger.ts'

/** The message of anything that was thrown, without trusting it: reading it may throw, and it may be no text. */
export function textOf(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    // Errors of another realm are no instances of this realm's Error, but have a message.
    const message: unknown = Reflect.get(thrown, 'message')
    return typeof message === 'string' ? message : Object.prototype.toString.call(thrown)
  } catch (error) {
    return `something that cannot be read (${error === thrown ? 'its message throws' : 'reading it throws'})`
  }
}

/** The code of an error of the system or of a library, such as `ENOENT`; null for what has none. */
export function codeOf(thrown: unknown): string | null {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : null
  return typeof code === 'string' ? code : null
}

/** Handles the rejection of a promise that was thrown: unhandled, it would end the process. */
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
