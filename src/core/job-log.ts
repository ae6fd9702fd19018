import type { Logger } from './logger.ts'
import { textOf } from './thrown-value.ts'

/** An Error, alone or in place of the fields, counts as the field `err`. */
export interface JobLogMethod {
  (fields: object, message: string): void
  (message: string | Error): void
}

/** What a job logs with. */
export interface JobLog extends Logger {
  readonly debug: JobLogMethod
  readonly info: JobLogMethod
  readonly warn: JobLogMethod
  readonly error: JobLogMethod
}

/** What was logged in one of the forms of `JobLogMethod` as fields and message, which is what a logger takes. */
export function fieldsAndMessage(
  fields: unknown,
  message: unknown,
): readonly [fields: object, message: string] {
  if (isError(fields)) return [{ err: fields }, message === undefined ? textOf(fields) : asText(message)]
  if (isObject(fields)) return [named(fields), message === undefined ? '' : asText(message)]
  // The order of the console, which a job in JavaScript may use.
  if (isObject(message)) return [isError(message) ? { err: message } : named(message), asText(fields ?? '')]
  // Two texts, as one would pass to the console: none is lost.
  const texts = [fields, message].filter((text) => text !== undefined && text !== null)
  return [{}, texts.map(asText).join(' ')]
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Bytes would become a field each. */
function named(fields: object): object {
  return ArrayBuffer.isView(fields) ? { bytes: fields } : fields
}

function asText(message: unknown): string {
  return typeof message === 'string' ? message : textOf(message)
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error
  } catch {
    // A proxy whose getPrototypeOf trap throws.
    return false
  }
}
