import { fieldsAndMessage } from './job-log.ts'
import { type Logger, silentLogger } from './logger.ts'
import { beginningOf } from './text-beginning.ts'
import { disarm, joinedTexts, propertyOf, textOf, withCauses, withCode } from './thrown-value.ts'

/** Longest line in characters: a message may hold a stack or a document, which would bury other lines. */
const lineMax = 2000

/**
 * Writes warnings and errors, one line each: the time, the level, the message, plain fields, and of an error its code,
 * its message, those of its causes, and where the innermost one was thrown. Writes nothing at the other levels.
 */
export function lineLogger(nowMs: () => number, write: (line: string) => void): Logger {
  const at = (level: string) => {
    return (given: unknown, text?: unknown): void => {
      const [fields, message] = fieldsAndMessage(given, text)
      const parts = [new Date(nowMs()).toISOString(), level, `quartz-ts: ${message}`, ...partsOf(fields)]
      write(onOneLine(parts.join(' ')))
    }
  }
  return { debug: () => {}, info: () => {}, warn: at('WARN'), error: at('ERROR') }
}

/**
 * The logger of an option: false says nothing, and without one warnings and errors go to stderr, one line each. It
 * never throws, whatever the given one does.
 */
export function resolveLogger(given: Logger | false | undefined, nowMs: () => number): Logger {
  if (given === false) return silentLogger
  if (given !== undefined) return unfailing(given)
  return lineLogger(nowMs, (line) => {
    // Not the stream itself: the console survives a stderr that was closed, and test runners catch what it says.
    // eslint-disable-next-line no-console -- the default logger is the one place that speaks on its own
    console.error(line)
  })
}

/** No caller is ready for a logger that throws: the error would end the work of which the line tells. */
export function unfailing(
  logger: Readonly<Record<keyof Logger, (fields: object, message: string) => unknown>>,
): Logger {
  const at = (level: keyof Logger) => {
    const write = (fields: object, message: string): void => {
      // Its answer, because the method may be async.
      disarm(logger[level](fields, message))
    }
    return (fields: object, message: string): void => {
      try {
        write(fields, message)
      } catch {
        // It may fail while it reads an error, which may have throwing getters or be a proxy.
        try {
          // Without an error the line would only be the same, and the logger may have thrown after writing it.
          if ('err' in fields) write({ ...fields, err: textOf(fields.err) }, message)
        } catch {
          // A logger that cannot take plain text has nowhere else to say so.
        }
      }
    }
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** A job may hand over anything to log; what cannot be read is left out. */
function partsOf(fields: object): readonly string[] {
  try {
    const { err, ...rest } = fields as { readonly err?: unknown }
    const plain = Object.entries(rest)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([name, value]) => `${name}=${String(value)}`)
    const details = plain.length === 0 ? [] : [`(${plain.join(', ')})`]
    return err === undefined || err === null ? details : [...details, '-', describeThrown(err)]
  } catch {
    return []
  }
}

function describeThrown(thrown: unknown): string {
  const all = withCauses(thrown)
  const stack = propertyOf(all.at(-1), 'stack')
  const place = typeof stack === 'string' ? /^ +at (.+)$/m.exec(stack)?.[1] : undefined
  return `${joinedTexts(all.map(withCode))}${place === undefined ? '' : ` (at ${place})`}`
}

function onOneLine(text: string): string {
  // Line breaks and terminal sequences in a message could look like lines of the log.
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  return line.length <= lineMax ? line : `${beginningOf(line, lineMax - 3)}...`
}
