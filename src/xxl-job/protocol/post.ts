import type { Clock } from '../../time/clock.ts'

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Most bytes of the answer that are read. */
  readonly answerBytesMax: number
  readonly clock: Clock
}

export interface PostAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Sends a request of either side; neither follows redirects.
 *
 * @throws when there is no answer: the error of `fetch`, or one that says how long was waited
 */
export async function post(url: string, body: string, options: PostOptions): Promise<PostAnswer> {
  const { clock, timeoutMs, headers, answerBytesMax } = options
  const controller = new AbortController()
  const timer = clock.setTimer(timeoutMs, () => {
    controller.abort(new Error(`it did not answer within ${timeoutMs} ms`))
  })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json;charset=UTF-8', ...headers },
      body,
      redirect: 'manual',
      signal: controller.signal,
    })
    return { status: response.status, text: await readStart(response, answerBytesMax) }
  } finally {
    timer.cancel()
    // Nothing of an answer that was not read to its end is left open.
    controller.abort()
  }
}

/** The beginning of a body: anything longer is no answer. */
async function readStart(response: Response, bytesMax: number): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > bytesMax) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
