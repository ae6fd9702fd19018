import type { z } from 'zod'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Exchange, ServerParts } from '../server-parts.ts'
import type { Access, Role } from './role.ts'

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What a handler is given: everything is checked. */
export interface OperationCall<Params, Query, Body> {
  readonly scheduler: Scheduler
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly access: Access
  /** Say what would happen, and do nothing. False for what changes nothing. */
  readonly isDryRun: boolean
  readonly parts: ServerParts
  readonly exchange: Exchange
}

/** Where a change arrives: in the data that all nodes share, or in the node that was asked alone. */
export type Reach = 'data' | 'node'

interface Described {
  /** The OpenAPI operation id, the name of the permission and the name in the audit. */
  readonly id: string
  readonly method: HttpMethod
  /** Below `/api`, with `{parameters}`. */
  readonly path: string
  readonly summary: string
  /** The least role: on everything, or on the job groups that the operation is about. Null for anyone at all. */
  readonly role: Role | null
  /** Null for an operation that changes nothing. */
  readonly reach: Reach | null
  /** An operation of a list, which can be had as CSV. Default false. */
  readonly isList?: boolean
  /** Of the server, and not of one scheduler: it has no path below `/api/schedulers/{scheduler}`. Default false. */
  readonly isServerWide?: boolean
  /** Its handler answers a Response. Default false. */
  readonly isStream?: boolean
  /** It is told to the audit although it changes nothing. Default false. */
  readonly isAudited?: boolean
  /** Its body is a file, which may be as large as the server takes any. Default false. */
  readonly takesFile?: boolean
  /**
   * An orchestrator asks it, by any name of the host and however often: where it gets no answer it ends the process.
   * Default false.
   */
  readonly isProbe?: boolean
  /** It is also there without `/api`, where tools look for it. Default false. */
  readonly isAtRoot?: boolean
  /** Its answer has an `ETag`; a change heeds `If-Match` and `If-None-Match`. Default false. */
  readonly isVersioned?: boolean
  /** The content type of an answer that is no JSON: its handler answers a {@link TextAnswer}. */
  readonly contentType?: string
  /** Another status with the same answer, see {@link TextAnswer}. */
  readonly otherStatus?: number
}

/** An answer with a status or a content type of its own, for handlers that need that. */
export class TextAnswer {
  readonly status: number
  readonly contentType: string
  readonly text: string

  constructor(status: number, contentType: string, text: string) {
    this.status = status
    this.contentType = contentType
    this.text = text
  }
}

/** One operation of the API, with its types erased: the catalogue is a list of them. */
export interface Operation extends Described {
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** Null when the request has none. */
  readonly body: z.ZodType | null
  readonly answer: z.ZodType
  /**
   * The job groups that a call is about; null for an operation that is about more, which needs its role on everything.
   * `visible` stands for an operation that leaves out what the principal may not see.
   */
  readonly jobGroups:
    | 'visible'
    | ((call: OperationCall<unknown, unknown, unknown>) => Promise<readonly string[]>)
    | null
  readonly handle: (call: OperationCall<unknown, unknown, unknown>) => Promise<unknown>
}

export interface OperationSpec<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> extends Described {
  readonly params: Params
  readonly query: Query
  readonly body: Body | null
  readonly answer: Answer
  readonly jobGroups:
    | 'visible'
    | ((call: OperationCall<z.output<Params>, z.output<Query>, z.output<Body>>) => Promise<readonly string[]>)
    | null
  readonly handle: (
    call: OperationCall<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<z.output<Answer> | TextAnswer>
}

/** Checks an operation against its own schemas, and forgets their types. */
export function operation<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(spec: OperationSpec<Params, Query, Body, Answer>): Operation {
  // The handler is only ever given what the schemas next to it have made.
  return Object.freeze(spec) as unknown as Operation
}

/** Whether somebody may call an operation, on something at least; null for a client that is not known. */
export function mayCall(
  access: Access | null,
  { role, reach, jobGroups }: Operation,
  isReadOnly: boolean,
): boolean {
  if (role === null) return true
  if (access === null || (isReadOnly && reach !== null)) return false
  return jobGroups === null ? access.has(role) : access.hasSomewhere(role)
}
