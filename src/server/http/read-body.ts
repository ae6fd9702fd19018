import { isUtf8 } from 'node:buffer'
import { withoutMark } from '../../core/byte-order-mark.ts'
import { SchedulerError } from '../../core/errors.ts'
import { unawaited } from '../../core/promises.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { bodyBytesMax } from '../server-options.ts'
import { RequestProblem } from './problem.ts'

/**
 * The body of a request as text, never more than `maxBytes` of it in memory.
 *
 * @throws SchedulerError ERR_REQUEST_TOO_LARGE
 * @throws RequestProblem for a body that ends too soon, was read before, is compressed or is not UTF-8
 */
export async function readBody(request: Request, maxBytes: number): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  if (request.body === null) return ''
  if (request.bodyUsed) throw bodyProblem(`has been read before the server got the request: ${mounting}`)
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    const message = `is ${beginningOf(encoding, 50)}, and compressed bodies are not taken: ${uncompressed}`
    throw new RequestProblem([{ field: 'content-encoding', message }])
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = (request.body as ReadableStream<Uint8Array>).getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength
      if (bytes > maxBytes) {
        discard(reader)
        throw tooLarge(maxBytes)
      }
      chunks.push(part.value)
    }
  } catch (error) {
    if (SchedulerError.is(error)) throw error
    // A client that goes away is no failure of the server.
    const ofMount = bytes === 0 ? `; where the application has read it before, ${mounting}` : ''
    throw bodyProblem(`has not come to its end${ofMount}`)
  }
  const whole = Buffer.concat(chunks)
  // The decoder would put U+FFFD for what is not, and that would be stored.
  if (!isUtf8(whole)) throw bodyProblem('must be UTF-8')
  return withoutMark(whole.toString('utf8'))
}

/** The most that is read of a body which nothing wants. */
const discardedBytesMax = 64 * 1024 * 1024

/**
 * Reads the body of a request that is answered without it, so that a client which sends all first comes to read the
 * answer. Hosts leave that to the server that takes the body. The host limits how long the client may take.
 */
export function discardUnread({ body, bodyUsed }: Request): void {
  // Where the host has begun to read it, it goes on.
  if (body === null || bodyUsed || body.locked) return
  discard((body as ReadableStream<Uint8Array>).getReader())
}

function discard(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const readOn = async (): Promise<void> => {
    let bytes = 0
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength
      if (bytes > discardedBytesMax) await reader.cancel()
    }
  }
  // The client has gone away, or its host has closed the connection.
  unawaited(readOn(), () => {})
}

const mounting = 'mount the server before what reads bodies, such as express.json()'
const uncompressed = 'send the body as it is, without this header'

function bodyProblem(message: string): RequestProblem {
  return new RequestProblem([{ field: 'body', message }])
}

/** @throws RequestProblem for what is no JSON */
export function jsonOf(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw bodyProblem('must be JSON')
  }
}

function tooLarge(maxBytes: number): SchedulerError {
  return new SchedulerError(
    'ERR_REQUEST_TOO_LARGE',
    `The body of this request has at most ${maxBytes} bytes. Send it in parts` +
      (maxBytes < bodyBytesMax ? ", or raise 'maxBodyBytes' of the server." : '.'),
  )
}
