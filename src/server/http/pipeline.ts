import type { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import { isObject } from '../../core/options.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Sessions } from '../auth/sessions.ts'
import { type Operation, type OperationCall, TextAnswer } from '../catalogue/operation.ts'
import { Access, type Principal } from '../catalogue/role.ts'
import { masked } from '../masking.ts'
import type { ResolvedServerOptions } from '../server-options.ts'
import type { Exchange, ServerParts } from '../server-parts.ts'
import { csvOf } from './csv.ts'
import { IdempotentAnswers, type KeptAnswer } from './idempotency.ts'
import { fieldProblems, problemOf, RequestProblem } from './problem.ts'
import { RateLimit } from './rate-limit.ts'
import { jsonOf, readBody } from './read-body.ts'
import { requireHost, requireOwnOrigin } from './request-guards.ts'

/** What is known of where a request came in. */
export interface Connection {
  readonly address: string
  /** The names by which the server may be called here; null for any. */
  readonly hosts: readonly string[] | null
}

/** A request with the operation that its path and method name. */
export interface Routed {
  readonly operation: Operation
  readonly request: Request
  readonly connection: Connection
  readonly params: Readonly<Record<string, string>>
  /** Null for the default one. */
  readonly schedulerName: string | null
}

type Call = OperationCall<unknown, unknown, unknown>

/** Of a client that has not said who it is; it may call what anyone may. */
const unknownPrincipal: Principal = { name: '', role: null }

/** The way of every request: who, from where, may it, is it well formed; then its operation. */
export class RequestPipeline {
  readonly #options: ResolvedServerOptions
  readonly #parts: ServerParts
  readonly #sessions: Sessions
  readonly #requests: RateLimit
  readonly #logins: RateLimit
  readonly #answers: IdempotentAnswers

  constructor(options: ResolvedServerOptions, parts: ServerParts, sessions: Sessions) {
    this.#options = options
    this.#parts = parts
    this.#sessions = sessions
    this.#requests = new RateLimit(options.requestsPerMinute, options.clock)
    this.#logins = new RateLimit(options.loginsPerMinute, options.clock)
    this.#answers = new IdempotentAnswers(options.clock)
  }

  async answer(routed: Routed): Promise<Response> {
    const headers = new Headers()
    try {
      const answer = await this.#admit(routed, headers)
      if (answer instanceof Response) return answer
      return textResponse(answer.status, answer.body, headers)
    } catch (error) {
      return this.problem(error, routed.operation.id, headers)
    }
  }

  problem(error: unknown, request: string, headers: Headers = new Headers()): Response {
    const problem = problemOf(error, this.#options.logger, request)
    if (problem.status === 401) headers.set('www-authenticate', 'Bearer')
    headers.set('content-type', 'application/problem+json')
    return textResponse(problem.status, JSON.stringify(problem), headers)
  }

  async #admit(routed: Routed, headers: Headers): Promise<KeptAnswer | Response> {
    const { operation, request, connection } = routed
    if (connection.hosts !== null) requireHost(request, connection.hosts)
    this.#count(this.#requests, connection.address, headers)
    const principal = await this.#parts.authenticator.authenticate(request)
    if (principal === null && operation.role !== null) this.#refuseUnknown(request, connection, headers)
    if (operation.method !== 'GET') requireOwnOrigin(request, this.#options.allowedOrigins)
    const exchange = this.#exchangeOf(request, connection, headers)
    const scheduler = this.#schedulerOf(routed)
    const access = new Access(principal ?? unknownPrincipal)
    if (operation.reach === null) {
      const bodyText = operation.body === null ? '' : await this.#readBody(request)
      const call = await this.#callOf(routed, { scheduler, access, exchange }, bodyText)
      return this.#carryOut(operation, call, headers)
    }
    return this.#change({ routed, scheduler, access, exchange })
  }

  /** A wrong token is a failed login. @throws SchedulerError ERR_NOT_AUTHENTICATED, ERR_RATE_LIMITED */
  #refuseUnknown(request: Request, connection: Connection, headers: Headers): never {
    if (request.headers.has('authorization')) this.#count(this.#logins, connection.address, headers)
    throw new SchedulerError(
      'ERR_NOT_AUTHENTICATED',
      'Say who you are: send a token as "Authorization: Bearer ...", or log in.',
    )
  }

  #count(limit: RateLimit, client: string, headers: Headers): void {
    const waitMs = limit.take(client)
    if (waitMs === 0) return
    headers.set('retry-after', String(Math.ceil(waitMs / 1000)))
    throw new SchedulerError(
      'ERR_RATE_LIMITED',
      `Too many requests. There is room in ${Math.ceil(waitMs / 1000)} s.`,
    )
  }

  #exchangeOf(request: Request, connection: Connection, headers: Headers): Exchange {
    const secure = isEncrypted(request)
    return {
      request,
      countLogin: () => {
        this.#count(this.#logins, connection.address, headers)
      },
      keepSession: (login) => {
        const cookie =
          login === null ? this.#sessions.end({ secure }) : this.#sessions.begin(login.session, { secure })
        headers.append('set-cookie', cookie)
      },
    }
  }

  #schedulerOf({ schedulerName }: Routed): Scheduler {
    const { schedulers, defaultScheduler } = this.#options
    const found = schedulerName === null ? defaultScheduler : schedulers.get(schedulerName)
    if (found !== undefined) return found
    throw new SchedulerError('ERR_NOT_FOUND', 'This server has no scheduler of that name.')
  }

  /** The call with everything checked, the permissions included. */
  async #callOf(
    { operation, request, params }: Routed,
    known: Pick<Call, 'scheduler' | 'access' | 'exchange'>,
    bodyText: string,
  ): Promise<Call> {
    this.#requireRole(operation, known.access)
    const { query, isDryRun } = queryOf(operation, new URL(request.url).searchParams)
    const call: Call = {
      ...known,
      params: parsed('path', operation.params, params),
      query: parsed('query', operation.query, query),
      body: bodyOf(operation, bodyText),
      isDryRun,
      parts: this.#parts,
    }
    await requireJobGroups(operation, call)
    return call
  }

  /** Before anything of the request is read: what no group of the principal allows. */
  #requireRole({ id, role, reach, jobGroups }: Operation, access: Access): void {
    if (role === null) return
    if (this.#options.readOnly && reach !== null) {
      throw new SchedulerError('ERR_NOT_ALLOWED', `'${id}' changes something, and this server is read-only.`)
    }
    const mayBe = jobGroups === null ? access.has(role) : access.hasSomewhere(role)
    if (!mayBe) throw notAllowed(id, role)
  }

  async #carryOut(operation: Operation, call: Call, headers: Headers): Promise<KeptAnswer | Response> {
    const answer = await operation.handle(call)
    if (answer instanceof Response) return answer
    if (answer instanceof TextAnswer) {
      headers.set('content-type', answer.contentType)
      return { status: answer.status, body: answer.text }
    }
    if (operation.isList === true && formatOf(call.query) === 'csv') {
      headers.set('content-type', 'text/csv; charset=utf-8')
      headers.set('content-disposition', `attachment; filename="${operation.id}.csv"`)
      return { status: 200, body: csvOf(itemsOf(answer)) }
    }
    return { status: 200, body: JSON.stringify(answer) }
  }

  /** A change: once for each idempotency key, and told to the audit whatever becomes of it. */
  async #change(change: Change): Promise<KeptAnswer> {
    const { routed, access } = change
    const { operation, request } = routed
    const bodyText = operation.body === null && request.body === null ? '' : await this.#readBody(request)
    const key = request.headers.get('idempotency-key')
    if (key === null) return this.#carryOutChange(change, bodyText)
    if (key.length > 200)
      throw new RequestProblem([{ field: 'idempotency-key', message: 'has at most 200 characters' }])
    const scope = [access.principal.name, operation.id, routed.schedulerName ?? '', key]
    return this.#answers.once(scope, [request.url, bodyText], () => this.#carryOutChange(change, bodyText))
  }

  #readBody(request: Request): Promise<string> {
    return readBody(request, this.#options.maxBodyBytes)
  }

  /** Never rejects: a problem is an answer, which the audit has as well. */
  async #carryOutChange(change: Change, bodyText: string): Promise<KeptAnswer> {
    const { routed, scheduler, access, exchange } = change
    let isDryRun = false
    let answer: KeptAnswer
    try {
      const call = await this.#callOf(routed, { scheduler, access, exchange }, bodyText)
      isDryRun = call.isDryRun
      answer = { status: 200, body: JSON.stringify(await routed.operation.handle(call)) }
    } catch (error) {
      const problem = problemOf(error, this.#options.logger, routed.operation.id)
      answer = { status: problem.status, body: JSON.stringify(problem) }
    }
    if (!isDryRun) this.#parts.overviews.forget(scheduler)
    this.#audit(change, { isDryRun, bodyText, answer })
    return answer
  }

  #audit(
    { routed, scheduler, access }: Change,
    { isDryRun, bodyText, answer }: { isDryRun: boolean; bodyText: string; answer: KeptAnswer },
  ): void {
    const { onAudit, clock, logger } = this.#options
    if (onAudit === null) return
    try {
      onAudit({
        atMs: clock.now(),
        principal: access.principal.name,
        address: routed.connection.address,
        operation: routed.operation.id,
        scheduler: scheduler.schedulerName,
        node: scheduler.schedulerInstanceId,
        params: routed.params,
        body: maskedJson(bodyText),
        isDryRun,
        status: answer.status,
        answer: maskedJson(answer.body),
      })
    } catch (error) {
      logThrown(logger, error, 'onAudit threw')
    }
  }
}

