import type pg from 'pg'
import { listenLastingly } from '../../core/lasting-listener.ts'
import { cutConnection, postgresDriver, unrefConnection } from './postgres-driver.ts'
import { DatabaseFailure } from './postgres-errors.ts'
import { PostgresSession, type SessionSettings, type SlowWatch } from './postgres-session.ts'

export interface ConnectionsOptions extends SessionSettings {
  /** The user's own pool, or how to connect. */
  readonly source: pg.Pool | pg.ClientConfig
  /** Most connections of the store's own pool. */
  readonly poolSize: number
  /** How long to wait for a connection, new or free. */
  readonly connectTimeoutMs: number
  /** An idle connection broke; the next call makes a new one. */
  readonly onIdleError: (error: Error) => void
}

/** How long a server may take to close connections that have ended. */
const goodbyeMs = 1000

/** The connections to the server: a pool of the store's own, or the user's, which is never closed here. */
export class PostgresConnections {
  readonly #options: ConnectionsOptions
  readonly #pool: pg.Pool
  readonly #isOwn: boolean
  readonly #stopListening: () => void
  /** Clients that the store made itself, connecting or connected. */
  readonly #clients = new Set<pg.Client>()
  readonly #sessions = new Set<PostgresSession>()
  /** Callers that wait for a connection. */
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
    // When an idle connection breaks, a pool without an `error` listener ends the process. A further listener changes
    // nothing else for the user of the pool.
    this.#stopListening = listenLastingly(this.#pool, ['error'], (error: Error) => {
      if (!this.#isCutOff) options.onIdleError(error)
    })
  }

  /** Most connections at the same time. */
  get size(): number {
    return this.#pool.options.max
  }

  /** How long callers wait for a connection. */
  get connectTimeoutMs(): number {
    return this.#options.connectTimeoutMs
  }

  /** The watch that gets statements that take long. */
  get slow(): SlowWatch | null {
    return this.#options.slow
  }

  /**
   * Takes a connection from the pool; a connection that does not answer within `answerWithinMs` counts as lost.
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
      // With a callback, because until a promise resolved the client would have no `error` listener.
      this.#pool.connect((error, client, release) => {
        timer.cancel()
        this.#waiting.delete(onCut)
        if (client === undefined) reject(new DatabaseFailure(error))
        else if (isWaiting) resolve(this.#newSession(client, release, { answerWithinMs, slow }))
        else release()
      })
    })
  }

  /** The user's own client, for one operation. */
  borrow(client: pg.PoolClient): PostgresSession {
    return new PostgresSession(client, () => {}, this.#options, null)
  }

  /** A client outside of the pool with the same options, not yet connected; the caller handles its errors. */
  dedicatedClient(): pg.Client {
    const { connectTimeoutMs, source } = this.#options
    const config = isPool(source) ? source.options : source
    return new (this.#clientClass())({
      fallback_application_name: 'quartz-ts',
      keepAlive: true,
      connectionTimeoutMillis: connectTimeoutMs,
      ...config,
      // pg makes the password of a pool's options non-enumerable, so a spread leaves it out.
      password: config.password,
    })
  }

  /**
   * Closes the store's own pool when every connection has come back; of the user's pool it only removes its listener.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /**
   * Breaks every connection of the store's own pool, or of the user's pool those that the store uses, and rejects
   * callers that wait for one.
   */
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

  /** Registers a client until its connection has ended. */
  #clientClass(): typeof pg.Client {
    const clients = this.#clients
    const isCutOff = (): boolean => this.#isCutOff
    return class extends postgresDriver().Client {
      constructor(config?: string | pg.ClientConfig) {
        super(config)
        clients.add(this)
        this.once('end', () => clients.delete(this))
        // The pool may still serve callers that waited; their clients begin to connect in this turn.
        if (isCutOff())
          queueMicrotask(() => {
            cutConnection(this)
          })
      }
    }
  }

  async #close(): Promise<void> {
    // Connections of an own pool may still break on their way out.
    if (!this.#isOwn) this.#stopListening()
    else {
      await this.#pool.end()
      this.#leaveServer()
    }
  }

  /** Idle connections have said that they end. A server that stands still does not close them, and keeps nothing. */
  #leaveServer(): void {
    for (const client of this.#clients) unrefConnection(client)
    if (this.#clients.size === 0) return
    const cut = (): void => {
      for (const client of this.#clients) {
        client.on('error', () => {})
        cutConnection(client)
      }
    }
    this.#options.clock.setTimer(goodbyeMs, cut, { unref: true })
  }
}

/** By shape, because the user's pool may come from another copy of pg. */
function isPool(source: pg.Pool | pg.ClientConfig): source is pg.Pool {
  return typeof (source as Partial<pg.Pool>).connect === 'function' && 'totalCount' in source
}
