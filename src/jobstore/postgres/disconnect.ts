import type pg from 'pg'

/** Closes the socket: connecting and every query fail at once. The client's `error` event must have a listener. */
export function cutConnection(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
}

/** Without waiting for a server that may not answer: nothing of this connection is worth it. */
export async function disconnect(client: pg.Client): Promise<void> {
  // Whatever else breaks on this connection, nobody has to know, and an event that nobody hears ends the process.
  client.on('error', () => {})
  const ended = client.end().catch(() => {})
  cutConnection(client)
  await ended
}
