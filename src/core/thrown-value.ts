import type { Logger } from './logger.ts'

/** The message of anything that was thrown, without trusting it: reading it may throw, and it may be no text. */
export function textOf(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    // Errors of another realm are no instances of this one's Error, but have a message all the same.
    const message: unknown = Reflect.get(thrown, 'message')
    return typeof message === 'string' ? message : Object.prototype.toString.call(thrown)
  } catch (error) {
    return `something that cannot be read (${error === thrown ? 'its message throws' : 'reading it throws'})`
  }
}

/** Nobody looks at a promise that was thrown; were it to reject later, it would end the process. */
export function disarm(thrown: unknown): void {
  try {
    if (thrown instanceof Promise) void thrown.catch(() => {})
  } catch {
    // A proxy with throwing traps is no promise.
  }
}

/**
 * Logs what was thrown. A logger that reads the error (a throwing getter, a proxy) may fail itself; then its text is
 * logged, and whoever reports goes on in any case.
 */
export function logThrown(
  logger: Logger,
  thrown: unknown,
  message: string,
  fields: object = {},
  level: keyof Logger = 'error',
): void {
  disarm(thrown)
  try {
    logger[level]({ ...fields, err: thrown }, message)
  } catch {
    try {
      logger[level]({ ...fields, err: textOf(thrown) }, message)
    } catch {
      // A logger that cannot take plain text has nowhere else to say so.
    }
  }
}
