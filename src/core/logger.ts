import { type ArgumentCheck, checkMethods } from './arguments.ts'

/**
 * What the library logs with. The shape is pino's, so a pino logger fits as it is.
 */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export const checkLogger: ArgumentCheck = checkMethods(
  'a logger',
  ['debug', 'info', 'warn', 'error'],
  'Pass a pino logger or anything of its shape.',
)

/** An option `logger`: false turns logging off. */
export const checkLoggerOrFalse: ArgumentCheck = (method, argument, value, code) => {
  if (value !== false) checkLogger(method, argument, value, code)
}

/** Writes nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
}
