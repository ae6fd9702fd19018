import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

/** A request as a server got it. */
export interface ReceivedHook {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface HookServer extends AsyncDisposable {
  readonly url: string
  readonly hooks: ReceivedHook[]
  /** Resolves when so many have come. */
  received(count: number): Promise<void>
}

/** A receiver of webhooks; `answer` answers each one, by its number from 1. Default: 204. */
export async function hookServer(
  answer: (response: ServerResponse, count: number) => void = (response) => {
    response.writeHead(204).end()
  },
): Promise<HookServer> {
  const hooks: ReceivedHook[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => {
      body += part
    })
    request.on('end', () => {
      hooks.push({ headers: request.headers, body })
      answer(response, hooks.length)
      for (const look of waiting) look()
    })
  })
  const port = await listening(server)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    hooks,
    received: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (hooks.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Has a server listen on a free port of this machine. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}
