import { SchedulerError } from '../../../core/errors.ts'
import { textOf } from '../../../core/thrown-value.ts'
import type { Clock } from '../../../time/clock.ts'
import { accessTokenHeader, appNameHeader } from '../../protocol/callback.ts'
import { decodeReply, xxlJobCodes } from '../../protocol/reply.ts'

/** Most bytes of an admin's answer that are read. */
const answerBytesMax = 65_536

export interface AdminClientOptions {
  readonly appName: string
  readonly accessToken: string | null
  readonly adminTimeoutMs: number
  readonly clock: Clock
}

/** `refused`: it understood, and said no. `failed`: it answered something else. `unreachable`: it did not answer. */
export type AdminAnswer =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused' | 'failed' | 'unreachable'; readonly error: SchedulerError }

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
  async call(method: 'callback' | 'registry' | 'registryRemove', body: string): Promise<AdminAnswer> {
    const { clock, adminTimeoutMs } = this.#options
    const controller = new AbortController()
    const timer = clock.setTimer(adminTimeoutMs, () => {
      controller.abort(new Error(`it did not answer within ${adminTimeoutMs} ms`))
    })
    try {
      return await this.#send(method, body, controller.signal)
    } catch (error) {
      return this.#problem(
        'unreachable',
        method,
        reasonOf(controller.signal.aborted ? controller.signal.reason : error),
        error,
      )
    } finally {
      timer.cancel()
      // Nothing of an answer that was not read to its end is left open.
      controller.abort()
    }
  }

  async #send(method: string, body: string, signal: AbortSignal): Promise<AdminAnswer> {
    const { accessToken, appName } = this.#options
    const response = await fetch(`${this.address}/api/${method}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json;charset=UTF-8',
        [appNameHeader]: appName,
        ...(accessToken !== null && { [accessTokenHeader]: accessToken }),
      },
      body,
      redirect: 'manual',
      signal,
    })
    const text = await readStart(response)
    if (response.status !== 200) {
      const kind = response.status === 413 || response.status === 400 ? 'refused' : 'failed'
      return this.#problem(
        kind,
        method,
        `it answered with HTTP status ${response.status}; check the path of the address`,
      )
    }
    const reply = decodeReply(text)
    if (reply === null) {
      return this.#problem('failed', method, 'its answer is none of an admin; check the path of the address')
    }
    if (reply.code === xxlJobCodes.success) return { kind: 'accepted' }
    return this.#problem('refused', method, `it answered ${reply.code}: ${(reply.msg ?? '').slice(0, 500)}`)
  }

  #problem(
    kind: 'refused' | 'failed' | 'unreachable',
    method: string,
    reason: string,
    cause?: unknown,
  ): AdminAnswer {
    const error = new SchedulerError(
      'ERR_XXL_JOB_ADMIN',
      `The XXL-JOB admin at ${this.address} did not take '${method}': ${reason}.`,
      cause === undefined ? undefined : { cause },
    )
    return { kind, error }
  }
}

/** The beginning of a body: an answer is short, and anything longer is none. */
async function readStart(response: Response): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > answerBytesMax) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** `fetch` hides the reason of a failure in the cause. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  return textOf(cause ?? error)
}
