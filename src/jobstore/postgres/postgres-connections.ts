import type pg from 'pg'
import { listenLastingly } from '../../core/lasting-listener.ts'
import { postgresDriver } from './postgres-driver.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import { PostgresSession, type SessionSettings, type SlowWatch } from './postgres-session.ts'

export interface ConnectionsOptions extends SessionSettings {
  /** The user's own pool, or how to connect. */
  readonly source: pg.Pool | pg.ClientConfig
  /** Most connections of a pool of our own. */
  readonly poolSize: number
  /** How long to wait for a connection, new or free. */
  readonly connectTimeoutMs: number
  /** A connection broke while nobody used it; the next call makes a new one. */
  readonly onIdleError: (error: Error) => void
}

/** The way to the server: a pool of our own, or the user's, which is never closed here. */
export class PostgresConnections {
  readonly #options: ConnectionsOptions
  readonly #pool: pg.Pool
  readonly #isOwn: boolean
  readonly #stopListening: () => void
  #closing: Promise<void> | null = null

  constructor(options: ConnectionsOptions) {
    this.#options = options
    this.#isOwn = !isPool(options.source)
    this.#pool = isPool(options.source)
      ? options.source
      : new (postgresDriver().Pool)({
          fallback_application_name: 'quartz-ts',
          keepAlive: true,
          connectionTimeoutMillis: options.connectTimeoutMs,
          ...options.source,
          max: options.poolSize,
        })
    // A pool that nobody listens to ends the process when an idle connection breaks. One listener more changes
    // nothing for the user of a pool, but to keep the process alive.
    this.#stopListening = listenLastingly(this.#pool, ['error'], options.onIdleError)
  }

  /** Most connections that there are at once. */
  get size(): number {
    return this.#pool.options.max
  }

  /** What is told of statements that take long. */
  get slow(): SlowWatch | null {
    return this.#options.slow
  }

  /**
   * Takes a connection from the pool; one that does not answer within that time counts as lost.
   *
   * @throws DatabaseFailure
   */
  open(answerWithinMs: number | null, slow: SlowWatch | null = this.slow): Promise<PostgresSession> {
    const { clock, connectTimeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      let isWaiting = true
      const timer = clock.setTimer(connectTimeoutMs, () => {
        isWaiting = false
        reject(DatabaseFailure.noConnection(connectTimeoutMs, this.#pool.options.max))
      })
      // With a callback, not a promise: between the pool's turn and that of a promise the client has no listener.
      this.#pool.connect((error, client, release) => {
        timer.cancel()
        if (client === undefined) reject(new DatabaseFailure(error))
        else if (isWaiting) resolve(new PostgresSession(client, release, { clock, slow }, answerWithinMs))
        else release()
      })
    })
  }

  /** The user's own client, for as long as one operation takes. */
  borrow(client: pg.PoolClient): PostgresSession {
    return new PostgresSession(client, () => {}, this.#options, null)
  }

  /** A connection outside of the pool, made the same way, not yet connected; its errors are the caller's. */
  dedicatedClient(): pg.Client {
    const { connectTimeoutMs, source } = this.#options
    const config = isPool(source) ? source.options : source
    return new (postgresDriver().Client)({
      fallback_application_name: 'quartz-ts',
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
      ...config,
      // pg keeps the password of a pool's options out of the properties that a spread sees.
      password: config.password,
    })
  }

  /** Closes a pool of our own when every connection has come back, and lets go of the user's. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#isOwn) await this.#pool.end()
    // Connections of an own pool may still break on their way out.
    else this.#stopListening()
  }
}

/** Not `instanceof`: the user's pool may come from another copy of pg. */
function isPool(source: pg.Pool | pg.ClientConfig): source is pg.Pool {
  return typeof (source as Partial<pg.Pool>).connect === 'function' && 'totalCount' in source
}
