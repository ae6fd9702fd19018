import type { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import { isObject } from '../../core/options.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { RateLimit } from '../../time/rate-limit.ts'
import { refuseBlind } from '../attachment.ts'
import type { Sessions } from '../auth/sessions.ts'
import { mayCall, type Operation, type OperationCall, TextAnswer } from '../catalogue/operation.ts'
import { Access, type Principal } from '../catalogue/role.ts'
import { bodyBytesMax, type ResolvedServerOptions } from '../server-options.ts'
import type { Exchange, ServerParts } from '../server-parts.ts'
import type { AuditedRequest } from './audit-teller.ts'
import type { Connection } from './connection.ts'
import { csvOf } from './csv.ts'
import { IdempotentAnswers, type KeptAnswer } from './idempotency.ts'
import { entityTag, Preconditions } from './preconditions.ts'
import { changeProblemOf, fieldProblems, type ProblemJson, problemOf, RequestProblem } from './problem.ts'
import { jsonOf, readBody } from './read-body.ts'
import { requireDecodable, requireHost, requireOwnOrigin } from './request-guards.ts'
import { type Asker, TokenGuesses } from './token-guesses.ts'
import { Turns } from './turns.ts'

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
const unknownAsker: Asker = { principal: null, waitMs: 0 }

/** When to come back where no window of time says it: as many streams or bulk actions as there may be go on. */
const triesAgainSeconds = '5'

/** The way of every request: who, from where, may it, is it well formed; then its operation. */
export class RequestPipeline {
  readonly #options: ResolvedServerOptions
  readonly #parts: ServerParts
  readonly #sessions: Sessions
  readonly #requests: RateLimit
  readonly #logins: RateLimit
  readonly #guesses: TokenGuesses
  readonly #answers: IdempotentAnswers
  readonly #turns: Turns

  constructor(options: ResolvedServerOptions, parts: ServerParts, sessions: Sessions) {
    this.#options = options
    this.#parts = parts
    this.#sessions = sessions
    this.#requests = new RateLimit(options.requestsPerMinute, options.clock)
    this.#logins = new RateLimit(options.loginsPerMinute, options.clock)
    this.#guesses = new TokenGuesses(this.#logins)
    this.#answers = new IdempotentAnswers(options.clock)
    this.#turns = new Turns(options.clock)
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
    if (operation.isProbe !== true) {
      if (connection.hosts !== null) requireHost(request, connection.hosts)
      this.#count(this.#requests, connection.client, headers)
    }
    const { principal, waitMs } = await (operation.isProbe === true
      ? this.#probing(routed)
      : this.#authenticate(routed))
    if (principal === null && operation.role !== null) this.#refuseUnknown(routed, waitMs, headers)
    const whole: Admitted = {
      routed,
      scheduler: this.#schedulerOf(routed),
      access: new Access(principal ?? unknownPrincipal),
      exchange: this.#exchangeOf(request, connection, headers),
    }
    if (operation.method !== 'GET') this.#requireOwnOrigin(whole)
    if (operation.reach !== null) return this.#change(whole)
    const bodyText = operation.body === null ? '' : await this.#readBody(whole)
    return operation.isAudited === true
      ? this.#lookAudited(whole, bodyText, headers)
      : this.#carryOut(operation, await this.#callOf(whole, bodyText), headers)
  }

  /**
   * Who asks a probe; null also where nothing tells, since its answer must not depend on what knows them. A host that
   * authenticates is not asked for those who say nothing of themselves, nor more often than by other requests.
   */
  async #probing(routed: Routed): Promise<Asker> {
    const { operation, request, connection } = routed
    const saysWho = request.headers.has('authorization') || request.headers.has('cookie')
    if (!saysWho || this.#requests.take(connection.client) > 0) return unknownAsker
    try {
      return await this.#authenticate(routed)
    } catch (error) {
      const { logger } = this.#options
      logThrown(logger, error, 'it could not be found out who asks a probe', { request: operation.id })
      return unknownAsker
    }
  }

  /** A token that is wrong is counted, also where anybody may ask: the answer tells whether it is right. */
  async #authenticate({ request, connection: { client } }: Routed): Promise<Asker> {
    const { authenticator } = this.#parts
    const token = request.headers.get('authorization')
    // The host may take passwords. The server's own tokens cannot be guessed: refusing new ones would only lock out
    // others behind the same proxy.
    if (token !== null && authenticator.credentials === null) {
      return this.#guesses.ask(client, token, () => authenticator.authenticate(request))
    }
    const principal = await authenticator.authenticate(request)
    return { principal, waitMs: principal === null && token !== null ? this.#logins.take(client) : 0 }
  }

  #requireOwnOrigin(whole: Admitted): void {
    const { operation, request } = whole.routed
    try {
      requireOwnOrigin(request, this.#options.allowedOrigins)
    } catch (error) {
      this.#tellProblem(whole, problemOf(error, this.#options.logger, operation.id))
      throw error
    }
  }

  /** An operation that changes nothing and is told to the audit all the same. */
  async #lookAudited(whole: Admitted, bodyText: string, headers: Headers): Promise<KeptAnswer | Response> {
    const { operation } = whole.routed
    try {
      const call = await this.#callOf(whole, bodyText)
      const answer = await this.#carryOut(operation, call, headers)
      this.#tell(whole, { ...told, query: call.query })
      return answer
    } catch (error) {
      this.#tellProblem(whole, problemOf(error, this.#options.logger, operation.id))
      throw error
    }
  }

  #tellProblem(whole: Admitted, problem: ProblemJson): void {
    this.#tell(whole, { ...told, status: problem.status, answer: problem })
  }

  #tell({ routed, scheduler, access, exchange }: Admitted, what: Told): void {
    const { operation, connection, params } = routed
    const { address } = connection
    const principal = exchange.principal ?? access.principal.name
    this.#parts.audit.tell({
      params,
      ...what,
      operation,
      scheduler,
      principal,
      address,
      before: exchange.before,
    })
  }

  /** A wrong token is a failed login. @throws SchedulerError ERR_NOT_AUTHENTICATED, ERR_RATE_LIMITED */
  #refuseUnknown(routed: Routed, waitMs: number, headers: Headers): never {
    const { connection, operation, request } = routed
    const hasToken = request.headers.has('authorization')
    const refusal = new SchedulerError(
      'ERR_NOT_AUTHENTICATED',
      hasToken
        ? 'What the header "authorization" says is not known here: a token may be mistyped, of another server, or ' +
            'replaced. Send one of this server as "Authorization: Bearer ...".'
        : 'Say who you are: send a token as "Authorization: Bearer ...", or log in.',
    )
    // Who only looks and has not logged in yet is nothing to remember.
    if (hasToken || operation.reach !== null) {
      const exchange = this.#exchangeOf(request, connection, headers)
      const scheduler = this.#options.defaultScheduler
      const unknown = { routed, scheduler, access: new Access(unknownPrincipal), exchange }
      this.#tellProblem(unknown, problemOf(refusal, this.#options.logger, operation.id))
    }
    if (waitMs > 0) throw tooMany(waitMs, headers)
    throw refusal
  }

  #count(limit: RateLimit, client: string, headers: Headers): void {
    const waitMs = limit.take(client)
    if (waitMs > 0) throw tooMany(waitMs, headers)
  }

  #exchangeOf(request: Request, connection: Connection, headers: Headers): AuditedExchange {
    const secure = isEncrypted(request)
    const exchange: AuditedExchange = {
      request,
      address: connection.address,
      isOnlyAsRead: new Preconditions(request).isOnlyAsRead,
      before: undefined,
      principal: null,
      isBegun: false,
      noteBegun: () => {
        exchange.isBegun = true
      },
      noteBefore: (before) => {
        exchange.before = before
      },
      noteStored: (stored) => {
        if (request.method !== 'GET' && request.method !== 'HEAD') new Preconditions(request).require(stored)
        else if (stored !== null) headers.set('etag', entityTag(stored))
      },
      countLogin: () => {
        this.#count(this.#logins, connection.client, headers)
      },
      keepSession: (login) => {
        const cookies =
          login === null
            ? this.#sessions.end(request, { secure })
            : [this.#sessions.begin(login.session, request, { secure })]
        for (const cookie of cookies) headers.append('set-cookie', cookie)
        exchange.principal = login?.principal.name ?? null
      },
    }
    return exchange
  }

  #schedulerOf({ schedulerName }: Routed): Scheduler {
    const { schedulers, defaultScheduler } = this.#options
    const found = schedulerName === null ? defaultScheduler : schedulers.get(schedulerName)
    if (found !== undefined) return found
    throw new SchedulerError('ERR_NOT_FOUND', 'This server has no scheduler of that name.')
  }

  /** The call with everything checked, the permissions included. */
  async #callOf(
    { routed: { operation, request, params }, scheduler, access, exchange }: Admitted,
    bodyText: string,
  ): Promise<Call> {
    this.#requireRole(operation, access)
    const url = new URL(request.url)
    requireDecodable(url)
    const { query, isDryRun } = queryOf(operation, url.searchParams)
    const call: Call = {
      scheduler,
      access,
      exchange,
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
  #requireRole(operation: Operation, access: Access): void {
    const isReadOnly = this.#options.readOnly
    if (mayCall(access, operation, isReadOnly)) return
    if (!isReadOnly || operation.reach === null) throw notAllowed(operation)
    throw new SchedulerError(
      'ERR_NOT_ALLOWED',
      `'${operation.id}' changes something, and this server is read-only.`,
    )
  }

  async #carryOut(operation: Operation, call: Call, headers: Headers): Promise<KeptAnswer | Response> {
    const answer = await operation.handle(call)
    if (answer instanceof Response) return answer
    if (answer instanceof TextAnswer) {
      headers.set('content-type', answer.contentType)
      return { status: answer.status, body: answer.text }
    }
    if (operation.isList === true && formatOf(call.query) === 'csv') {
      // Rows alone cannot say that there may be more than anybody knows.
      if (isPartial(answer)) refuseBlind(call.scheduler)
      headers.set('content-type', 'text/csv; charset=utf-8')
      headers.set('content-disposition', `attachment; filename="${operation.id}.csv"`)
      noteNext(call.exchange.request, answer, headers)
      return { status: 200, body: csvOf(itemsOf(answer), operation.answer) }
    }
    return { status: 200, body: JSON.stringify(answer) }
  }

  /** A change: once for each idempotency key, and told to the audit whatever becomes of it. */
  async #change(change: Admitted): Promise<KeptAnswer> {
    const { routed, access } = change
    const { operation, request } = routed
    const bodyText = operation.body === null && request.body === null ? '' : await this.#readBody(change)
    if (operation.isVersioned !== true) refusePreconditions(request)
    const key = request.headers.get('idempotency-key')
    if (key === null) return this.#carryOutChange(change, bodyText)
    requireUsableKey(key)
    const scope = [access.principal.name, operation.id, routed.schedulerName ?? '', key]
    return this.#answers.once(scope, [request.url, bodyText, ...new Preconditions(request).texts], () =>
      this.#carryOutChange(change, bodyText),
    )
  }

  /** A file comes from those alone who may send it: it is read before anything else is asked. */
  #readBody({ routed: { operation, request }, access }: Admitted): Promise<string> {
    const { maxBodyBytes, readOnly } = this.#options
    const isFile = operation.takesFile === true && mayCall(access, operation, readOnly)
    return readBody(request, isFile ? bodyBytesMax : maxBodyBytes)
  }

  /** What has a version is looked at before it is changed: no other request may change it in between. */
  #handleChange(operation: Operation, call: Call): Promise<unknown> {
    if (operation.isVersioned !== true || call.isDryRun) return operation.handle(call)
    const thing = JSON.stringify([call.scheduler.schedulerName, operation.path, call.params])
    return this.#turns.take(thing, () => operation.handle(call))
  }

  /** Never rejects: a problem is an answer, which the audit has as well. */
  async #carryOutChange(change: Admitted, bodyText: string): Promise<KeptAnswer> {
    const { routed, scheduler, exchange } = change
    let what: Told = { ...told, bodyText }
    let isAdmitted = false
    let isBegun = false
    let mayBeDone = false
    try {
      const call = await this.#callOf(change, bodyText)
      what = { ...what, isDryRun: call.isDryRun, params: call.params }
      isAdmitted = routed.operation.role !== null
      isBegun = !call.isDryRun
      what = { ...what, answer: await this.#handleChange(routed.operation, call) }
    } catch (error) {
      const found = isAdmitted && !exchange.isBegun ? changeProblemOf : problemOf
      const problem = found(error, this.#options.logger, routed.operation.id)
      // What fails unexpectedly may do so after the change was stored.
      mayBeDone = isBegun && (problem.status === 500 || problem.code === 'ERR_COMMIT_UNKNOWN')
      const hasKey = routed.request.headers.has('idempotency-key')
      const detail = mayBeDone && hasKey ? `${problem.detail} ${keyIsUsed}` : problem.detail
      what = { ...what, status: problem.status, answer: { ...problem, detail } }
    }
    if (!what.isDryRun) {
      this.#parts.overviews.forget(scheduler)
      this.#parts.groupCounts.forget(scheduler)
    }
    this.#tell(change, what)
    return { status: what.status, body: JSON.stringify(what.answer), mayBeDone }
  }
}

