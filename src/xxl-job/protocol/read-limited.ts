import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

/** Most bytes of the body of a request, as Java executors have it. */
export const bodyBytesMax: number = 5 * 1024 * 1024
/** So many bytes of a body that is not wanted are read and dropped, so that its sender gets to read the answer. */
const droppedBytesMax = 4 * bodyBytesMax

export interface ReadBody {
  /** Null for a body of more than the wanted bytes. */
  readonly text: string | null
  /** False: the connection is of no more use. */
  readonly isAtEnd: boolean
  /** The body is not UTF-8: the text has U+FFFD in places. */
  readonly isDamaged?: true
}

/** The body of a request, never more than `maxBytes` of it in memory. */
export async function readLimited(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<ReadBody> {
  const read = new LimitedBody(maxBytes)
  for await (const chunk of body) {
    if (!read.takes(chunk)) return read.unended()
  }
  return read.ended()
}

/** The same of a request of `node:http`: going through its chunks as `readLimited` does takes several times as long. */
export function readRequest(request: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  const read = new LimitedBody(maxBytes)
  return new Promise((resolve, reject) => {
    if (request.readableEnded) resolve(read.ended())
    else if (request.destroyed) reject(brokenOff())
    request.on('data', (chunk: Uint8Array) => {
      if (read.takes(chunk)) return
      resolve(read.unended())
      request.destroy()
    })
    request.once('end', () => {
      resolve(read.ended())
    })
    request.on('error', reject)
    request.once('close', () => {
      if (!request.readableEnded) reject(brokenOff())
    })
  })
}

const brokenOff = (): Error => new Error('the connection was closed before the end of the body')

class LimitedBody {
  readonly #maxBytes: number
  #chunks: Uint8Array[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** False: no more of it is read. */
  takes(chunk: Uint8Array): boolean {
    this.#bytes += chunk.byteLength
    if (this.#bytes <= this.#maxBytes) this.#chunks.push(chunk)
    else this.#chunks = []
    return this.#bytes <= droppedBytesMax
  }

  unended(): ReadBody {
    return { text: null, isAtEnd: false }
  }

  ended(): ReadBody {
    if (this.#bytes > this.#maxBytes) return { text: null, isAtEnd: true }
    const [first = Buffer.alloc(0), ...more] = this.#chunks
    const whole = more.length === 0 ? first : Buffer.concat(this.#chunks)
    const text = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8')
    return { text, isAtEnd: true, ...(!isUtf8(whole) && { isDamaged: true }) }
  }
}
