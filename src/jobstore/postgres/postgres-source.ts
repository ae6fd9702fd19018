import type { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'

// Types of this library, so that programs compile without the types of the package pg.

/** The part of a pool that is used; a pool of the package pg fits as it is. */
export interface PostgresPool {
  readonly totalCount: number
  readonly options: object
  connect(): Promise<object>
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** How to connect: options of a client of the package pg. */
export interface PostgresConnection {
  user?: string | undefined
  database?: string | undefined
  password?: string | (() => string | Promise<string>) | undefined
  port?: number | undefined
  host?: string | undefined
  connectionString?: string | undefined
  keepAlive?: boolean | undefined
  stream?: (() => Duplex | undefined) | undefined
  statement_timeout?: false | number | undefined
  ssl?: boolean | ConnectionOptions | undefined
  enableChannelBinding?: boolean | undefined
  sslnegotiation?: 'postgres' | 'direct' | undefined
  query_timeout?: number | undefined
  lock_timeout?: number | undefined
  keepAliveInitialDelayMillis?: number | undefined
  idle_in_transaction_session_timeout?: number | undefined
  application_name?: string | undefined
  fallback_application_name?: string | undefined
  connectionTimeoutMillis?: number | undefined
  types?: { getTypeParser(id: number, format?: 'text' | 'binary'): unknown } | undefined
  options?: string | undefined
  client_encoding?: string | undefined
  pipeline?: boolean | undefined
}
