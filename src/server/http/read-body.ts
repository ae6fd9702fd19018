import { isUtf8 } from 'node:buffer'
import { withoutMark } from '../../core/byte-order-mark.ts'
import { SchedulerError } from '../../core/errors.ts'
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
  try {
    for await (const chunk of request.body as ReadableStream<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
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
