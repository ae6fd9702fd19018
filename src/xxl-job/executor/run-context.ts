import { boundedJson } from '../../core/bounded-json.ts'
import { xxlJobCodes } from '../protocol/reply.ts'

/** What a handler sees of its run, on the event loop and in a worker thread. */
export interface XxlJobContext {
  readonly jobId: number
  /** Unique per run: the admin's id of its log row. */
  readonly logId: number
  /** When the admin triggered the run. */
  readonly logDateTime: Date
  /** The name of the handler; of a script its kind, such as `GLUE_SHELL`. */
  readonly handler: string
  /** The text that the admin sent; empty when there is none. */
  readonly param: string
  /** Which part this run is: `index` from 0, of `total`. Without sharding 0 of 1. */
  readonly shard: { readonly index: number; readonly total: number }
  /** Aborts when the run is killed or replaced, when it takes too long, and at the end of a shutdown. */
  readonly signal: AbortSignal
  /** The path of the file that `log` writes to. */
  readonly logFileName: string
  /** Writes a line that the admin's page shows; each `{}` in the text stands for the next value. */
  log(text: unknown, ...values: readonly unknown[]): void
  /** The run is to end with code 200. */
  handleSuccess(msg?: string): void
  /** The run is to end with code 500, though the handler does not throw. */
  handleFail(msg?: string): void
  /** The run is to end with code 502. */
  handleTimeout(msg?: string): void
  /** The run is to end with this code; one that is not from 1 to 2,147,483,647 counts as a failure. */
  handleResult(code: number, msg?: string): void
}

/** Admins read a code as an integer of Java, and refuse the whole request for one that is greater. */
const codeMax = 2 ** 31 - 1

/** What a run is about, as it crosses into a worker thread. */
export interface RunFacts {
  readonly jobId: number
  readonly logId: number
  readonly logDateTimeMs: number
  readonly handler: string
  readonly param: string
  readonly shardIndex: number
  readonly shardTotal: number
  readonly logFileName: string
}

/** What the handler wants the run to end with. */
export interface HandleResult {
  readonly code: number
  readonly msg: string
}

export class RunContext implements XxlJobContext {
  readonly jobId: number
  readonly logId: number
  readonly logDateTime: Date
  readonly handler: string
  readonly param: string
  readonly shard: { readonly index: number; readonly total: number }
  readonly logFileName: string
  readonly #signal: () => AbortSignal
  readonly #write: (text: string) => void
  #result: HandleResult = { code: xxlJobCodes.success, msg: '' }

  constructor(facts: RunFacts, signal: () => AbortSignal, write: (text: string) => void) {
    this.jobId = facts.jobId
    this.logId = facts.logId
    this.logDateTime = new Date(facts.logDateTimeMs)
    this.handler = facts.handler
    this.param = facts.param
    this.shard = { index: facts.shardIndex, total: facts.shardTotal }
    this.logFileName = facts.logFileName
    this.#signal = signal
    this.#write = write
  }

  get signal(): AbortSignal {
    return this.#signal()
  }

  get result(): HandleResult {
    return this.#result
  }

  log(text: unknown, ...values: readonly unknown[]): void {
    this.#write(formatLogText(text, values))
  }

  handleSuccess(msg?: string): void {
    this.handleResult(xxlJobCodes.success, msg)
  }

  handleFail(msg?: string): void {
    this.handleResult(xxlJobCodes.failure, msg)
  }

  handleTimeout(msg?: string): void {
    this.handleResult(xxlJobCodes.timeout, msg)
  }

  handleResult(code: number, msg: string = ''): void {
    this.#result = { code: Number.isInteger(code) && code <= codeMax ? code : 0, msg: textOfValue(msg) }
  }
}

/** Longest text of one value in a log line. */
const valueMax = 10_000

function formatLogText(text: unknown, values: readonly unknown[]): string {
  const rest = [...values]
  const filled = textOfValue(text).replaceAll('{}', (mark) => {
    return rest.length === 0 ? mark : textOfValue(rest.shift())
  })
  // An error at the end stands for its stack, as loggers have it.
  return [filled, ...rest.filter((value) => value instanceof Error).map(textOfValue)].join('\n')
}

function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Error) return textOfFailure(value)
  return typeof value === 'object' && value !== null ? boundedJson(value, valueMax) : String(value)
}

/** The stack of an error, which begins with its message; of anything else its text. Never throws. */
export function textOfFailure(thrown: unknown): string {
  try {
    const stack: unknown = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'stack') : null
    return typeof stack === 'string' ? stack : boundedText(thrown)
  } catch {
    return 'an error that cannot be read'
  }
}

function boundedText(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null ? boundedJson(thrown, valueMax) : String(thrown)
}