/** Whether the browser came by TLS; a proxy that ends it leaves the origin as it was. */
function isEncrypted(request: Request): boolean {
  return (
    new URL(request.url).protocol === 'https:' || request.headers.get('origin')?.startsWith('https:') === true
  )
}

interface Change {
  readonly routed: Routed
  readonly scheduler: Scheduler
  readonly access: Access
  readonly exchange: Exchange
}

function notAllowed(id: string, role: string): SchedulerError {
  return new SchedulerError('ERR_NOT_ALLOWED', `'${id}' needs the role ${role}.`)
}

/** @throws SchedulerError ERR_NOT_ALLOWED unless the role is held on every job group that the call is about */
async function requireJobGroups(operation: Operation, call: Call): Promise<void> {
  const { id, role, jobGroups } = operation
  if (role === null || jobGroups === null || jobGroups === 'visible' || call.access.has(role)) return
  const groups = await jobGroups(call)
  // What is not there has no group: only a role on everything may learn that.
  if (groups.length > 0 && groups.every((group) => call.access.hasOn(group, role))) return
  throw notAllowed(id, role)
}

function queryOf(
  { reach }: Operation,
  search: URLSearchParams,
): { query: Readonly<Record<string, string>>; isDryRun: boolean } {
  const query = new Map<string, string>()
  for (const [name, value] of search) {
    if (query.has(name))
      throw new RequestProblem([{ field: `query.${name.slice(0, 100)}`, message: 'is there twice' }])
    query.set(name, value)
  }
  const dryRun = query.get('dryRun') ?? 'false'
  if (reach === null) return { query: Object.fromEntries(query), isDryRun: false }
  if (dryRun !== 'true' && dryRun !== 'false') {
    throw new RequestProblem([{ field: 'query.dryRun', message: 'must be true or false' }])
  }
  query.delete('dryRun')
  return { query: Object.fromEntries(query), isDryRun: dryRun === 'true' }
}

function bodyOf({ body: schema }: Operation, text: string): unknown {
  if (schema !== null) return parsed('body', schema, jsonOf(text))
  if (text.trim() === '' || text.trim() === '{}') return null
  throw new RequestProblem([{ field: 'body', message: 'must be empty for this operation' }])
}

function parsed(part: string, schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new RequestProblem(fieldProblems(part, result.error))
}

function formatOf(query: unknown): unknown {
  return isObject(query) ? Reflect.get(query, 'format') : undefined
}

function itemsOf(answer: unknown): readonly unknown[] {
  const items: unknown = isObject(answer) ? Reflect.get(answer, 'items') : undefined
  return Array.isArray(items) ? items : []
}

function maskedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? masked({ ...value }) : value
  } catch {
    return null
  }
}

/** Nothing of the API is kept by a cache, shown in a frame or taken for a page. */
function textResponse(status: number, body: string, headers: Headers): Response {
  if (!headers.has('content-type')) {
    headers.set('content-type', status < 400 ? 'application/json' : 'application/problem+json')
  }
  headers.set('cache-control', 'no-store')
  headers.set('x-content-type-options', 'nosniff')
  headers.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  headers.set('referrer-policy', 'no-referrer')
  return new Response(body, { status, headers })
}
