import { hostname } from 'node:os'
import { SchedulerError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import { textOf } from '../../core/thrown-value.ts'
import type { JobStore } from '../../jobstore/job-store.ts'
import { SqlJobStore } from '../../jobstore/sql/sql-job-store.ts'
import { createScheduler } from '../../scheduler/create-scheduler.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { createServer } from '../../server/create-server.ts'
import type { SchedulerServer } from '../../server/server-face.ts'
import { zeroSizeThreadPool } from '../../threadpool/in-process-thread-pool.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { ApiClient } from './api-client.ts'

/** The name under which the API is mounted in this process: no request leaves it. */
const base = 'http://localhost'

export interface Attachment {
  /** Null for the default one. */
  readonly schedulerName: string | null
  /** What the client does may be the first of a scheduler of this name. */
  readonly mayBeNew: boolean
}

/** How many names a message has. */
const namedMax = 5

/**
 * A name that was misspelt is no empty scheduler, unless the store is empty.
 *
 * @throws CommandFailure
 */
async function requireScheduler(store: JobStore, name: string): Promise<void> {
  if (!(store instanceof SqlJobStore)) return
  const others = await store.otherSchedulers(namedMax + 1)
  if (others.length === 0) return
  const named = others.slice(0, namedMax).map((other) => `'${other}'`)
  if (others.length > namedMax) named.push('more')
  throw new CommandFailure(
    exitCodes.notFound,
    `The store has nothing of a scheduler '${name}'. It has ${named.join(', ')}: name one with --scheduler.`,
  )
}

/**
 * A client of a server in this process, attached to the data of a store: it fires nothing, checks in nowhere and may do
 * everything, because the user has the database.
 */
export async function attachedClient(
  store: JobStore,
  { schedulerName, mayBeNew }: Attachment,
  host: CliHost,
): Promise<ApiClient> {
  const problems = new ProblemLog()
  const scheduler = await createScheduler({
    jobStore: store,
    threadPool: zeroSizeThreadPool(),
    instanceId: `${hostname()}-cli-${process.pid}`,
    clock: host.clock,
    logger: problems.logger,
    ...(schedulerName !== null && { schedulerName }),
  })
  // What is written as the client closes, such as the audit, has no answer that says that it failed.
  scheduler.events.on('schedulerError', ({ message, error }) => {
    // The command fails for the same reason, and says it.
    if (problems.isOfRequest(error)) return
    host.stderr.write(`quartz-ts: ${message} ${error.message}\n`)
  })
  try {
    if (!mayBeNew) await requireScheduler(store, scheduler.schedulerName)
    const server = await createServer({
      scheduler,
      auth: {
        kind: 'hook',
        authenticate: () => ({ name: `${host.userName} (command line)`, role: 'admin' }),
      },
      dashboard: false,
      requestsPerMinute: 1_000_000,
      maxBodyBytes: 67_108_864,
      logger: problems.logger,
      // That of the store, where it has one: the clock of this machine may be wrong.
      clock: scheduler.clock,
    })
    return clientOf(scheduler, server, problems, host)
  } catch (error) {
    await scheduler.shutdown()
    throw error
  }
}

function clientOf(
  scheduler: Scheduler,
  server: SchedulerServer,
  problems: ProblemLog,
  { clock }: CliHost,
): ApiClient {
  return new ApiClient({
    base,
    schedulerName: null,
    headers: {},
    send: (request) => server.fetch(request),
    // The store has its own limits for statements and locks.
    timeoutMs: 3_600_000,
    clock,
    authRemedy: '',
    failure: (said, status) => problems.explain(said, status),
    close: async () => {
      await server.close()
      await scheduler.shutdown()
    },
  })
}

/** Keeps what the server and the scheduler log last: the reason of an answer that does not give it. */
class ProblemLog {
  #last = ''
  /** Why the last request that failed did. */
  #ofRequest = ''
  /** Whether the database refused a statement of it. */
  #isRefused = false

  readonly logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => {
      this.#note(fields, message)
    },
    error: (fields, message) => {
      this.#note(fields, message)
    },
  }

  /** Of what fails unexpectedly the server says only that its log has it, which is this one. */
  explain(said: string, status: number): string {
    const reason = this.#ofRequest === '' ? this.#last : this.#ofRequest
    if (said.includes(reason)) return said
    return status === 500 ? reason : `${said} ${reason}`
  }

  /** A database that refuses the change often refuses its record as well, which is no second problem to begin with. */
  isOfRequest(error: unknown): boolean {
    if (this.#isRefused && isRefusal(error)) return true
    return this.#ofRequest !== '' && this.#ofRequest === shownTextOf(error)
  }

  #note(fields: object, message: string): void {
    const { err, request } = fields as { readonly err?: unknown; readonly request?: unknown }
    this.#last = err === undefined || err === null ? `(${message})` : shownTextOf(err)
    if (request === undefined) return
    this.#ofRequest = this.#last
    this.#isRefused = isRefusal(err)
  }
}

function isRefusal(error: unknown): boolean {
  return SchedulerError.is(error) && error.code === 'ERR_DATABASE'
}

/** As answers show it, so that both can be compared. */
function shownTextOf(error: unknown): string {
  return withoutSecrets(textOf(error))
}
