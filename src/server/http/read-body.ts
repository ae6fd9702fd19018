import { isUtf8 } from 'node:buffer'
import { SchedulerError } from '../../core/errors.ts'
import { bodyBytesMax } from '../server-options.ts'
import { RequestProblem } from './problem.ts'

/**
 * The body of a request as text, never more than `maxBytes` of it in memory.
 *
 * @throws SchedulerError ERR_REQUEST_TOO_LARGE
 * @throws RequestProblem for a body that ends too soon, or is not UTF-8
 */
export async function readBody(request: Request, maxBytes: number): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  if (request.body === null) return ''
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
    throw new RequestProblem([{ field: 'body', message: 'has not come to its end' }])
  }
  const whole = Buffer.concat(chunks)
  // The decoder would put U+FFFD for what is not, and that would be stored.
  if (!isUtf8(whole)) throw new RequestProblem([{ field: 'body', message: 'must be UTF-8' }])
  return whole.toString('utf8')
}

/** @throws RequestProblem for what is no JSON */
export function jsonOf(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestProblem([{ field: 'body', message: 'must be JSON' }])
  }
}

function tooLarge(maxBytes: number): SchedulerError {
  return new SchedulerError(
    'ERR_REQUEST_TOO_LARGE',
    `The body of this request has at most ${maxBytes} bytes. Send it in parts` +
      (maxBytes < bodyBytesMax ? ", or raise 'maxBodyBytes' of the server." : '.'),
  )
}
