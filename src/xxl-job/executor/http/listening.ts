import { createServer, type RequestListener, type Server } from 'node:http'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { codeOf } from '../../../core/thrown-value.ts'
import { listenAt } from '../../../time/http-server.ts'

/** As Java executors have it: where the search for a free port begins. */
const firstPort = 9999
/** How many ports are tried. */
const portsTried = 1000
/** How long a connection without requests stays open; admins reuse theirs. */
const keepAliveMs = 90_000
/** How long a request may take to come in. */
const requestMs = 30_000
const connectionsMax = 1000

/** Listens, on the first free port from 9999 on when none is named. @throws the error of Node.js */
export async function listen(
  listener: RequestListener,
  host: string,
  port: number | undefined,
): Promise<Server> {
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: requestMs }, listener)
  server.maxConnections = connectionsMax
  if (port !== undefined) {
    await listenAt(server, host, port)
    return server
  }
  for (let candidate = firstPort; ; candidate++) {
    try {
      await listenAt(server, host, candidate)
      return server
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE' || candidate === firstPort + portsTried - 1) throw error
    }
  }
}

export function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The URL by which others call what listens there. */
export function addressOf(host: string, port: number): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? firstOuterAddress() : host
  return `http://${isIP(name) === 6 ? `[${name}]` : name}:${port}/`
}

/** The first IPv4 address of this machine that others reach. */
function firstOuterAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'
}
