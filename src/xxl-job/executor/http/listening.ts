import { createServer, type RequestListener, type Server } from 'node:http'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { codeOf } from '../../../core/thrown-value.ts'
import type { Clock } from '../../../time/clock.ts'

/** As Java executors have it: where the search for a free port begins. */
const firstPort = 9999
/** How many ports are tried. */
const portsTried = 1000
/** How long a connection without requests stays open; admins reuse theirs. */
const keepAliveMs = 90_000
/** How long a request may take to come in. */
const requestMs = 30_000
const connectionsMax = 1000
/** How long an executor that closes waits for requests in flight and connections of admins, before it cuts them. */
const closeGraceMs = 2000

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

/**
 * Listens no more; resolves when requests in flight have been answered, or their time is over. From then on Node.js
 * itself no longer ends requests that do not come in, and keeps connections open after an answer.
 */
export async function close(server: Server, clock: Clock): Promise<void> {
  const timer = clock.setTimer(closeGraceMs, () => {
    server.closeAllConnections()
  })
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
    server.closeIdleConnections()
  })
  timer.cancel()
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

function listenAt(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
