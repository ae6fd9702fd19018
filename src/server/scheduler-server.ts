import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { checkOptions, checkString, checkWhole } from '../core/arguments.ts'
import { SchedulerError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { fileBeside, requireFrom } from '../core/package-files.ts'
import { disarm } from '../core/thrown-value.ts'
import { closeServer, listenAt } from '../time/http-server.ts'
import { pause } from '../time/pause.ts'
import { authenticatorOf } from './auth/authenticator.ts'
import { Sessions } from './auth/sessions.ts'
import { BulkRuns } from './bulk/bulk-runs.ts'
import { catalogue } from './catalogue/catalogue.ts'
import { mayCall } from './catalogue/operation.ts'
import { lookAtExecutions } from './execution-stats.ts'
import { createApp } from './http/app.ts'
import { AuditTeller } from './http/audit-teller.ts'
import { type Connection, connectionFrom, endConnection } from './http/connection.ts'
import { openPage, type Page } from './http/page.ts'
import { RequestPipeline } from './http/pipeline.ts'
import { discardUnread } from './http/read-body.ts'
import { isLoopback, loopbackHosts, missingHost } from './http/request-guards.ts'
import { TrustedProxies } from './http/trusted-proxies.ts'
import { isStream, LiveStreams } from './live/live-streams.ts'
import { Looks, LooksBack } from './looks.ts'
import { openApiDocument } from './openapi/document.ts'
import { countGroups, lookAtMisfires, lookAtTriggers } from './overview-look.ts'
import { serverClosed } from './server-closed.ts'
import type { ListenOptions, SchedulerServer } from './server-face.ts'
import {
  type ResolvedServerOptions,
  resolveServerOptions,
  type SchedulerServerOptions,
} from './server-options.ts'
import type { ServerParts } from './server-parts.ts'
import { lookAtXxlJobDays, lookAtXxlJobs } from './xxl-job-looks.ts'

type Handle = (request: Request, connection: Connection) => Promise<Response>

/** What is used of @hono/node-server, in our own words: its types ask for those of a browser. */
interface NodeServer {
  getRequestListener(
    fetch: (
      request: Request,
      env: { readonly incoming: { readonly socket: { readonly remoteAddress?: string } } },
    ) => unknown,
    options: { readonly overrideGlobalObjects: boolean; readonly hostname: string },
  ): Parameters<typeof createHttpServer>[1]
}

const dashboardFolder = fileURLToPath(fileBeside(import.meta.url, '../dashboard'))

/** All who ask within so long get the same numbers, and longer where a look takes long: pages ask every few seconds. */
const statsRestMs = 2000

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export async function schedulerServer(given: SchedulerServerOptions): Promise<SchedulerServer> {
  const options = resolveServerOptions(given)
  // Before a token is made: where this is refused, it would be shown to no one.
  const page = await openPage({ ...options, ownFolder: dashboardFolder })
  return wiredServer(options, page)
}

/** Wires the parts of a server together. @throws InvalidArgumentError ERR_INVALID_OPTION for a file of a token */
function wiredServer(options: ResolvedServerOptions, page: Page | null): SchedulerServer {
  const { schedulers, clock, basePath, readOnly: isReadOnly } = options
  const sessions = new Sessions(options.sessionSecret, options.sessionMs, basePath, clock)
  const authenticator = authenticatorOf(options.auth, sessions)
  const streams = new LiveStreams(options)
  const bulk = new BulkRuns(clock, options.logger)
  const parts: ServerParts = {
    schedulers,
    clock,
    isReadOnly,
    health: options.health,
    alerts: options.alerts,
    xxlJob: options.xxlJob,
    ...looksOf(options),
    metrics: options.metrics,
    authenticator,
    sessionMs: options.sessionMs,
    streams,
    bulk,
    audit: new AuditTeller(options),
    operationsFor: (access) =>
      catalogue.filter((each) => mayCall(access, each, isReadOnly)).map(({ id }) => id),
    openApi: onDemand(() => openApiDocument(catalogue)),
  }
  const pipeline = new RequestPipeline(options, parts, sessions)
  const app = createApp(catalogue, pipeline, { page, basePath })
  const listeners = new Set<Server>()
  let isClosed = false

  const requireOpen = (): void => {
    if (isClosed) throw new SchedulerError('ERR_SERVER_CLOSED', 'listen: the server is closed.')
  }
  const handle: Handle = async (request, connection) => {
    const answer = isClosed ? pipeline.problem(serverClosed(), 'none') : await app.fetch(request, connection)
    // A host that closes waits for connections that are kept, and a page would ask again on them.
    if (isClosed || isStream(answer)) endConnection(request, answer)
    return answer
  }
  return {
    newToken: authenticator.newToken,
    fetch: (request) => answerMounted(request, { options, pipeline, handle }),
    async listen(where = {}) {
      requireOpen()
      const { server, address } = await listen(handle, where, options)
      listeners.add(server)
      // `close` may have come meanwhile.
      if (isClosed) await closeServer(server, clock)
      requireOpen()
      return address
    },
    async close(closing = {}) {
      checkOptions('close', closing, { notReadyMs: checkWhole(0, 3_600_000) })
      const { notReadyMs = 0 } = closing
      for (const health of options.health.values()) health.beginStop()
      if (notReadyMs > 0 && !isClosed) await pause(clock, notReadyMs)
      isClosed = true
      streams.close()
      await Promise.all([bulk.close(), ...[...listeners].map((server) => closeServer(server, clock))])
    },
    async [Symbol.asyncDispose]() {
      await this.close()
    },
  }
}

/** Answers a request that another server has taken. */
async function answerMounted(
  request: Request,
  parts: {
    readonly options: ResolvedServerOptions
    readonly pipeline: RequestPipeline
    readonly handle: Handle
  },
): Promise<Response> {
  const address = addressOf(request, parts.options)
  const answer =
    address instanceof Error
      ? parts.pipeline.problem(address, 'none')
      : await parts.handle(request, connectionFrom(address, parts.options.allowedHosts))
  // The host may have the request answered elsewhere when it is not ours.
  if (answer.status !== 404) discardUnread(request)
  return answer
}

/** What is wrong, where there is none. With anything but a text each request would be a client without limits. */
function addressOf(request: Request, { clientAddress }: ResolvedServerOptions): string | Error {
  try {
    const address: unknown = clientAddress?.(request) ?? 'unknown'
    if (typeof address === 'string') return address
    disarm(address)
    return new TypeError(`'clientAddress' must answer a text, not ${describeValue(address)}`)
  } catch (error) {
    return new Error("'clientAddress' failed", { cause: error })
  }
}

/** What pages ask for all the time. */
function looksOf({
  clock,
  xxlJob,
}: ResolvedServerOptions): Pick<
  ServerParts,
  'overviews' | 'groupCounts' | 'executionStats' | 'misfireStats' | 'xxlJobs' | 'xxlJobDays'
> {
  return {
    overviews: new Looks(clock, (scheduler) => lookAtTriggers(scheduler, clock)),
    groupCounts: new Looks(clock, countGroups),
    executionStats: new LooksBack(clock, lookAtExecutions, statsRestMs),
    misfireStats: new LooksBack(clock, lookAtMisfires, statsRestMs),
    xxlJobs: new Looks(clock, (scheduler) => lookAtXxlJobs(scheduler, xxlJob)),
    xxlJobDays: new Looks(clock, (scheduler) => lookAtXxlJobDays(scheduler, xxlJob)),
  }
}

/** Makes a value when it is first asked for. */
function onDemand<Value extends object>(make: () => Value): () => Value {
  let made: Value | null = null
  return () => {
    made ??= make()
    return made
  }
}

async function listen(
  handle: Handle,
  where: ListenOptions,
  { allowedHosts, trustedProxies }: ResolvedServerOptions,
): Promise<{ server: Server; address: string }> {
  checkOptions('listen', where, { port: checkWhole(0, 65_535), host: checkString })
  const { port = 8080, host = '127.0.0.1' } = where
  // Also of those who name a proxy, some come from this machine.
  const hosts = isLoopback(host) ? [...(allowedHosts ?? []), ...loopbackHosts] : allowedHosts
  const proxies = new TrustedProxies(trustedProxies)
  const nodeServer = requireFrom(import.meta.url)('@hono/node-server') as NodeServer
  const listener = nodeServer.getRequestListener(
    (request, { incoming }) => {
      const peer = incoming.socket.remoteAddress ?? 'unknown'
      const address = proxies.clientOf(peer, request.headers.get('x-forwarded-for'))
      return handle(request, connectionFrom(address, hosts))
    },
    // Probes of HTTP/1.0 have no Host header, and without this name each would be refused before it is looked at.
    { overrideGlobalObjects: false, hostname: missingHost },
  )
  // A request whose head or body comes too slowly is ended by Node itself.
  const server = createHttpServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, listener)
  server.on('request', (_request, response) => {
    // Once the server closes, Node keeps the connection of an answer that ends until its client closes it.
    response.once('finish', () => {
      if (!server.listening) server.closeIdleConnections()
    })
  })
  await listenAt(server, host, port)
  const bound = server.address() as AddressInfo
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return { server, address: `http://${name}:${bound.port}` }
}
