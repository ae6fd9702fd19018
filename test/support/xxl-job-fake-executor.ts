import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AdminDialect, callExecutor, type ExecutorAnswer } from './xxl-job-admin.ts'

/** A request that an executor got, as it came. */
export interface ExecutorRequest {
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

interface FakeExecutorOptions {
  readonly dialect: AdminDialect
  /** What the admin's address ends with. */
  readonly path: string
  readonly appName: string
  readonly token: string | null
}

/** The lines of each log. */
const lines = ['it began', 'it ended']

/** An executor of Java as far as admins see it, written from what those of each version take and answer. */
export class FakeExecutor {
  readonly requests: ExecutorRequest[] = []
  readonly #options: FakeExecutorOptions
  readonly #server: Server
  /** When each run was asked for, which is where its log is. */
  readonly #runs = new Map<number, number>()

  constructor(options: FakeExecutorOptions) {
    this.#options = options
    this.#server = createServer((incoming, response) => {
      this.#take(incoming, response).catch(() => response.destroy())
    })
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Java's ends with a slash. */
  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** The targets that were asked for, in order. */
  get targets(): readonly string[] {
    return this.requests.map(({ target }) => target)
  }

  register(adminAddress: string, what: 'registry' | 'registryRemove' = 'registry'): Promise<ExecutorAnswer> {
    const { appName } = this.#options
    const fields = `"registryGroup":"EXECUTOR","registryKey":"${appName}"`
    const body = `{${fields},"registryValue":"${this.address}"}`
    return this.#send(adminAddress, `/api/${what}`, body)
  }

  /** Reports how a run ended, in the words of the version. */
  report(
    adminAddress: string,
    logId: number,
    { code, msg }: { code: number; msg: string },
  ): Promise<ExecutorAnswer> {
    const atMs = this.#runs.get(logId)
    const result = `"handleCode":${code},"handleMsg":"${msg}"`
    const bodies: Readonly<Record<AdminDialect, string>> = {
      D0: `[{"logId":${logId},"logDateTim":${atMs},"executeResult":{"code":${code},"msg":"${msg}"}}]`,
      D1: `[{"logId":${logId},"logDateTim":${atMs},${result}}]`,
      D2: `[{"logId":${logId},"logDateTim":${atMs},${result}}]`,
      D3: `{"callbackList":[{"logId":${logId},"logDateTime":${atMs},${result}}]}`,
    }
    return this.#send(adminAddress, '/api/callback', bodies[this.#options.dialect])
  }

  #send(adminAddress: string, target: string, body: string): Promise<ExecutorAnswer> {
    const { dialect, path, appName, token } = this.#options
    const headers = {
      'content-type': 'application/json;charset=UTF-8',
      ...(token !== null && { 'XXL-JOB-ACCESS-TOKEN': token }),
      ...(dialect === 'D3' && { 'XXL-JOB-APPNAME': appName }),
    }
    return callExecutor(adminAddress, `${path}${target}`, body, { headers })
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    const request = { target: incoming.url ?? '', headers: incoming.headers, body }
    this.requests.push(request)
    const problem = this.#problemOf(request)
    const text = problem === null ? this.#answer(request) : JSON.stringify({ code: 500, msg: problem })
    response.writeHead(200, {
      'content-type': 'text/html;charset=UTF-8',
      'content-length': Buffer.byteLength(text),
    })
    response.end(text)
  }

  #problemOf({ target, headers }: ExecutorRequest): string | null {
    const { dialect, token, appName } = this.#options
    const given = headers['xxl-job-access-token'] ?? ''
    if (dialect === 'D3') {
      const isEmpty = given === '' || (headers['xxl-job-appname'] ?? '') === ''
      if (isEmpty) return 'invalid request, accessToken or appname is empty.'
      const isRight = given === token && headers['xxl-job-appname'] === appName
      if (!isRight) return 'invalid request, accessToken or appname is invalid.'
    } else if (token !== null && given !== token) {
      return 'The access token is wrong.'
    }
    const known = ['/beat', '/idleBeat', dialect === 'D3' ? '/trigger' : '/run', '/kill', '/log']
    return known.includes(target) ? null : `invalid request, uri-mapping(${target}) not found.`
  }

  /** Nulls are left out; from 3.3 on successes have a text, and content is called `data`. */
  #answer({ target, body }: ExecutorRequest): string {
    const { dialect } = this.#options
    const isNew = dialect === 'D2' || dialect === 'D3'
    const content = target === '/log' ? this.#page(JSON.parse(body) as Record<string, number>) : null
    if (target === '/run' || target === '/trigger') {
      const { logId, logDateTime } = JSON.parse(body) as { logId: number; logDateTime: number }
      this.#runs.set(logId, logDateTime)
    }
    return JSON.stringify({
      code: 200,
      ...(isNew && { msg: 'Success' }),
      ...(content !== null && { [isNew ? 'data' : 'content']: content }),
    })
  }

  /** A log is found by the day of the time that this version reads, and by its id. */
  #page(fields: Readonly<Record<string, number>>): object {
    const { logId = 0, fromLineNum = 0 } = fields
    const atMs = fields[this.#options.dialect === 'D3' ? 'logDateTime' : 'logDateTim'] ?? 0
    if (this.#runs.get(logId) !== atMs) {
      return { fromLineNum, toLineNum: 0, logContent: 'readLog fail, logFile not exists', isEnd: true }
    }
    const wanted = lines.slice(fromLineNum - 1)
    const toLineNum = wanted.length === 0 ? 0 : lines.length
    return { fromLineNum, toLineNum, logContent: wanted.map((line) => `${line}\n`).join(''), isEnd: false }
  }
}
