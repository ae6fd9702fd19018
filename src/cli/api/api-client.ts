import { defaultGroup } from '../../core/key.ts'
import { textOf } from '../../core/thrown-value.ts'
import { nothingHere } from '../../server/wire/nothing-here.ts'
import type { Clock } from '../../time/clock.ts'
import { CommandFailure, type ExitCode, exitCodes } from '../exit-codes.ts'
import { type Answers, marks, type Route, routes } from './routes.ts'

/** What a request says besides its operation. */
export interface ApiCall {
  readonly params?: Readonly<Record<string, string>>
  /** What is undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** Ask what would happen. Default false. */
  readonly isDryRun?: boolean
}

/** Sends a request and resolves with the answer, whatever its status is. */
export type Send = (request: Request) => Promise<Response>

export interface ApiClientOptions {
  /** What the paths of the API begin with, as in `https://ops.example.com/jobs`. */
  readonly base: string
  /** The scheduler to ask; null for the default one of the server. */
  readonly schedulerName: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly send: Send
  /** A request that takes longer fails. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** Said after an answer that refuses who asks. */
  readonly authRemedy: string
  /** What is said of an answer of 500 or more, whose problem says so much. */
  readonly failure: (said: string, status: number) => string
  /** Releases what the client holds. */
  readonly close: () => Promise<void>
}

/** Most bytes of an answer: a file of all definitions has fewer. */
const answerMaxBytes = 256 * 1024 * 1024

/** The operations of the HTTP API, on a server or in this process. */
export class ApiClient implements AsyncDisposable {
  readonly #options: ApiClientOptions

  constructor(options: ApiClientOptions) {
    this.#options = options
  }

  /** @throws CommandFailure for every answer that is no success */
  async call<Id extends keyof Answers>(operation: Id, call: ApiCall = {}): Promise<Answers[Id]> {
    const route = routes[operation]
    const url = `${this.#options.base}/api${this.#scope(route)}${pathOf(route, call.params)}${searchOf(call)}`
    const hasBody = call.body !== undefined
    const abort = new AbortController()
    const { clock, timeoutMs, headers } = this.#options
    const timer = clock.setTimer(timeoutMs, () => {
      abort.abort(new AnswerLost(`No answer within ${timeoutMs / 1000} s.`))
    })
    try {
      const request = new Request(url, {
        method: route.method,
        headers: { ...headers, accept: 'application/json', ...(hasBody && { 'content-type': jsonType }) },
        ...(hasBody && { body: JSON.stringify(call.body) }),
        // The token is for this server and for no other that it names.
        redirect: 'manual',
        signal: abort.signal,
      })
      const response = await this.#options.send(request)
      const answer = await jsonOf(response)
      if (response.ok && isMarked(answer, marks[operation])) return answer as Answers[Id]
      throw this.#failureOf(response, answer, call.params)
    } catch (error) {
      const isChange = route.method === 'POST' && call.isDryRun !== true
      throw isChange && error instanceof MayBeDone ? changeNotKnown(error.message, error) : error
    } finally {
      timer.cancel()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.close()
  }

  #scope({ isServerWide }: Route): string {
    const { schedulerName } = this.#options
    return schedulerName === null || isServerWide === true
      ? ''
      : `/schedulers/${encodeURIComponent(schedulerName)}`
  }

  #failureOf(response: Response, answer: object | null, params: ApiCall['params']): CommandFailure {
    const { authRemedy, failure } = this.#options
    const problem = answer as Problem | null
    const { status } = response
    if (typeof problem?.detail !== 'string' || problem.detail === nothingHere)
      return this.#strangeAnswer(response)
    const suggestion = typeof problem.suggestion === 'string' ? problem.suggestion : ''
    const said = problem.detail.includes(suggestion) ? problem.detail : `${problem.detail} ${suggestion}`
    const more = status === 401 ? authRemedy : keyRemedy(status, params)
    const shown = withKeyOfCommand(status >= 500 ? failure(said, status) : said, params)
    const whole = more === '' ? shown : `${shown} ${more}`
    if (problem.code === 'ERR_COMMIT_UNKNOWN') return changeNotKnown(whole)
    const exitCode = exitCodeOf(status, problem)
    // A server that is away, cannot do it, or whose database refused it has done nothing; what fails unexpectedly may
    // do so after the change.
    const hasRefused = status < 500 || status === 501 || status === 503
    return hasRefused ? new CommandFailure(exitCode, whole) : new MayBeDone(exitCode, whole)
  }

  /** An answer that is not in the words of a server of this kind. */
  #strangeAnswer({ ok, status }: Response): CommandFailure {
    const { base } = this.#options
    // Some proxies answer 503 also where the connection broke after the server had the request.
    if (status === 502 || status === 503 || status === 504)
      return new AnswerLost(`'${base}' answered ${status}: its proxy got no answer of the server.`)
    if (status === 429) {
      const why = 'and not by itself: its proxy says that there are too many requests.'
      return new CommandFailure(exitCodes.unreachable, `'${base}' answered ${status}, ${why}`)
    }
    if (status >= 500) {
      const which = 'that server, or a proxy before it, has failed.'
      return new MayBeDone(exitCodes.failed, `'${base}' answered ${status}: ${which}`)
    }
    if (status === 404) {
      const remedy = 'give it the address of its page, without /api.'
      const what = `'${base}' is no quartz-ts server, or its path is wrong: ${remedy} It answered ${status}.`
      return new CommandFailure(exitCodes.failed, what)
    }
    const answered = `It answered ${status}${ok ? ' with something else than was asked for' : ''}.`
    const what = `'${base}' is no quartz-ts server, or its path is wrong. ${answered}`
    return ok ? new MayBeDone(exitCodes.failed, what) : new CommandFailure(exitCodes.failed, what)
  }
}

