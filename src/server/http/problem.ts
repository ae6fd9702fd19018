import type { z } from 'zod'
import {
  CronExpressionError,
  type ErrorCode,
  InvalidArgumentError,
  SchedulerError,
} from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import { logThrown } from '../../core/thrown-value.ts'

/** What is wrong with one field of a request. */
export interface FieldProblem {
  /** As in `body.cronExpression.timeZone`. */
  readonly field: string
  readonly message: string
}

/** The body of every answer that is an error: `application/problem+json` (RFC 9457). */
export interface ProblemJson {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly code: ErrorCode
  readonly detail: string
  /** The argument that is wrong, where there is one. */
  readonly field?: string
  /** Of a cron expression: the character at which it is wrong, from 0, and what to write instead. */
  readonly position?: number
  readonly suggestion?: string | null
  readonly problems?: readonly FieldProblem[]
}

/** Codes that are no fault of the request's form; what is not named here is 400 or 500. */
const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  ERR_NOT_AUTHENTICATED: 401,
  ERR_NOT_ALLOWED: 403,
  ERR_FOREIGN_ORIGIN: 403,
  ERR_NOT_FOUND: 404,
  ERR_JOB_NOT_FOUND: 404,
  ERR_TRIGGER_NOT_FOUND: 404,
  ERR_CALENDAR_NOT_FOUND: 404,
  ERR_METHOD_NOT_ALLOWED: 405,
  ERR_OBJECT_ALREADY_EXISTS: 409,
  ERR_CALENDAR_IN_USE: 409,
  ERR_SCHEDULER_STATE: 409,
  ERR_BROKEN_ROW: 409,
  ERR_NODE_ALIVE: 409,
  ERR_CHANGED_MEANWHILE: 412,
  ERR_REQUEST_TOO_LARGE: 413,
  ERR_IDEMPOTENCY_KEY: 422,
  ERR_RATE_LIMITED: 429,
  ERR_NOT_SUPPORTED: 501,
  ERR_SCHEDULER_SHUTDOWN: 503,
  ERR_SERVER_CLOSED: 503,
  ERR_DATABASE_UNAVAILABLE: 503,
  ERR_STORE_IN_USE: 503,
  ERR_COMMIT_UNKNOWN: 503,
}

const callersFault: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_INVALID_ARGUMENT',
  'ERR_INVALID_OPTION',
  'ERR_INVALID_TRIGGER',
  'ERR_INVALID_CRON_EXPRESSION',
  'ERR_INVALID_CALENDAR',
  'ERR_UNKNOWN_TIME_ZONE',
  'ERR_INVALID_JOB_DATA',
  'ERR_JOB_DATA_TOO_LARGE',
  'ERR_JOB_DATA_SCHEMA',
  'ERR_UNKNOWN_JOB_TYPE',
  'ERR_TRIGGER_NEVER_FIRES',
  'ERR_JOB_NOT_DURABLE',
  'ERR_JOB_KEY_MISMATCH',
  'ERR_WORKER_MODULE',
  'ERR_WORKER_UNAVAILABLE',
])

/** Codes of what has ended as it was told to: each request after that is refused, and nothing is wrong. */
const ended: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['ERR_SERVER_CLOSED', 'ERR_SCHEDULER_SHUTDOWN'])

/** A request whose parts do not fit their schemas. */
export class RequestProblem extends InvalidArgumentError {
  readonly problems: readonly FieldProblem[]

  constructor(problems: readonly FieldProblem[]) {
    const first = problems[0]
    super(first?.field ?? 'request', `The request is wrong: ${problems.map(described).join('; ')}.`)
    this.problems = problems
  }
}

function described({ field, message }: FieldProblem): string {
  return `${field}: ${message}`
}

const problemsMax = 20

/**
 * What zod found, one problem for each field, with the part of the request in front. Of several the last counts: the
 * bounds of a field come behind those of all whole numbers, and are narrower.
 */
export function fieldProblems(part: string, { issues }: z.core.$ZodError): readonly FieldProblem[] {
  const ofFields = new Map(issues.map((issue) => [JSON.stringify(issue.path), issue]))
  return [...ofFields.values()].slice(0, problemsMax).map(({ path, message }) => ({
    field: [part, ...path.map((step) => shortened(String(step)))].join('.'),
    message: shortened(message),
  }))
}

function shortened(text: string): string {
  return text.length > 200 ? `${beginningOf(text, 200)}...` : text
}

/**
 * What the client is told of an error. One that is no fault of the client is logged; one without a code of its own is
 * not shown.
 */
export function problemOf(error: unknown, logger: Logger, request: string): ProblemJson {
  const code = SchedulerError.is(error) ? error.code : null
  const status = code === null ? 500 : (statuses[code] ?? (callersFault.has(code) ? 400 : 500))
  const isFailure = status >= 500 && (code === null || !ended.has(code))
  if (isFailure) logThrown(logger, error, 'a request failed', { request })
  if (!SchedulerError.is(error) || status === 500) return internalProblem(code)
  return {
    type: `urn:quartz-ts:error:${error.code}`,
    title: titles[status] ?? 'Error',
    status,
    code: error.code,
    detail: withoutSecrets(error.message),
    ...(error instanceof InvalidArgumentError && { field: error.field }),
    ...(error instanceof CronExpressionError && {
      field: error.field ?? 'expression',
      position: error.position,
      suggestion: error.suggestion,
    }),
    ...(error instanceof RequestProblem && { problems: error.problems }),
  }
}

/**
 * The same of a change that is one transaction, for those who may make it: what the database refused was not done, and
 * they are told why, since it is mended in the database and may then be asked for again. Who only looks is not told
 * what its rows or tables are.
 */
export function changeProblemOf(error: unknown, logger: Logger, request: string): ProblemJson {
  const problem = problemOf(error, logger, request)
  if (!SchedulerError.is(error) || error.code !== 'ERR_DATABASE') return problem
  const status = 503
  return { ...problem, title: titles[status] ?? 'Error', status, detail: withoutSecrets(error.message) }
}

function internalProblem(code: ErrorCode | null): ProblemJson {
  return {
    type: `urn:quartz-ts:error:${code ?? 'ERR_INVARIANT'}`,
    title: 'Internal Server Error',
    status: 500,
    code: code ?? 'ERR_INVARIANT',
    detail: 'The server failed. Its log has the error.',
  }
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  501: 'Not Implemented',
  503: 'Service Unavailable',
}