function tooMany(waitMs: number, headers: Headers): SchedulerError {
  const seconds = Math.ceil(waitMs / 1000)
  headers.set('retry-after', String(seconds))
  return new SchedulerError('ERR_RATE_LIMITED', `Too many requests. There is room in ${seconds} s.`)
}

/** Else a client would send it again, get the answer once more, and believe that it was tried. */
const keyIsUsed =
  'It may have been done: look first, and send it again under another Idempotency-Key. ' +
  'Under this one it is not tried again.'

/** A client that asks for them must not believe that they were looked at. */
function refusePreconditions(request: Request): void {
  if (new Preconditions(request).texts.length === 0) return
  const message = 'is not heeded by this operation: leave out If-Match and If-None-Match'
  throw new RequestProblem([{ field: 'if-match', message }])
}

/** Of a blank key, as of a template with an empty variable, each request would take the one before for itself. */
function requireUsableKey(key: string): void {
  const message = 'has 1 to 200 characters: make a new one for each request, or leave the header out'
  if (key.trim() === '' || key.length > 200) throw new RequestProblem([{ field: 'idempotency-key', message }])
}

/** Whether the browser came by TLS; a proxy that ends it leaves the origin as it was. */
function isEncrypted(request: Request): boolean {
  return (
    new URL(request.url).protocol === 'https:' || request.headers.get('origin')?.startsWith('https:') === true
  )
}

