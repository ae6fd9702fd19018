import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../../../core/logger.ts'
import { accessTokenHeader, appNameHeader } from '../../protocol/callback.ts'
import type { Reply } from '../../protocol/reply.ts'
import { type Incoming, pathBelow, ReplyServer, tokenCheck, unmapped } from '../../protocol/reply-server.ts'
import type { ExecutorOperations } from '../executor-operations.ts'

export interface HttpFaceOptions {
  readonly operations: ExecutorOperations
  readonly appName: string
  readonly accessToken: string | null
  readonly basePath: string
  readonly logger: Logger
}

/** The requests of admins, as those of each version send them. */
export class HttpFace {
  readonly #options: HttpFaceOptions
  readonly #isToken: (given: string | null) => boolean
  readonly #server: ReplyServer

  constructor(options: HttpFaceOptions) {
    this.#options = options
    this.#isToken = tokenCheck(options.accessToken)
    this.#server = new ReplyServer({
      sender: 'admin',
      refusalOf: (incoming) => this.#refusalOf(incoming),
      call: (incoming, body) => this.#call(incoming, body),
      refusesDamaged: true,
      logger: options.logger,
    })
  }

  /** Never rejects. */
  fetch(request: Request): Promise<Response> {
    return this.#server.fetch(request)
  }

  /** For `node:http`. Never rejects. */
  listener(request: IncomingMessage, response: ServerResponse): Promise<void> {
    return this.#server.listener(request, response)
  }

  #refusalOf(incoming: Incoming): string | null {
    if (incoming.method !== 'POST') return 'invalid request, HttpMethod not support.'
    const token = incoming.header(accessTokenHeader)
    const appName = incoming.header(appNameHeader)
    // Admins from 3.5 on send both.
    const is35 = appName !== null || this.#pathOf(incoming) === '/trigger'
    if (is35 && this.#options.accessToken !== null && (token === null || token.trim() === '')) {
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
        return unmapped(incoming)
    }
  }

  #pathOf(incoming: Incoming): string {
    return pathBelow(this.#options.basePath, incoming)
  }
}
