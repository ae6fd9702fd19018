import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that an admin got, as it came. */
export interface AdminRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** How an admin answers: `D0` to `D3` stand for 2.2, 2.3 to 3.2, 3.3 to 3.4 and 3.5. */
export type AdminDialect = 'D0' | 'D1' | 'D2' | 'D3'

type Behaviour = (request: AdminRequest, response: ServerResponse) => boolean

interface ResultOnWire {
  readonly logId: number
  readonly handleCode?: number
  readonly handleMsg?: string
  readonly executeResult?: { readonly code: number; readonly msg: string }
}

/** What an admin has learned of a run. */
export interface RecordedResult {
  readonly logId: number
  readonly code: number
  readonly msg: string
}

/** An admin of XXL-JOB as far as executors see it, written from what admins of each version take and answer. */
export class FakeAdmin {
  readonly requests: AdminRequest[] = []
  readonly results: RecordedResult[] = []
  /** Looks at each request before the admin; true when it has dealt with it. */
  behaviour: Behaviour = () => false
  readonly #dialect: AdminDialect
  readonly #token: string | null
  readonly #path: string
  #server: Server | null = null
  #port: number
  readonly #waiting = new Set<() => void>()

  constructor({
    dialect = 'D2',
    token = null,
    path = '/xxl-job-admin',
    port = 0,
  }: { dialect?: AdminDialect; token?: string | null; path?: string; port?: number } = {}) {
    this.#port = port
    this.#dialect = dialect
    this.#token = token
    this.#path = path
  }

  /** Also once more, after `stop`, on the same port. */
  async start(): Promise<this> {
    const server = createServer((incoming, response) => {
      this.#answer(incoming, response).catch(() => response.destroy())
    })
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
    return this
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}${this.#path}`
  }

  get callbacks(): AdminRequest[] {
    return this.requests.filter(({ path }) => path.endsWith('/callback'))
  }

  get beats(): AdminRequest[] {
    return this.requests.filter(({ path }) => path.endsWith('/registry'))
  }

  /** Resolves when the condition holds, which is looked at after each request. */
  async until(holds: (admin: this) => boolean): Promise<void> {
    while (!holds(this)) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  async resultOf(logId: number): Promise<RecordedResult> {
    const find = (): RecordedResult | undefined => this.results.find((result) => result.logId === logId)
    await this.until(() => find() !== undefined)
    return find() as RecordedResult
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const recorded: AdminRequest = {
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    this.requests.push(recorded)
    if (!this.behaviour(recorded, response)) {
      const problem = this.#take(recorded)
      const code = problem === null ? 200 : 500
      const text = this.#dialect === 'D0' || this.#dialect === 'D1' ? {} : { msg: problem ?? 'Success' }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code, ...(problem !== null && { msg: problem }), ...text }))
    }
    for (const wake of [...this.#waiting]) {
      this.#waiting.delete(wake)
      wake()
    }
  }

  /** Why not, or null. */
  #take({ path, headers, body }: AdminRequest): string | null {
    if (this.#token !== null && headers['xxl-job-access-token'] !== this.#token)
      return 'The access token is wrong.'
    if (this.#dialect === 'D3' && headers['xxl-job-appname'] === undefined) {
      return 'invalid request, accessToken or appname is empty.'
    }
    const parsed: unknown = JSON.parse(body)
    if (path !== `${this.#path}/api/callback`) return null
    const isObject = this.#dialect === 'D3'
    const list: unknown = isObject ? (parsed as { callbackList?: unknown }).callbackList : parsed
    if (!Array.isArray(list)) return `Expected BEGIN_${isObject ? 'OBJECT' : 'ARRAY'}`
    for (const each of list as ResultOnWire[]) {
      const result =
        this.#dialect === 'D0' ? each.executeResult : { code: each.handleCode, msg: each.handleMsg }
      this.results.push({ logId: each.logId, code: result?.code ?? 0, msg: result?.msg ?? '' })
    }
    return null
  }
}

/** What an executor answered. */
export interface ExecutorAnswer {
  readonly status: number
  readonly text: string
  readonly json: {
    readonly code: number
    readonly msg: string | null
    readonly data: unknown
    readonly content: unknown
  }
}

/** Sends what an admin sends, with the target as it is written. */
export async function callExecutor(
  address: string,
  target: string,
  body: string | object,
  { headers = {}, method = 'POST' }: { headers?: Record<string, string>; method?: string } = {},
): Promise<ExecutorAnswer> {
  const { hostname, port } = new URL(address)
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ hostname, port, path: target, method, headers, agent: false }, resolve)
    sent.once('error', reject)
    sent.end(text)
  })
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const reply = Buffer.concat(chunks).toString('utf8')
  return { status: answer.statusCode ?? 0, text: reply, json: JSON.parse(reply) as ExecutorAnswer['json'] }
}

/** The body of `/run` and `/trigger`, complete as admins send it. */
export function triggerBody(logId: number, fields: object = {}): object {
  return {
    jobId: 17,
    executorHandler: 'demo',
    executorParams: '',
    executorBlockStrategy: 'SERIAL_EXECUTION',
    executorTimeout: 0,
    logId,
    logDateTime: 1_790_000_000_123,
    glueType: 'BEAN',
    glueSource: '',
    glueUpdatetime: 1_780_000_000_000,
    broadcastIndex: 0,
    broadcastTotal: 1,
    ...fields,
  }
}