/** A request whose client is known, or need not be. */
interface Admitted {
  readonly routed: Routed
  readonly scheduler: Scheduler
  readonly access: Access
  readonly exchange: AuditedExchange
}

/** What the audit learns from the operation itself. */
interface AuditedExchange extends Exchange {
  before: unknown
  /** Who has logged in with this request. */
  principal: string | null
  /** Whether what the database refuses may have been done in part. */
  isBegun: boolean
}

type Told = Pick<AuditedRequest, 'isDryRun' | 'query' | 'bodyText' | 'status' | 'answer'> &
  Partial<Pick<AuditedRequest, 'params'>>

/** What is told of a request of which nothing else is known. */
const told: Told = { isDryRun: false, query: null, bodyText: '', status: 200, answer: null }

function notAllowed({ id, role }: Operation): SchedulerError {
  return new SchedulerError('ERR_NOT_ALLOWED', `'${id}' needs the role ${String(role)}.`)
}

/** @throws SchedulerError ERR_NOT_ALLOWED unless the role is held on every job group that the call is about */
async function requireJobGroups(operation: Operation, call: Call): Promise<void> {
  const { role, jobGroups } = operation
  if (role === null || jobGroups === null || jobGroups === 'visible' || call.access.has(role)) return
  const groups = await jobGroups(call)
  // What is not there has no group: only a role on everything may learn that.
  if (groups.length > 0 && groups.every((group) => call.access.hasOn(group, role))) return
  throw notAllowed(operation)
}

