import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as TlsAgent } from 'node:https'
import type { Clock } from '../../time/clock.ts'

/** How a request waits for one of the connections to its address. */
export interface PostWait {
  /** How long it may wait; then it was not sent. Default as long as for the answer. */
  readonly waitMs?: number
  /** Ends the wait, and nothing else: then it was not sent. */
  readonly signal?: AbortSignal
  /** Called when it waits no longer: from now on the receiver may have it. */
  readonly onConnection?: () => void
}

export interface PostOptions extends PostWait {
  readonly headers: Readonly<Record<string, string>>
  /** How long the receiver may take to answer, from when there is a connection. */
  readonly timeoutMs: number
  /** Most bytes of the answer that are read. */
  readonly answerBytesMax: number
  readonly clock: Clock
}

export interface PostAnswer {
  readonly status: number
  readonly text: string
}

/** There is no answer. The cause says why. */
export class PostError extends Error {
  /** Whether the receiver may have got the request. */
  readonly isSent: boolean

  constructor(cause: unknown, isSent: boolean) {
    super('a request was not answered', { cause })
    this.isSent = isSent
  }
}

/** Connections are kept open for further requests, so many to one address at most; further requests wait. */
const socketsMax = 64
/**
 * An idle connection is closed after so many milliseconds, before the other side does: a request that meets that close
 * may have arrived or not. Executors in Java close after 90 seconds, others after 5.
 */
const idleMs = 4000
/** Several connections may have been closed at once, such as by a restart. */
const attemptsMax = 3

/** Sends requests of either side; neither follows redirects. */
export class Poster {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: socketsMax, timeout: idleMs })
  readonly #tlsAgent = new TlsAgent({ keepAlive: true, maxSockets: socketsMax, timeout: idleMs })

  /**
   * Sends a request, and sends it again by itself only where the receiver cannot have got it.
   *
   * @throws PostError when there is no answer
   */
  async post(url: string, body: string, options: PostOptions): Promise<PostAnswer> {
    for (let attempt = 1; ; attempt++) {
      let sending: Sending | null = null
      try {
        sending = this.#send(url, body, options)
        return await sending.answer
      } catch (error) {
        const hasMetClose = sending?.hasMetClose(error) ?? false
        if (!hasMetClose || attempt === attemptsMax)
          throw new PostError(error, sending?.isSent(error) ?? false)
      }
    }
  }

  #send(url: string, body: string, options: PostOptions): Sending {
    const isTls = url.startsWith('https:')
    const request = (isTls ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent: isTls ? this.#tlsAgent : this.#agent,
      headers: {
        'content-type': 'application/json;charset=UTF-8',
        'content-length': Buffer.byteLength(body),
        ...options.headers,
      },
    })
    return new Sending(request, body, { ...options, isTls })
  }
}

/** One request on its way. */
class Sending {
  readonly answer: Promise<PostAnswer>
  readonly #request: ClientRequest
  #isConnected = false

  constructor(
    request: ClientRequest,
    body: string,
    options: Omit<PostOptions, 'headers'> & { readonly isTls: boolean },
  ) {
    const { answerBytesMax, clock, isTls, onConnection, signal, timeoutMs, waitMs = timeoutMs } = options
    this.#request = request
    this.answer = new Promise<PostAnswer>((resolve, reject) => {
      const giveUp = (why: string): void => {
        endWait()
        // A request that waits for a connection would say nothing of its end.
        reject(new Error(why))
        request.destroy()
      }
      const abort = (): void => {
        giveUp('it was ended while it waited for a connection')
      }
      let timer = clock.setTimer(waitMs, () => {
        giveUp(`no connection was free within ${waitMs} ms`)
      })
      const endWait = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', abort)
      }
      signal?.addEventListener('abort', abort)
      request.once('socket', (socket) => {
        endWait()
        timer = clock.setTimer(timeoutMs, () => {
          giveUp(`it did not answer within ${timeoutMs} ms`)
        })
        if (!socket.connecting) this.#isConnected = true
        // Nothing goes to a server before its certificate was found good.
        else socket.once(isTls ? 'secureConnect' : 'connect', () => (this.#isConnected = true))
        onConnection?.()
      })
      request.once('close', endWait)
      request.on('error', reject)
      request.once('response', (response) => {
        readStart(response, answerBytesMax, resolve, reject)
      })
      if (signal?.aborted === true) abort()
    })
    // One that was ended takes no body.
    if (!request.destroyed) request.end(body)
  }

  /** What was not written to its end was not taken for a request. */
  isSent(error: unknown): boolean {
    return this.#isConnected && !isUnwritten(error)
  }

  /** The connection was kept open from an earlier request, and had been closed by the receiver before this one. */
  hasMetClose(error: unknown): boolean {
    return this.#request.reusedSocket && isUnwritten(error)
  }
}

function isUnwritten(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'write'
}

/** The beginning of a body: anything longer is no answer, and is not read. */
function readStart(
  response: IncomingMessage,
  bytesMax: number,
  resolve: (answer: PostAnswer) => void,
  reject: (error: Error) => void,
): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const end = (): void => {
    resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') })
  }
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes <= bytesMax) return
    end()
    response.destroy()
  })
  response.once('end', end)
  response.once('error', reject)
}
