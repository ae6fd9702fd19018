import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { createServer } from '../../dist/server.js'

export const token = 'bench-token'
export const headers = { authorization: `Bearer ${token}` }

/** A server over a scheduler, for one viewer unless told otherwise; without a page or alerts where none are given. */
export function viewedServer(scheduler, { alerts, dashboard = false, role = 'viewer' } = {}) {
  const sha256 = createHash('sha256').update(token).digest('hex')
  return createServer({
    scheduler,
    auth: { kind: 'token', tokens: [{ name: 'viewer', sha256, role }] },
    dashboard,
    ...(alerts !== undefined && { alerts }),
    logger: false,
    requestsPerMinute: 1_000_000,
  })
}

/** Clients in a process of their own: `ask` sends a message to it and resolves with the next answer. */
export async function clientsOf(address) {
  const child = fork(fileURLToPath(new URL('live-clients.mjs', import.meta.url)), [address, token], {
    serialization: 'advanced',
  })
  const answer = () =>
    new Promise((resolve, reject) => {
      child.once('message', resolve)
      child.once('exit', (code) => reject(new Error(`the clients ended with ${code}`)))
    })
  return {
    ask(message) {
      const answered = answer()
      child.send(message)
      return answered
    },
    async close() {
      child.removeAllListeners('exit')
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await ended
    },
  }
}
