import type pg from 'pg'

/** Without waiting for a server that may not answer: nothing of this connection is worth it. */
export async function disconnect(client: pg.Client): Promise<void> {
  // Whatever else breaks on this connection, nobody has to know, and an event that nobody hears ends the process.
  client.on('error', () => {})
  const ended = client.end().catch(() => {})
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } }
  connection?.stream?.destroy()
  await ended
}
