import { SchedulerError } from '../../../core/errors.ts'
import { beginningOf } from '../../../core/text-beginning.ts'
import { textOf } from '../../../core/thrown-value.ts'
import type { Clock } from '../../../time/clock.ts'
import { accessTokenHeader, appNameHeader } from '../../protocol/callback.ts'
import { type PostAnswer, PostError, type Poster } from '../../protocol/post.ts'
import { decodeReply, xxlJobCodes } from '../../protocol/reply.ts'

/** Most bytes of an admin's answer that are read. */
const answerBytesMax = 65_536

/** With these an admin, or what stands before it, says no to a body; 403 may also mean the token. */
const refusals: readonly number[] = [400, 403, 413, 422]
/** What stands before an admin says that there is none now, whatever the body. */
const unavailable = 503

type AdminMethod = 'callback' | 'registry' | 'registryRemove'

export interface AdminClientOptions {
  readonly appName: string
  readonly accessToken: string | null
  readonly adminTimeoutMs: number
  readonly poster: Poster
  readonly clock: Clock
}

/**
 * `refused`: it understood, and said no. `failed`: it got the request, and broke down. `foreign`: the answer is none of
 * an admin. `unanswered`: it may have got the request, and did not answer. `unreachable`: it did not get it.
 */
type Problem = 'refused' | 'failed' | 'foreign' | 'unanswered' | 'unreachable'

export type AdminAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: Problem; readonly error: SchedulerError }

/** Sends requests to one admin. */
export class AdminClient {
  /** As it was given, without a slash at the end. */
  readonly address: string
  readonly #options: AdminClientOptions

  constructor(address: string, options: AdminClientOptions) {
    this.address = address
    this.#options = options
  }

  /** Never rejects. */
  async call(method: AdminMethod, body: string): Promise<AdminAnswer> {
    const { accessToken, appName, clock, poster, adminTimeoutMs: timeoutMs } = this.#options
    const token = accessToken === null ? {} : { [accessTokenHeader]: accessToken }
    const headers = { ...token, [appNameHeader]: appName }
    try {
      const answer = await poster.post(`${this.address}/api/${method}`, body, {
        headers,
        timeoutMs,
        answerBytesMax,
        clock,
      })
      return this.#read(method, answer)
    } catch (error) {
      const kind = error instanceof PostError && error.isSent ? 'unanswered' : 'unreachable'
      return this.#problem(kind, method, reasonOf(error), error)
    }
  }

  #read(method: AdminMethod, { status, text }: PostAnswer): AdminAnswer {
    if (status !== 200) {
      const reason = `it answered with HTTP status ${status}; check the path of the address`
      return this.#problem(problemOf(status), method, reason)
    }
    const reply = decodeReply(text)
    if (reply === null) {
      return this.#problem('foreign', method, 'its answer is none of an admin; check the path of the address')
    }
    if (reply.code === xxlJobCodes.success) return { kind: 'accepted' }
    return this.#problem('refused', method, `it answered ${reply.code}: ${beginningOf(reply.msg ?? '', 500)}`)
  }

  #problem(kind: Problem, method: AdminMethod, reason: string, cause?: unknown): AdminAnswer {
    const error = new SchedulerError(
      'ERR_XXL_JOB_ADMIN',
      `The XXL-JOB admin at ${this.address} did not take '${method}': ${reason}.`,
      cause === undefined ? undefined : { cause },
    )
    return { kind, error }
  }
}

function problemOf(status: number): Problem {
  if (refusals.includes(status)) return 'refused'
  return status >= 500 && status !== unavailable ? 'failed' : 'foreign'
}

function reasonOf(error: unknown): string {
  return textOf(error instanceof PostError ? error.cause : error)
}
