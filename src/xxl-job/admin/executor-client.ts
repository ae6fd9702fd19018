import { SchedulerError } from '../../core/errors.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { codeOf, textOf } from '../../core/thrown-value.ts'
import type { Clock, EpochMs } from '../../time/clock.ts'
import { accessTokenHeader, appNameHeader } from '../protocol/callback.ts'
import { type PostAnswer, PostError, type Poster, type PostWait } from '../protocol/post.ts'
import { decodeExecutorReply, failure, type Reply } from '../protocol/reply.ts'
import type { TriggerRequest } from '../protocol/trigger-request.ts'

/** Most bytes of an answer that are read: a page of a log is the longest. */
const answerBytesMax = 16 * 1024 * 1024
/** Why an executor refuses goes into errors and logs: no more than this of it is kept. */
const refusalLengthMax = 2000
/** For so long routes ask an executor that did not answer after all others. */
const silentMs = 30_000

export interface ExecutorClientOptions {
  readonly appName: string
  readonly accessToken: string | null
  readonly timeoutMs: number
  readonly poster: Poster
  readonly clock: Clock
}

/** `unknown`: the executor may have got it, and did not answer. `unsent`: it cannot have got it. */
export type ExecutorAnswer =
  | { readonly kind: 'answered'; readonly reply: Reply }
  | { readonly kind: 'unknown' | 'unsent'; readonly error: SchedulerError }

/**
 * From which version of XXL-JOB on an executor speaks as it does: from 3.5 on runs go to `/trigger`, before that to
 * `/run`.
 */
export type XxlJobDialect = '2.2' | '3.5'

/**
 * Sends to one executor what admins send, in words that executors of all versions and languages understand. Whether it
 * takes runs at `/run`, or at `/trigger` as from version 3.5 on, is found out with the first run.
 */
export class ExecutorClient {
  /** As the executor registered it. */
  readonly address: string
  readonly #options: ExecutorClientOptions
  #runPath: '/run' | '/trigger' = '/run'
  #hasTakenRun = false
  /** When it last did not answer, by the clock of durations; null when it has answered or registered since. */
  #silentAtMs: number | null = null

  constructor(address: string, options: ExecutorClientOptions) {
    this.address = address
    this.#options = options
  }

  /** Null before it has answered a run. */
  get dialect(): XxlJobDialect | null {
    if (!this.#hasTakenRun) return null
    return this.#runPath === '/run' ? '2.2' : '3.5'
  }

  /** Whether it did not answer when it was asked within the last `silentMs`. */
  get isSilent(): boolean {
    return this.#silentAtMs !== null && this.#options.clock.elapsedMs() - this.#silentAtMs < silentMs
  }

  /** It was asked and has not answered. */
  noteSilence(): void {
    this.#silentAtMs = this.#options.clock.elapsedMs()
  }

  /** It has shown that it is there. */
  noteLife(): void {
    this.#silentAtMs = null
  }

  beat(): Promise<ExecutorAnswer> {
    return this.#repeatable('/beat', '')
  }

  idleBeat(jobId: number): Promise<ExecutorAnswer> {
    return this.#repeatable('/idleBeat', JSON.stringify({ jobId }))
  }

  /** Sent once: the answer to a second one would not say what became of the first. */
  kill(jobId: number): Promise<ExecutorAnswer> {
    return this.#send('/kill', JSON.stringify({ jobId }))
  }

  /** Sent once, or a second time to an executor that does not know the first path. */
  async run(request: TriggerRequest, wait: PostWait = {}): Promise<ExecutorAnswer> {
    const body = encodeTrigger(request)
    const first = this.#runPath
    const answer = await this.#send(first, body, wait)
    if (!isUnmapped(answer, first)) {
      this.#hasTakenRun ||= answer.kind === 'answered'
      return answer
    }
    const other = first === '/run' ? '/trigger' : '/run'
    const second = await this.#send(other, body, wait)
    if (isUnmapped(second, other)) return answer
    this.#runPath = other
    this.#hasTakenRun ||= second.kind === 'answered'
    return second
  }

  /** The content of a good answer is a page; `readLogResult` reads it. */
  log(logId: number, logDateTimeMs: EpochMs, fromLineNum: number): Promise<ExecutorAnswer> {
    // Executors before 3.5 read the time under the name without its last letter.
    const body = { logId, logDateTim: logDateTimeMs, logDateTime: logDateTimeMs, fromLineNum }
    return this.#repeatable('/log', JSON.stringify(body))
  }

  /** Once more when the connection breaks: an executor closes those that are kept open for long. */
  async #repeatable(path: string, body: string): Promise<ExecutorAnswer> {
    const answer = await this.#send(path, body)
    return answer.kind === 'unknown' && isReset(answer.error.cause) ? this.#send(path, body) : answer
  }

  async #send(path: string, body: string, wait: PostWait = {}): Promise<ExecutorAnswer> {
    const { accessToken, appName, timeoutMs, poster, clock } = this.#options
    const token = accessToken === null ? {} : { [accessTokenHeader]: accessToken }
    const headers = { ...token, [appNameHeader]: appName }
    try {
      const url = `${this.address.replace(/\/$/, '')}${path}`
      const answer = await poster.post(url, body, { headers, timeoutMs, answerBytesMax, clock, ...wait })
      // What stands between may have passed the request on before it answered that.
      if (answer.status >= 500) throw new Error(`HTTP status ${answer.status}`)
      this.noteLife()
      return { kind: 'answered', reply: readAnswer(answer) }
    } catch (thrown) {
      const cause: unknown = thrown instanceof PostError ? thrown.cause : thrown
      const message = `The XXL-JOB executor at ${this.address} did not answer '${path}': ${textOf(cause)}.`
      const error = new SchedulerError('ERR_XXL_JOB_RUN', message, { cause })
      return { kind: thrown instanceof PostError && !thrown.isSent ? 'unsent' : 'unknown', error }
    }
  }
}

/** What is no answer of an executor counts as a failure, as admins have it. */
function readAnswer({ status, text }: PostAnswer): Reply {
  if (status !== 200) return failure(`HTTP status ${status}`)
  const reply = decodeExecutorReply(text)
  if (reply === null) return failure(`no answer of an executor: ${beginningOf(text, 200)}`)
  return { ...reply, msg: reply.msg === null ? null : beginningOf(reply.msg, refusalLengthMax) }
}

function encodeTrigger({ logDateTimeMs, blockStrategy, ...fields }: TriggerRequest): string {
  return JSON.stringify({ ...fields, executorBlockStrategy: blockStrategy, logDateTime: logDateTimeMs })
}

function isUnmapped(answer: ExecutorAnswer, path: string): boolean {
  return answer.kind === 'answered' && answer.reply.msg?.includes(`uri-mapping(${path}) not found`) === true
}

function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].some((code) => code === codeOf(error))
}
