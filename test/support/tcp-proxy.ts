import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** One client and its connection to the server behind the proxy. */
interface Pair {
  readonly client: Socket
  readonly server: Socket
  /** The end of what the client sent, for patterns that lie across two packets. */
  tail: Buffer
  /** The client has sent what must come before the pattern. */
  isBehind: boolean
  /** The reply to a forwarded pattern is awaited; when it comes, the pair is cut. */
  cutOnReply: boolean
  /** What the client gets in place of that reply; the pair stays then. */
  replyInstead: Buffer | null
  repliesDropped: boolean
}

interface CutPattern {
  readonly bytes: Buffer
  readonly behind: Buffer | null
  readonly forward: boolean
  readonly replyInstead: Buffer | null
  readonly onCut: () => void
}

/** Stands between a client and a server and does to their bytes what networks do. Toxics last until `heal`. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #pairs = new Set<Pair>()
  #target: { host: string; port: number }
  #delayMs = 0
  #refuses = false
  #isBlackHole = false
  #dropsReplies = false
  #pattern: CutPattern | null = null

  private constructor(target: { host: string; port: number }) {
    this.#target = target
    // A server that stands still does not answer the end of a connection either.
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      client.on('end', () => {
        if (!this.#isBlackHole) client.end()
      })
      this.#accept(client)
    })
  }

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  /** In front of the server that a connection string names. */
  static startFor(connectionString: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(connectionString)
    return TcpProxy.start({ host: hostname, port: port === '' ? 5432 : Number(port) })
  }

  /** The same connection string, through the proxy. */
  through(connectionString: string): string {
    const url = new URL(connectionString)
    url.hostname = '127.0.0.1'
    url.port = String((this.#server.address() as AddressInfo).port)
    return url.href
  }

  get connectionCount(): number {
    return this.#pairs.size
  }

  /** From now on connections are made to another server, as when an address is given to a standby. */
  redirect(connectionString: string): void {
    const { hostname, port } = new URL(connectionString)
    this.#target = { host: hostname, port: Number(port) }
  }

  /** Every packet takes this much longer, both ways. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** Resets what is connected now; new connections are accepted. */
  reset(): void {
    for (const pair of this.#pairs) this.#cut(pair)
  }

  /** Resets what is connected and everything that tries to connect. */
  refuse(): void {
    this.#refuses = true
    this.reset()
  }

  /** Accepts and forwards nothing, in neither direction, also on connections that stand. */
  blackHole(): void {
    this.#isBlackHole = true
  }

  /** From now on the server hears everything and nobody hears the server; connections made later are not touched. */
  dropReplies(): void {
    this.#dropsReplies = true
    for (const pair of this.#pairs) pair.repliesDropped = true
  }

  /**
   * Cuts the connection on which a client sends this text, once: `before` the server hears of it, or `after` the
   * server has answered, without passing the answer on. With `behind` the text counts only on a connection that has
   * sent that one before; with `replyInstead` the client gets that in place of all answers from then on, until it
   * closes its connection. Resolves when it happened.
   */
  cutOn(
    text: string,
    when: 'before' | 'after',
    { behind, replyInstead = null }: { readonly behind?: string; readonly replyInstead?: Buffer | null } = {},
  ): Promise<void> {
    // What was sent earlier is not meant.
    for (const pair of this.#pairs) {
      pair.tail = Buffer.alloc(0)
      pair.isBehind = false
    }
    return new Promise((onCut) => {
      this.#pattern = {
        bytes: Buffer.from(text),
        behind: behind === undefined ? null : Buffer.from(behind),
        forward: when === 'after',
        replyInstead,
        onCut,
      }
    })
  }

  /** Everything passes again; what a black hole swallowed stays lost, so its connections are reset. */
  heal(): void {
    const swallowed = this.#isBlackHole || this.#dropsReplies
    this.#delayMs = 0
    this.#refuses = false
    this.#isBlackHole = false
    this.#dropsReplies = false
    this.#pattern = null
    if (swallowed) this.reset()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    client.on('error', () => {})
    if (this.#refuses) {
      client.resetAndDestroy()
      return
    }
    const server = connect(this.#target)
    const pair: Pair = {
      client,
      server,
      tail: Buffer.alloc(0),
      isBehind: false,
      cutOnReply: false,
      replyInstead: null,
      repliesDropped: false,
    }
    this.#pairs.add(pair)
    server.on('error', () => {})
    server.setNoDelay()
    client.setNoDelay()
    client.on('data', (chunk) => {
      this.#fromClient(pair, chunk)
    })
    server.on('data', (chunk) => {
      this.#fromServer(pair, chunk)
    })
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('close', () => {
        // Nobody hears of it in a black hole: the other side stays, until it is healed or closes by itself.
        if (this.#isBlackHole && !to.destroyed) return
        this.#pairs.delete(pair)
        this.#later(() => to.destroy())
      })
    }
  }

  #fromClient(pair: Pair, chunk: Buffer): void {
    if (this.#isBlackHole) return
    const pattern = this.#pattern
    let seen = Buffer.concat([pair.tail, chunk])
    if (pattern !== null && pattern.behind !== null && !pair.isBehind) {
      const at = seen.indexOf(pattern.behind)
      pair.isBehind = at !== -1
      // A pattern that lies ahead of it is not meant.
      if (pair.isBehind) seen = seen.subarray(at)
    }
    const isMeant = pattern !== null && (pattern.behind === null || pair.isBehind)
    if (isMeant && seen.includes(pattern.bytes)) {
      this.#pattern = null
      if (!pattern.forward) {
        this.#cut(pair)
        pattern.onCut()
        return
      }
      pair.cutOnReply = true
      pair.replyInstead = pattern.replyInstead
      pair.client.once('close', pattern.onCut)
    }
    pair.tail = seen.subarray(Math.max(0, seen.length - 64))
    this.#later(() => pair.server.write(chunk))
  }

  #fromServer(pair: Pair, chunk: Buffer): void {
    if (this.#isBlackHole || pair.repliesDropped) return
    if (pair.cutOnReply) {
      if (pair.replyInstead === null) this.#cut(pair)
      else pair.client.write(pair.replyInstead)
      return
    }
    this.#later(() => pair.client.write(chunk))
  }

  #cut(pair: Pair): void {
    this.#pairs.delete(pair)
    pair.client.resetAndDestroy()
    pair.server.destroy()
  }

  #later(act: () => void): void {
    if (this.#delayMs === 0) act()
    else setTimeout(act, this.#delayMs)
  }
}
