import type { Server } from 'node:http'
import type { Clock } from './clock.ts'

/** How long requests in flight may take at the end, and clients that do not read what they asked for. */
const closeGraceMs = 2000

/** @throws the error of Node.js */
export function listenAt(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/**
 * Listens no more; resolves when requests in flight have been answered, or their time is over. From then on Node.js
 * itself no longer ends requests that do not come in, and keeps connections open after an answer.
 */
export async function closeServer(server: Server, clock: Clock): Promise<void> {
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
