import type pg from 'pg'
import { listenLastingly } from '../../core/lasting-listener.ts'
import { cutConnection, postgresDriver } from './postgres-driver.ts'
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
  /** Those of our own making, connecting or connected. */
  readonly #clients = new Set<pg.Client>()
  readonly #sessions = new Set<PostgresSession>()
  /** Those who wait for a connection. */
  readonly #waiting = new Set<() => void>()
  #isCutOff = false
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
          Client: this.#clientClass(),
        })
    // A pool that nobody listens to ends the process when an idle connection breaks. One listener more changes
    // nothing for the user of a pool, but to keep the process alive.
    this.#stopListening = listenLastingly(this.#pool, ['error'], (error: Error) => {
      if (!this.#isCutOff) options.onIdleError(error)
    })
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
      const giveUp = (failure: DatabaseFailure): void => {
        isWaiting = false
        this.#waiting.delete(onCut)
        timer.cancel()
        reject(failure)
      }
      const onCut = (): void => {
        giveUp(DatabaseFailure.cutOff())
      }
      const timer = clock.setTimer(connectTimeoutMs, () => {
        giveUp(DatabaseFailure.noConnection(connectTimeoutMs, this.#pool.options.max))
      })
      if (this.#isCutOff) {
        onCut()
        return
      }
      this.#waiting.add(onCut)
      // With a callback, not a promise: between the pool's turn and that of a promise the client has no listener.
      this.#pool.connect((error, client, release) => {
        timer.cancel()
        this.#waiting.delete(onCut)
        if (client === undefined) reject(new DatabaseFailure(error))
        else if (isWaiting) resolve(this.#newSession(client, release, { answerWithinMs, slow }))
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
    return new (this.#clientClass())({
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

  /** Breaks every connection of ours, and refuses those who wait for one. Of the user's pool: those in use by us. */
  cutOff(): void {
    this.#isCutOff = true
    for (const refuse of [...this.#waiting]) refuse()
    for (const session of this.#sessions) session.cut()
    for (const client of this.#clients) cutConnection(client)
  }

  #newSession(
    client: pg.PoolClient,
    release: (error?: Error | boolean) => void,
    { answerWithinMs, slow }: { readonly answerWithinMs: number | null; readonly slow: SlowWatch | null },
  ): PostgresSession {
    const giveBack = (error?: Error | boolean): void => {
      this.#sessions.delete(session)
      release(error)
    }
    const { clock } = this.#options
    const session = new PostgresSession(client, giveBack, { clock, slow }, answerWithinMs)
    this.#sessions.add(session)
    return session
  }

  /** Clients that are known here until their connection has ended. */
  #clientClass(): typeof pg.Client {
    const clients = this.#clients
    const isCutOff = (): boolean => this.#isCutOff
    return class extends postgresDriver().Client {
      constructor(config?: string | pg.ClientConfig) {
        super(config)
        clients.add(this)
        this.once('end', () => clients.delete(this))
        // A pool may still serve those who have waited; its client begins to connect in this turn.
        if (isCutOff())
          queueMicrotask(() => {
            cutConnection(this)
          })
      }
    }
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
