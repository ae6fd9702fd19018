import { isObject } from '../../core/options.ts'
import { calledSafely } from '../../core/promises.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { AuditNote, AuditOutcome } from '../../jobstore/audit.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { AuditRecord } from '../audit.ts'
import { masked } from '../masking.ts'
import type { ResolvedServerOptions } from '../server-options.ts'

/** One request that changed something, or was to, a login, an export, or what a bulk action did. */
export interface AuditedRequest {
  readonly operation: { readonly id: string; readonly reach: 'data' | 'node' | null }
  readonly scheduler: Scheduler
  /** Empty for a client that has not said who it is. */
  readonly principal: string
  readonly address: string
  /** As far as they are known to be right, else as they came. */
  readonly params: unknown
  readonly query: unknown
  readonly bodyText: string
  readonly isDryRun: boolean
  readonly status: number
  /** What is answered, before it is text: a problem where the status says so. */
  readonly answer: unknown
  /** What the operation was to change, where its answer does not have it. */
  readonly before: unknown
}

/** Tells the audit of the scheduler and `onAudit`, and never throws. */
export class AuditTeller {
  readonly #options: ResolvedServerOptions

  constructor(options: ResolvedServerOptions) {
    this.#options = options
  }

  tell(request: AuditedRequest): void {
    this.#record(request)
    this.#callHook(request)
  }

  #record(request: AuditedRequest): void {
    const { isDryRun, operation, scheduler } = request
    if (isDryRun) return
    try {
      scheduler.recordAudit(noteOf(request))
    } catch (error) {
      logThrown(this.#options.logger, error, 'a request could not be audited', { request: operation.id })
    }
  }

  #callHook(request: AuditedRequest): void {
    const { onAudit, clock, logger } = this.#options
    if (onAudit === null) return
    const record = (): AuditRecord => ({
      timeMs: clock.now(),
      by: request.principal,
      address: request.address,
      operation: request.operation.id,
      scheduler: request.scheduler.schedulerName,
      node: request.scheduler.schedulerInstanceId,
      params: request.params,
      request: maskedValue(sentBy(request)),
      dryRun: request.isDryRun,
      status: request.status,
      answer: maskedValue(request.answer),
    })
    calledSafely(
      () => onAudit(record()),
      (error) => {
        logThrown(logger, error, 'onAudit failed', { request: request.operation.id })
      },
    )
  }
}

/** What was sent is left out where the answer says what came of it, and where it was refused. */
function noteOf(request: AuditedRequest): AuditNote {
  const { address, answer, before, operation, principal, status } = request
  const outcome = outcomeOf(status)
  const result = outcome === 'done' ? field(answer, 'result') : undefined
  const hasAfter = field(result, 'after') !== undefined
  const sent = sentBy(request)
  const after = hasAfter ? field(result, 'after') : (result ?? unchanged(answer))
  return {
    operation: operation.id,
    outcome,
    ...(principal !== '' && { by: principal }),
    ...(address !== 'unknown' && { address }),
    ...targetOf(request.params),
    ...(outcome !== 'done' && { error: `${text(answer, 'code')}: ${text(answer, 'detail')}` }),
    request: hasAfter || outcome === 'refused' || isEmpty(sent) ? undefined : sent,
    before: hasAfter ? field(result, 'before') : before,
    after,
  }
}

/** A request that changes nothing says by its query what it wants; the body of a login is a secret. */
function sentBy({ operation, query, bodyText }: AuditedRequest): unknown {
  return operation.reach === null ? queryText(query) : valueOf(bodyText)
}

function outcomeOf(status: number): AuditOutcome {
  if (status < 400) return 'done'
  return status === 401 || status === 403 || status === 429 ? 'refused' : 'failed'
}

/** What is about no group and no name is about an id, if anything. */
function targetOf(params: unknown): Pick<AuditNote, 'targetGroup' | 'targetName'> {
  const { group, name, ...ids } = Object(params) as Readonly<Record<string, unknown>>
  const found = name ?? Object.values(ids)[0]
  return {
    ...(typeof group === 'string' && { targetGroup: group }),
    ...(typeof found === 'string' && { targetName: found }),
  }
}

function unchanged(answer: unknown): unknown {
  return field(answer, 'changed') === false ? { changed: false } : undefined
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? Reflect.get(value, name) : undefined
}

function text(value: unknown, name: string): string {
  const found = field(value, name)
  return typeof found === 'string' ? found : ''
}

/** As it stands in an address: `secrets=true` is no secret. */
function queryText(query: unknown): string | null {
  const text = Object.entries(Object(query) as object).map(([name, value]) => `${name}=${String(value)}`)
  return text.length === 0 ? null : text.join('&')
}

function isEmpty(value: unknown): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0)
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function maskedValue(value: unknown): unknown {
  return isObject(value) ? masked({ ...value }) : value
}
