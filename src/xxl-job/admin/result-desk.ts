import { randomInt } from 'node:crypto'
import { beginningOf } from '../../core/text-beginning.ts'
import type { EpochMs } from '../../time/clock.ts'
import { MalformedRequest, numberOf } from '../protocol/message-reader.ts'
import { xxlJobCodes } from '../protocol/reply.ts'
import type { Bearer } from './admin-access.ts'

/** How a run ended, as an executor reports it. */
export interface ReportedResult {
  readonly logId: number
  readonly handleCode: number
  readonly handleMsg: string
}

/** As long as what executors of XXL-JOB send. */
const messageLengthMax = 50_000

interface Waiting {
  /** Of the executors that the run was sent to. */
  readonly appName: string
  readonly onResult: (result: ReportedResult) => void
}

/** Runs that were sent, or are just being sent, and who waits for their results. The first result of a run counts. */
export class ResultDesk {
  readonly #waiting = new Map<number, Waiting>()
  /** Where its numbers of a millisecond begin: other nodes take other ones. */
  readonly #firstOfMs = randomInt(1000)
  #lastLogId = 0

  get size(): number {
    return this.#waiting.size
  }

  /**
   * A number that no run had before, also none before the last start of this process: executors file logs by it. It
   * is exact in JavaScript until the year 2255. Two admins that send in the same millisecond hardly ever make the same.
   */
  nextLogId(nowMs: EpochMs): number {
    this.#lastLogId = Math.max(this.#lastLogId + 1, nowMs * 1000 + this.#firstOfMs)
    return this.#lastLogId
  }

  /** Returns a function that ends the wait. */
  expect(logId: number, appName: string, onResult: Waiting['onResult']): () => void {
    this.#waiting.set(logId, { appName, onResult })
    return () => this.#waiting.delete(logId)
  }

  /** `late`: no caller waits for it. `refused`: it is about a run of executors that the sender has no token of. */
  settle(result: ReportedResult, { mayActFor }: Bearer): 'taken' | 'late' | 'refused' {
    const waiting = this.#waiting.get(result.logId)
    if (waiting === undefined) return 'late'
    if (!mayActFor(waiting.appName)) return 'refused'
    this.#waiting.delete(result.logId)
    waiting.onResult(result)
    return 'taken'
  }
}

/**
 * The results in the body of a callback: an array, or from 3.5 on an object with a list. What is no result is left
 * out: an executor that were refused would send it again and again, and with it all others.
 *
 * @throws MalformedRequest for a body that has no list
 */
export function readCallback(body: string): readonly ReportedResult[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    throw new MalformedRequest('invalid request, the body is no JSON.')
  }
  const list: unknown =
    typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? Reflect.get(parsed, 'callbackList')
      : parsed
  if (!Array.isArray(list)) throw new MalformedRequest('invalid request, the body has no list of results.')
  return list.map(readResult).filter((result) => result !== null)
}

/** The code is `handleCode`, or up to 2.2 that of `executeResult`. */
function readResult(element: unknown): ReportedResult | null {
  if (typeof element !== 'object' || element === null) return null
  const field = (holder: unknown, name: string): unknown =>
    typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined
  const logId = numberOf(field(element, 'logId'))
  if (!Number.isSafeInteger(logId)) return null
  const result = field(element, 'executeResult')
  const code = numberOf(field(element, 'handleCode') ?? field(result, 'code'))
  const text = field(element, 'handleMsg') ?? field(result, 'msg')
  return {
    logId,
    handleCode: Number.isInteger(code) && code > 0 ? code : xxlJobCodes.failure,
    handleMsg: typeof text === 'string' ? beginningOf(text, messageLengthMax) : '',
  }
}
