import { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import { packageVersion } from '../../core/version.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { Access, type Principal, roles } from '../catalogue/role.ts'
import { nothing, textUpTo } from '../wire/fields.ts'
import { schedulerJson } from '../wire/runs.ts'
import { schedulerToJson } from './scheduler.ts'

const role = z.enum(roles)

/** Who is asking, and what it may do. */
export interface SessionJson {
  /** Null for a client that has not said who it is. */
  readonly principal: Principal | null
  /** What `session.begin` takes; null where the host authenticates. */
  readonly credentials: 'token' | 'password' | null
  readonly isReadOnly: boolean
  /** The ids of the operations that it may call, on something at least. */
  readonly operations: readonly string[]
  /** Names; the first one is the default. */
  readonly schedulers: readonly string[]
  readonly version: string | null
  /** This server's clock. */
  readonly nowMs: number
}

const sessionJson: z.ZodType<SessionJson> = z.strictObject({
  principal: z
    .strictObject({
      name: z.string(),
      role: role.nullable(),
      jobGroups: z.record(z.string(), role).exactOptional(),
    })
    .nullable(),
  credentials: z.enum(['token', 'password']).nullable(),
  isReadOnly: z.boolean(),
  operations: z.array(z.string()),
  schedulers: z.array(z.string()),
  version: z.string().nullable(),
  nowMs: z.number().describe("This server's clock."),
})

type Call = Pick<OperationCall<unknown, unknown, unknown>, 'parts'>

function sessionOf({ parts }: Call, access: Access | null): SessionJson {
  const { authenticator, clock, isReadOnly, schedulers } = parts
  const isKnown = access !== null
  return {
    principal: access && publicPrincipal(access.principal),
    credentials: authenticator.credentials,
    isReadOnly,
    operations: parts.operationsFor(access),
    schedulers: isKnown ? [...schedulers.keys()] : [],
    version: isKnown ? packageVersion : null,
    nowMs: clock.now(),
  }
}

function publicPrincipal({ name, role: base, jobGroups }: Principal): Principal {
  return { name, role: base, ...(jobGroups !== undefined && { jobGroups }) }
}

const getSession: Operation = operation({
  id: 'session.get',
  method: 'GET',
  path: '/session',
  summary: 'Who is asking, and what it may do.',
  role: null,
  reach: null,
  isServerWide: true,
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: null,
  answer: sessionJson,
  handle: async (call) => sessionOf(call, call.access.principal.name === '' ? null : call.access),
})

const beginSession: Operation = operation({
  id: 'session.begin',
  method: 'POST',
  path: '/session',
  summary: 'Changes a token, or a name with its password, for a session cookie.',
  role: null,
  reach: null,
  isAudited: true,
  isServerWide: true,
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: z.union([
    z.strictObject({ token: textUpTo(500).min(1) }),
    z.strictObject({ name: textUpTo(200).min(1), password: textUpTo(1000).min(1) }),
  ]),
  answer: z.strictObject({ name: z.string() }),
  async handle({ body, parts, exchange }) {
    exchange.countLogin()
    const login = await parts.authenticator.login(body)
    if (login === null) throw new SchedulerError('ERR_NOT_AUTHENTICATED', 'That is not right.')
    exchange.keepSession(login)
    return { name: login.principal.name }
  },
})

const endSession: Operation = operation({
  id: 'session.end',
  method: 'DELETE',
  path: '/session',
  summary:
    'Takes the session cookie from the browser that asks. The server keeps no sessions: a copy of the cookie holds ' +
    'until `sessionMs` has passed, or the password, the token or `sessionSecret` is changed.',
  role: null,
  reach: null,
  isServerWide: true,
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: null,
  answer: nothing,
  async handle({ exchange }) {
    exchange.keepSession(null)
    return {}
  },
})

const listSchedulers: Operation = operation({
  id: 'schedulers.list',
  method: 'GET',
  path: '/schedulers',
  summary: 'The schedulers of this server; the first one is the default.',
  role: 'viewer',
  reach: null,
  isServerWide: true,
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: null,
  answer: z.strictObject({ items: z.array(schedulerJson) }),
  async handle({ access, parts }) {
    const schedulers = [...parts.schedulers.values()]
    return { items: await Promise.all(schedulers.map((each) => schedulerToJson(each, access, parts))) }
  },
})

const getOpenApi: Operation = operation({
  id: 'openapi.get',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This description.',
  role: 'viewer',
  reach: null,
  isServerWide: true,
  jobGroups: 'visible',
  params: nothing,
  query: nothing,
  body: null,
  answer: z.record(z.string(), z.unknown()),
  handle: async ({ parts }) => parts.openApi(),
})

/** Whose events somebody may see, and which, as a text to compare. */
function seenBy(access: Access): string {
  return JSON.stringify([access.principal.name, access.groupsWith('viewer')?.toSorted()])
}

const streamEvents: Operation = operation({
  id: 'events.stream',
  method: 'GET',
  path: '/events',
  summary:
    'Events as they happen, as server-sent events. `Last-Event-ID` continues; `resync` says that some are lost.',
  role: 'viewer',
  reach: null,
  isServerWide: true,
  isStream: true,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({
    scheduler: textUpTo(500).optional().describe('Of this scheduler only.'),
    lastEventId: textUpTo(100).optional().describe('As the header, for the first connection.'),
  }),
  body: null,
  answer: z.custom<Response>(),
  async handle({ query, access, parts, exchange }) {
    if (query.scheduler !== undefined && !parts.schedulers.has(query.scheduler)) {
      throw new SchedulerError('ERR_NOT_FOUND', 'This server has no scheduler of that name.')
    }
    const isViewer = access.has('viewer')
    const seen = seenBy(access)
    return parts.streams.open({
      client: { principal: access.principal.name, address: exchange.address },
      signal: exchange.request.signal,
      lastEventId: exchange.request.headers.get('last-event-id') ?? query.lastEventId ?? null,
      isWanted: ({ event, scheduler, jobKey }) =>
        (query.scheduler === undefined || query.scheduler === scheduler) &&
        (isViewer ||
          event === 'changedElsewhere' ||
          (jobKey !== undefined && access.hasOn(jobKey.group, 'viewer'))),
      async isPermitted() {
        const principal = await parts.authenticator.authenticate(exchange.request)
        return principal !== null && seenBy(new Access(principal)) === seen
      },
    })
  },
})

export const serverOperations: readonly Operation[] = [
  getSession,
  beginSession,
  endSession,
  listSchedulers,
  getOpenApi,
  streamEvents,
]
