import { basePath, currentScheduler, pathText } from '../state/place.ts'
import { later, nowMs, serverSaysNow } from '../time/clock.ts'
import { type OperationId, type Operations, type Query, routes } from './operations.ts'
import { ApiProblem } from './problem.ts'

interface Common {
  readonly query?: Query
  /** Only ask what would happen. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
  /** Change it only as it was read, by its version; see {@link notThere}. Null for as it is. */
  readonly onlyAs?: string | null
}

/** In place of a version: nothing is stored yet. */
export const notThere = '*'

/** What was read, and the version to change it by; null where a proxy took that away. */
export interface Versioned<Value> {
  readonly value: Value
  readonly version: string | null
}

type Given<Name extends string, Value> = [Value] extends [undefined]
  ? Readonly<Partial<Record<Name, undefined>>>
  : Readonly<Record<Name, Value>>

export type CallOptions<Id extends OperationId> = Common &
  Given<'params', Operations[Id]['params']> &
  Given<'body', Operations[Id]['body']>

type Arguments<Id extends OperationId> =
  Partial<CallOptions<Id>> extends CallOptions<Id> ? [options?: CallOptions<Id>] : [options: CallOptions<Id>]

interface AnyOptions extends Common {
  readonly params?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Called when the server does not know who is asking. */
let onSignedOut: () => void = () => undefined

export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener
}

/** Called when the server does not allow an operation to who is asking. */
let onNotAllowed: (id: OperationId) => void = () => undefined

export function whenNotAllowed(listener: (id: OperationId) => void): void {
  onNotAllowed = listener
}

/** Calls an operation of the API on the scheduler that the page shows. @throws ApiProblem */
export async function call<Id extends OperationId>(
  id: Id,
  ...given: Arguments<Id>
): Promise<Operations[Id]['answer']> {
  return (await read(id, ...given)).value
}

/** The same for what somebody edits. @throws ApiProblem */
export async function read<Id extends OperationId>(
  id: Id,
  ...[options]: Arguments<Id>
): Promise<Versioned<Operations[Id]['answer']>> {
  const { body, signal, onlyAs = null, ...rest } = (options ?? {}) as AnyOptions
  const { method } = routes[id]
  const askedMs = nowMs()
  const isChange = method !== 'GET' && rest.dryRun !== true
  const mayBeDone = isChange && !id.startsWith('session.')
  const asked = { isChange, mayBeDone }
  const [response, answer] = await answered(addressOf(id, rest), asked, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(onlyAs !== null && { [onlyAs === notThere ? 'if-none-match' : 'if-match']: onlyAs }),
    },
    credentials: 'same-origin',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
  if (hasNow(answer)) serverSaysNow(answer.nowMs, askedMs)
  // What the server answers was checked against the same types on its side.
  if (response.ok) return { value: answer as Operations[Id]['answer'], version: response.headers.get('etag') }
  if (response.status === 401 && id !== 'session.begin') onSignedOut()
  const problem = answer as ApiProblem['problem']
  if (problem.code === 'ERR_NOT_ALLOWED') onNotAllowed(id)
  throw new ApiProblem(response.status, problem, mayBeDone && isAnswerLost(response.status, problem))
}

/**
 * A proxy got no answer of the server, or the server none of its database. Proxies say the first in many ways: some
 * answer 503, 408 or a number of their own also where the connection broke after the server had the request.
 */
function isAnswerLost(status: number, { detail, code }: ApiProblem['problem']): boolean {
  const isOfProxy = (status >= 500 || status === 408) && typeof detail !== 'string'
  return isOfProxy || code === 'ERR_COMMIT_UNKNOWN'
}

function hasNow(answer: unknown): answer is { readonly nowMs: number } {
  return typeof answer === 'object' && answer !== null && 'nowMs' in answer
}

/** A server that stands still, or is cut off, takes requests and answers none. A change may be long. */
const limitMs = { look: 30_000, change: 300_000 } as const

async function answered(
  address: string,
  { isChange, mayBeDone }: { readonly isChange: boolean; readonly mayBeDone: boolean },
  init: RequestInit,
): Promise<[Response, unknown]> {
  // `AbortSignal.any` is missing in browsers of 2023.
  const limit = new AbortController()
  const { signal } = limit
  const abort = (): void => {
    limit.abort()
  }
  if (init.signal?.aborted === true) abort()
  init.signal?.addEventListener('abort', abort)
  const cancel = later(isChange ? limitMs.change : limitMs.look, abort)
  try {
    const response = await fetch(address, { ...init, signal })
    // A proxy that asks people to sign in answers with a page of its own. Nothing has read the request then.
    if (response.ok && !isJson(response)) throw new ApiProblem(response.status, {})
    const answer: unknown = response.ok ? await response.json() : await refusalOf(response)
    signal.throwIfAborted()
    return [response, answer]
  } catch (error) {
    if (init.signal?.aborted === true || error instanceof ApiProblem) throw error
    const detail = error instanceof Error ? error.message : String(error)
    throw new ApiProblem(0, { detail }, mayBeDone)
  } finally {
    cancel()
    init.signal?.removeEventListener('abort', abort)
  }
}

function isJson(response: Response): boolean {
  return /^application\/([\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '')
}

/** Something else than the server may refuse a request, too, in a form of its own. */
async function refusalOf(response: Response): Promise<object> {
  const answer: unknown = await response.json().catch(() => null)
  return typeof answer === 'object' && answer !== null ? answer : {}
}

/** The address of an operation, as for a link to a file. */
export function addressOf(id: OperationId, { params = {}, query = {}, dryRun }: AnyOptions = {}): string {
  const { path, isServerWide } = routes[id]
  const name = currentScheduler.value
  const place = isServerWide === true || name === null ? '' : `/schedulers/${pathText(name)}`
  const filled = path.replace(/\{(\w+)\}/g, (_, param: string) => pathText(params[param] ?? ''))
  const search = new URLSearchParams()
  for (const [field, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(field, String(value))
  }
  if (dryRun === true) search.set('dryRun', 'true')
  const text = search.toString()
  return `${basePath}/api${place}${filled}${text === '' ? '' : `?${text}`}`
}
