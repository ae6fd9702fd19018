import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../../core/logger.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { logThrown, textOf } from '../../core/thrown-value.ts'
import { MalformedRequest } from './message-reader.ts'
import { bodyBytesMax, type ReadBody, readLimited, readRequest } from './read-limited.ts'
import { encodeReply, failure, type Reply } from './reply.ts'

/** A request, whichever server it came to. */
export interface Incoming {
  readonly method: string
  /** As it was sent: path and query. */
  readonly target: string
  /** The address of the sender's end of the connection; '' where the server does not tell. */
  readonly client: string
  header(name: string): string | null
}

export interface ReplyServerOptions {
  /** Who sends requests, for logs. */
  readonly sender: string
  /** Why a request is not looked at, or null. */
  readonly refusalOf: (incoming: Incoming) => string | null
  /** Its MalformedRequest is what the sender is answered. */
  readonly call: (incoming: Incoming, body: string) => Reply | Promise<Reply>
  readonly logger: Logger
  /**
   * Refuses bodies that are not UTF-8, before damaged text is used. Not for results of runs: their sender would send
   * the same bytes again and again, and the result would be lost for one character of its message.
   */
  readonly refusesDamaged: boolean
}

interface IncomingWithBody extends Incoming {
  readonly read: (maxBytes: number) => Promise<ReadBody>
}

interface Outgoing {
  readonly text: string
  /** The body was not read to its end, so the connection is of no more use. */
  readonly closes: boolean
}

const headers = {
  'content-type': 'application/json;charset=UTF-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/**
 * The requests of one side to the other. Every answer has the HTTP status 200, as both sides want it; whether it went
 * well is in the `code`. The body of a request that is refused is dropped as it comes in.
 */
export class ReplyServer {
  readonly #options: ReplyServerOptions

  constructor(options: ReplyServerOptions) {
    this.#options = options
  }

  /** Never rejects. */
  async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const outgoing = await this.#answer({
      method: request.method,
      target: `${pathname}${search}`,
      client: '',
      header: (name) => request.headers.get(name),
      read: (maxBytes) => readLimited((request.body ?? []) as AsyncIterable<Uint8Array>, maxBytes),
    })
    return new Response(outgoing.text, {
      headers: { ...headers, ...(outgoing.closes && { connection: 'close' }) },
    })
  }

  /** For `node:http`. Never rejects. */
  async listener(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const outgoing = await this.#answer({
      method: request.method ?? '',
      target: request.url ?? '',
      client: request.socket.remoteAddress ?? '',
      header: (name) => {
        const value = request.headers[name]
        return typeof value === 'string' ? value : null
      },
      read: (maxBytes) => readRequest(request, maxBytes),
    })
    if (response.destroyed) return
    response.writeHead(200, {
      ...headers,
      'content-length': Buffer.byteLength(outgoing.text),
      ...(outgoing.closes && { connection: 'close' }),
    })
    response.end(outgoing.text)
  }

  async #answer(incoming: IncomingWithBody): Promise<Outgoing> {
    const refusal = this.#options.refusalOf(incoming)
    let body: ReadBody
    try {
      body = await incoming.read(refusal === null ? bodyBytesMax : 0)
    } catch (error) {
      logThrown(this.#options.logger, error, 'a request broke off', { target: incoming.target }, 'debug')
      return { text: encodeReply(failure('invalid request, its body broke off.')), closes: true }
    }
    const reply = refusal === null ? await this.#reply(incoming, body) : failure(refusal)
    return { text: encodeReply(reply), closes: !body.isAtEnd }
  }

  async #reply(incoming: Incoming, { text, isDamaged }: ReadBody): Promise<Reply> {
    if (text === null) return failure(`invalid request, the body has more than ${bodyBytesMax} bytes.`)
    const { call, sender, logger, refusesDamaged } = this.#options
    if (isDamaged === true && refusesDamaged) return failure('invalid request, the body is not UTF-8.')
    try {
      return await call(incoming, text)
    } catch (error) {
      if (error instanceof MalformedRequest) return failure(error.message)
      logThrown(
        logger,
        error,
        `a request of an XXL-JOB ${sender} failed`,
        { target: incoming.target },
        'warn',
      )
      return failure(textOf(error))
    }
  }
}

/** The target without what this side is mounted at, compared as text: neither `//run` nor `/run?x` is `/run`. */
export function pathBelow(basePath: string, { target }: Incoming): string {
  return target.startsWith(`${basePath}/`) ? target.slice(basePath.length) : ''
}

export function unmapped({ target }: Incoming): Reply {
  return failure(`invalid request, uri-mapping(${beginningOf(target, 200)}) not found.`)
}

/** Answers whether a token is the right one, taking as long for every text. Null: every token is. */
export function tokenCheck(accessToken: string | null): (given: string | null) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const right = accessToken === null ? null : digest(accessToken)
  return (given) => right === null || timingSafeEqual(right, digest(given ?? ''))
}
