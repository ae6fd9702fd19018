import { connect, type Socket } from 'node:net'

export interface SentEvent {
  readonly id: string
  /** `message` unless the stream says otherwise. */
  readonly event: string
  readonly data: unknown
}

/** Reads server-sent events one after the other. */
export class EventStream implements AsyncDisposable {
  readonly #ending: AbortController
  readonly #reader: ReadableStreamDefaultReader<string>
  #text = ''

  private constructor(ending: AbortController, body: ReadableStream<string>) {
    this.#ending = ending
    this.#reader = body.getReader()
  }

  static async open(
    address: string,
    headers: Readonly<Record<string, string>>,
    query = '',
  ): Promise<EventStream> {
    const ending = new AbortController()
    const response = await fetch(`${address}/api/events${query}`, { headers, signal: ending.signal })
    if (response.status !== 200 || response.body === null) throw new Error(await response.text())
    return new EventStream(ending, response.body.pipeThrough(new TextDecoderStream()))
  }

  /** The next block of the stream; null at its end. */
  async next(): Promise<SentEvent | null> {
    while (!this.#text.includes('\n\n')) {
      const { done, value } = await this.#reader.read()
      if (done) return null
      this.#text += value
    }
    const end = this.#text.indexOf('\n\n')
    const block = this.#text.slice(0, end)
    this.#text = this.#text.slice(end + 2)
    const fields = new Map(
      block.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)]),
    )
    const data = fields.get('data')
    return {
      id: fields.get('id') ?? '',
      event: fields.get('event') ?? 'message',
      data: data === undefined ? null : (JSON.parse(data) as unknown),
    }
  }

  /** The next event that has data. */
  async nextData(): Promise<SentEvent> {
    for (;;) {
      const found = await this.next()
      if (found === null) throw new Error('the stream has ended')
      if (found.data !== null) return found
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#reader.cancel().catch(() => {})
  }
}

/** A client that asks for the stream and never reads it. */
export async function stuckClient(address: string, token: string): Promise<Socket> {
  const { hostname, port } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port) })
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.pause()
  socket.on('error', () => {})
  socket.write(`GET /api/events HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return socket
}
