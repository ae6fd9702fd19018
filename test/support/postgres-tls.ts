import { chown, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { PostgresServer } from './postgres-server.ts'
import { selfSignedCertificate } from './self-signed-certificate.ts'

/** Lets a server take connections over TLS only; answers the certificate that clients must trust. */
export async function requireTls({ connectionString }: PostgresServer): Promise<string> {
  const { certificate, key } = selfSignedCertificate()
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    const folder = rows[0]?.data_directory ?? ''
    const { uid, gid } = await stat(folder)
    for (const [name, text] of Object.entries({ 'server.crt': certificate, 'server.key': key })) {
      const path = join(folder, name)
      // The server refuses a key that others can read.
      await writeFile(path, text, { mode: 0o600 })
      await chown(path, uid, gid)
    }
    const rules = join(folder, 'pg_hba.conf')
    await writeFile(rules, (await readFile(rules, 'utf8')).replace(/^host\b/gm, 'hostssl'))
    await client.query('ALTER SYSTEM SET ssl = on')
    await client.query('SELECT pg_reload_conf()')
  } finally {
    await client.end()
  }
  return certificate
}