/** A request was sent, and what was asked for may have been done. */
class MayBeDone extends CommandFailure {}

/** The answer to it did not arrive. */
export class AnswerLost extends MayBeDone {
  constructor(message: string, options?: ErrorOptions) {
    super(exitCodes.unreachable, message, options)
  }
}

/**
 * It is not sent again under an idempotency key: where the answer was lost because the server ended, the key is lost as
 * well, and another process would make the change once more.
 */
function changeNotKnown(what: string, cause?: unknown): CommandFailure {
  const message = `${what} The change may have been made: look before you repeat it.`
  return new CommandFailure(exitCodes.notKnown, message, { cause })
}

const jsonType = 'application/json'

/** Errors write a key as code does, `group.name`, and the command line reads `group/name`. */
function withKeyOfCommand(text: string, { group, name }: ApiCall['params'] = {}): string {
  return group === undefined || name === undefined
    ? text
    : text.replaceAll(`'${group}.${name}'`, `'${group}/${name}'`)
}

/** Who copies a key from an alert or a log has it with a dot. */
function keyRemedy(status: number, { group, name = '' }: ApiCall['params'] = {}): string {
  const dot = name.indexOf('.')
  if (status !== 404 || group !== defaultGroup || dot < 1 || dot === name.length - 1) return ''
  return `A key is GROUP/NAME: write '${name.slice(0, dot)}/${name.slice(dot + 1)}' if that is meant.`
}

interface Problem {
  readonly detail?: unknown
  readonly suggestion?: unknown
  readonly field?: unknown
  readonly code?: unknown
}

/** What stands behind the address of a request is on the command line. */
const queryField = /^(filter|after|query\..*)$/

function exitCodeOf(status: number, { field, code }: Problem): ExitCode {
  if (status === 400 && typeof field === 'string' && queryField.test(field)) return exitCodes.usage
  // The database is there: that it refuses this does not pass by itself.
  if (code === 'ERR_DATABASE') return exitCodes.failed
  if (status === 404) return exitCodes.notFound
  if (status === 401 || status === 403) return exitCodes.refused
  if (status === 429 || status === 503) return exitCodes.unreachable
  return exitCodes.failed
}

function pathOf({ path }: Route, params: ApiCall['params'] = {}): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => pathText(params[name] ?? ''))
}

/** URLs cannot have parts that are empty, `.` or `..`; a leading `~` is taken off by the server. */
function pathText(text: string): string {
  return encodeURIComponent(/^(~|\.{0,2}$)/.test(text) ? `~${text}` : text)
}

function searchOf({ query = {}, isDryRun = false }: ApiCall): string {
  const search = new URLSearchParams(isDryRun ? { dryRun: 'true' } : {})
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search.toString()}`
}

/** Another program than a quartz-ts server may answer anything. */
function isMarked(answer: object | null, mark: string): boolean {
  const value: unknown = answer === null ? undefined : Reflect.get(answer, mark)
  return mark === 'items' ? Array.isArray(value) : value !== undefined
}

/** Null for an answer that is no JSON object. @throws CommandFailure */
async function jsonOf(response: Response): Promise<object | null> {
  const text = await textOfAnswer(response)
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** @throws CommandFailure for an answer that is too large, or breaks off */
async function textOfAnswer(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  const body = (response.body ?? []) as AsyncIterable<Uint8Array> | readonly Uint8Array[]
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > answerMaxBytes)
        throw new CommandFailure(exitCodes.failed, 'The answer of the server is too large.')
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    // As when the server, or a proxy before it, is started anew.
    throw new AnswerLost(`The answer of the server broke off: ${textOf(error)}.`, { cause: error })
  }
  return Buffer.concat(chunks).toString()
}
