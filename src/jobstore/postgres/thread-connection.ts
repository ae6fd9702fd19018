import type { ClientConfig, Pool } from 'pg'
import type { ThreadConnection } from './check-in-wire.ts'

/** How a thread connects as the store does. The main thread calls a password that is a function. */
export interface ThreadAccess {
  readonly connection: ThreadConnection
  readonly password: (() => string | Promise<string>) | null
}

const plainKeys = [
  'connectionString',
  'user',
  'host',
  'port',
  'database',
  'options',
  'application_name',
  'client_encoding',
  'enableChannelBinding',
  'sslnegotiation',
] as const

/** The options of a client or a pool that can be cloned into a thread; null when they are not enough to connect. */
export function threadAccess(source: Pool | ClientConfig): ThreadAccess | null {
  const config: ClientConfig = 'totalCount' in source ? source.options : source
  // The user's own socket.
  if (config.stream !== undefined) return null
  const { password, ssl } = config
  const values = config as Readonly<Record<string, unknown>>
  const connection = {
    fallback_application_name: 'quartz-ts',
    keepAlive: true,
    ...Object.fromEntries(
      plainKeys.flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
    ),
    ...(typeof password === 'string' ? { password } : {}),
    // pg makes the key of a pool's options non-enumerable, so a spread leaves it out.
    ...(ssl === undefined ? {} : { ssl: typeof ssl === 'object' ? { ...ssl, key: ssl.key } : ssl }),
  }
  try {
    return {
      connection: structuredClone(connection),
      password: typeof password === 'function' ? password : null,
    }
  } catch {
    return null
  }
}
