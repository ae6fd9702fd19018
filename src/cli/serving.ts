import { rmSync } from 'node:fs'
import { codeOf } from '../core/thrown-value.ts'
import { type SchedulerHealth, schedulerHealth } from '../health/scheduler-health.ts'
import type { PrometheusRegistry } from '../metrics/prometheus/prometheus-registry.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { createServer } from '../server/create-server.ts'
import type { SchedulerServer } from '../server/server-face.ts'

export interface ServingOptions {
  readonly port: number
  readonly host: string
  /** Keeps the hash of the token; null for a new token at each start. */
  readonly tokenHashFile: string | null
  /** From what session cookies are sealed; null for something random. */
  readonly sessionSecret: string | null
  readonly isReadOnly: boolean
  /** Null for those of `createServer`. */
  readonly allowedHosts: readonly string[] | null
  /** Those besides its own whose pages may change things. */
  readonly allowedOrigins: readonly string[]
  /** Those whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
  /** What `/metrics` answers. Default: there is no such page. */
  readonly metrics?: PrometheusRegistry
}

export interface Serving {
  readonly server: SchedulerServer
  /** That of the paths below `/health`. */
  readonly health: SchedulerHealth
  /**
   * The address of the page. A new token is its fragment, which browsers send to no server: it is in no log and no
   * referrer.
   */
  readonly url: string
}

/** Serves a scheduler over HTTP, with a token. */
export async function serve(scheduler: Scheduler, options: ServingOptions): Promise<Serving> {
  const { port, host, tokenHashFile, sessionSecret, isReadOnly } = options
  const { allowedHosts, allowedOrigins, trustedProxies, metrics } = options
  const { clock } = scheduler
  const health = schedulerHealth(scheduler, { clock })
  const server = await createServer({
    scheduler,
    auth: { kind: 'token', ...(tokenHashFile !== null && { hashFile: tokenHashFile }) },
    readOnly: isReadOnly,
    health,
    ...(sessionSecret !== null && { sessionSecret }),
    ...(metrics !== undefined && { metrics }),
    ...(allowedHosts !== null && { allowedHosts }),
    allowedOrigins,
    trustedProxies,
    clock,
  })
  try {
    const address = await server.listen({ port, host })
    const url = server.newToken === null ? `${address}/` : `${address}/#token=${server.newToken}`
    return { server, health, url }
  } catch (error) {
    await server.close()
    // Its token was shown to no one: the next start makes another.
    if (tokenHashFile !== null && server.newToken !== null) rmSync(tokenHashFile, { force: true })
    throw error
  }
}

/** As {@link serve}, on another port when this one is taken. */
export async function serveSomewhere(scheduler: Scheduler, options: ServingOptions): Promise<Serving> {
  try {
    return await serve(scheduler, options)
  } catch (error) {
    if (!isPortTaken(error)) throw error
    return serve(scheduler, { ...options, port: 0 })
  }
}

export function isPortTaken(error: unknown): boolean {
  return codeOf(error) === 'EADDRINUSE'
}
