import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../../../core/logger.ts'
import { logThrown, textOf } from '../../../core/thrown-value.ts'
import { accessTokenHeader, appNameHeader } from '../../protocol/callback.ts'
import { MalformedRequest } from '../../protocol/message-reader.ts'
import { encodeReply, failure, type Reply } from '../../protocol/reply.ts'
import type { ExecutorOperations } from '../executor-operations.ts'
import { bodyBytesMax, type ReadBody, readLimited } from './read-limited.ts'

export interface HttpFaceOptions {
  readonly operations: ExecutorOperations
  readonly appName: string
  readonly accessToken: string | null
  readonly basePath: string
  readonly logger: Logger
}

/** A request, whichever server it came to. */
interface Incoming {
  readonly method: string
  /** As it was sent: path and query. */
  readonly target: string
  header(name: string): string | null
  readonly body: AsyncIterable<Uint8Array>
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
 * The requests of admins. Every answer has the HTTP status 200, as admins want it; whether it went well is in the
 * `code`. The body of a request without the right token is dropped as it comes in.
 */
export class HttpFace {
  readonly #options: HttpFaceOptions
  readonly #token: Buffer | null

  constructor(options: HttpFaceOptions) {
    this.#options = options
    this.#token = options.accessToken === null ? null : digest(options.accessToken)
  }

  /** Never rejects. */
  async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const outgoing = await this.#answer({
      method: request.method,
      target: `${pathname}${search}`,
      header: (name) => request.headers.get(name),
      body: (request.body ?? []) as AsyncIterable<Uint8Array>,
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
      header: (name) => {
        const value = request.headers[name]
        return typeof value === 'string' ? value : null
      },
      body: request,
    })
    if (response.destroyed) return
    response.writeHead(200, {
      ...headers,
      'content-length': Buffer.byteLength(outgoing.text),
      ...(outgoing.closes && { connection: 'close' }),
    })
    response.end(outgoing.text)
  }

  async #answer(incoming: Incoming): Promise<Outgoing> {
    const refusal = this.#refusalOf(incoming)
    let body: ReadBody
    try {
      body = await readLimited(incoming.body, refusal === null ? bodyBytesMax : 0)
    } catch (error) {
      logThrown(this.#options.logger, error, 'a request broke off', { target: incoming.target }, 'debug')
      return { text: encodeReply(failure('invalid request, its body broke off.')), closes: true }
    }
    const reply = refusal === null ? await this.#reply(incoming, body.text) : failure(refusal)
    return { text: encodeReply(reply), closes: !body.isAtEnd }
  }

  async #reply(incoming: Incoming, body: string | null): Promise<Reply> {
    if (body === null) return failure(`invalid request, the body has more than ${bodyBytesMax} bytes.`)
    try {
      return await this.#call(incoming, body)
    } catch (error) {
      if (error instanceof MalformedRequest) return failure(error.message)
      const message = 'a request of an XXL-JOB admin failed'
      logThrown(this.#options.logger, error, message, { target: incoming.target }, 'warn')
      return failure(textOf(error))
    }
  }

  #refusalOf(incoming: Incoming): string | null {
    if (incoming.method !== 'POST') return 'invalid request, HttpMethod not support.'
    const token = incoming.header(accessTokenHeader)
    const appName = incoming.header(appNameHeader)
    // Admins from 3.5 on send both.
    const is35 = appName !== null || this.#pathOf(incoming) === '/trigger'
    if (is35 && this.#token !== null && (token === null || token.trim() === '')) {
      return 'invalid request, accessToken or appname is empty.'
    }
    if (!this.#isToken(token)) {
      return is35 ? 'invalid request, accessToken or appname is invalid.' : 'The access token is wrong.'
    }
    if (appName !== null && appName.trim() === '') return 'invalid request, accessToken or appname is empty.'
    if (appName !== null && appName !== this.#options.appName) {
      return 'invalid request, accessToken or appname is invalid.'
    }
    return null
  }

  #isToken(given: string | null): boolean {
    return this.#token === null || timingSafeEqual(this.#token, digest(given ?? ''))
  }

  async #call(incoming: Incoming, body: string): Promise<Reply> {
    const { operations } = this.#options
    operations.saw(incoming.header(appNameHeader) === null ? 'array' : 'object')
    switch (this.#pathOf(incoming)) {
      case '/beat':
        return operations.beat()
      case '/idleBeat':
        return operations.idleBeat(body)
      case '/run':
        return operations.run(body)
      case '/trigger':
        operations.saw('object')
        return operations.run(body)
      case '/kill':
        return operations.kill(body)
      case '/log':
        return operations.log(body)
      default:
        return failure(`invalid request, uri-mapping(${incoming.target.slice(0, 200)}) not found.`)
    }
  }

  /** The target without what the executor is mounted at, compared as text: neither `//run` nor `/run?x` is `/run`. */
  #pathOf({ target }: Incoming): string {
    const { basePath } = this.#options
    return target.startsWith(`${basePath}/`) ? target.slice(basePath.length) : ''
  }
}

/** Of equal length, so that comparing takes as long for every text. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