function queryOf(
  { reach }: Operation,
  search: URLSearchParams,
): { query: Readonly<Record<string, string>>; isDryRun: boolean } {
  const query = new Map<string, string>()
  for (const [name, value] of search) {
    if (query.has(name))
      throw new RequestProblem([{ field: `query.${beginningOf(name, 100)}`, message: 'is there twice' }])
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

/** Where the rows go on (RFC 8288): a file has no place of its own for it. */
function noteNext(request: Request, answer: unknown, headers: Headers): void {
  const next: unknown = isObject(answer) ? Reflect.get(answer, 'next') : null
  // Pages of a log go on after a number.
  if (typeof next !== 'string' && typeof next !== 'number') return
  const { searchParams } = new URL(request.url)
  searchParams.set('after', String(next))
  headers.set('link', `<?${searchParams.toString()}>; rel="next"`)
}

function isPartial(answer: unknown): boolean {
  return isObject(answer) && Reflect.get(answer, 'isWhole') === false
}

/** Nothing of the API is kept by a cache, shown in a frame or taken for a page. */
function textResponse(status: number, body: string, headers: Headers): Response {
  if (!headers.has('content-type')) {
    headers.set('content-type', status < 400 ? 'application/json' : 'application/problem+json')
  }
  if (status === 429 && !headers.has('retry-after')) headers.set('retry-after', triesAgainSeconds)
  headers.set('cache-control', 'no-store')
  headers.set('x-content-type-options', 'nosniff')
  headers.set('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
  headers.set('referrer-policy', 'no-referrer')
  return new Response(body, { status, headers })
}
