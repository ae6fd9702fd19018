import { randomInt } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkDate, checkName, checkObject, checkOptions, checkWhole } from '../../core/arguments.ts'
import { SchedulerError } from '../../core/errors.ts'
import { unawaited } from '../../core/promises.ts'
import { logThrown } from '../../core/thrown-value.ts'
import { TypedEventEmitter, type TypedEvents } from '../../core/typed-events.ts'
import type { JobStoreNotes } from '../../jobs/job-store-notes.ts'
import type { ResultTaker } from '../../jobs/remote-job.ts'
import { RateLimit } from '../../time/rate-limit.ts'
import { accessTokenHeader } from '../protocol/callback.ts'
import { MessageReader } from '../protocol/message-reader.ts'
import { isHttpUrl } from '../protocol/option-checks.ts'
import { Poster } from '../protocol/post.ts'
import { failure, type Reply, success, xxlJobCodes } from '../protocol/reply.ts'
import { type Incoming, pathBelow, ReplyServer, unmapped } from '../protocol/reply-server.ts'
import { type LogResult, readLogResult } from '../protocol/trigger-request.ts'
import { AdminAccess, type Bearer } from './admin-access.ts'
import { adminEventNames, type XxlJobAdminEventMap, type XxlJobRunPlace } from './admin-events.ts'
import type {
  XxlJobAdmin,
  XxlJobDefinition,
  XxlJobExecutorGroup,
  XxlJobKillOptions,
  XxlJobLogOptions,
  XxlJobRunResult,
} from './admin-face.ts'
import {
  addressLengthMax,
  checkAppName,
  isAppName,
  type ResolvedAdminOptions,
  resolveAdminOptions,
  type XxlJobAdminOptions,
} from './admin-options.ts'
import type { ExecutorAnswer, ExecutorClient } from './executor-client.ts'
import { ExecutorRegistry } from './executor-registry.ts'
import { referenceOf } from './remote-place.ts'
import { RemoteResults } from './remote-results.ts'
import { ResultDesk, readCallback } from './result-desk.ts'
import { RouteCounters } from './route-counters.ts'
import { checkJobId, resolveRun, type XxlJobRunOptions } from './run-options.ts'
import { RunSender } from './run-sender.ts'
import { SharedRegistry } from './shared-registry.ts'

const wrongToken = 'The access token is wrong.'
const placeChecks = { appName: checkAppName, address: checkName }
const killChecks = { ...placeChecks, jobId: checkJobId }
const logIdCheck = checkWhole(1, Number.MAX_SAFE_INTEGER)
const logChecks = {
  ...placeChecks,
  logId: logIdCheck,
  logDateTime: checkDate,
  fromLine: checkWhole(1, Number.MAX_SAFE_INTEGER),
}
/** All versions take it, and some want each of the fields. */
const taken: Reply = { code: xxlJobCodes.success, msg: null, content: null }

/** What `createXxlJobAdmin` returns, with what `xxlJob` needs of it. */
export class Admin implements XxlJobAdmin {
  readonly #options: ResolvedAdminOptions
  readonly #events: TypedEventEmitter<XxlJobAdminEventMap>
  readonly #registry: ExecutorRegistry
  readonly #desk = new ResultDesk()
  readonly sender: RunSender
  readonly #counters: RouteCounters
  readonly #remote: RemoteResults
  readonly #definitions = new Map<string, XxlJobDefinition>()
  readonly #typesFromData = new Set<string>()
  readonly #shared: SharedRegistry
  readonly #server: ReplyServer
  readonly #access: AdminAccess
  readonly #rateLimit: RateLimit
  /** Of requests that are admitted. */
  readonly #bearers = new WeakMap<Incoming, Bearer>()
  #isClosed = false

  constructor(options: ResolvedAdminOptions) {
    this.#options = options
    const { logger, clock, callTimeoutMs } = options
    this.#access = new AdminAccess(options)
    this.#rateLimit = new RateLimit(options.requestsPerMinute, clock)
    this.#events = new TypedEventEmitter(logger, adminEventNames)
    this.#remote = new RemoteResults(clock)
    this.#registry = new ExecutorRegistry({
      ...options,
      timeoutMs: callTimeoutMs,
      poster: new Poster(),
      tokenOf: (appName) => this.#access.tokenOf(appName),
    })
    this.#shared = new SharedRegistry({
      ...options,
      registry: this.#registry,
      isOpenTo: (appName) => this.#access.tokenOf(appName) !== null,
    })
    this.#counters = new RouteCounters({ clock, logger, random: (bound) => randomInt(bound) })
    this.sender = new RunSender({
      ...options,
      registry: this.#registry,
      desk: this.#desk,
      counters: this.#counters,
      events: this.#events,
    })
    this.#server = new ReplyServer({
      sender: 'executor',
      refusalOf: (incoming) => this.#refusalOf(incoming),
      call: (incoming, body) => this.#call(incoming, body),
      refusesDamaged: false,
      logger,
    })
  }

  get events(): TypedEvents<XxlJobAdminEventMap> {
    return this.#events
  }

  async run(options: XxlJobRunOptions): Promise<XxlJobRunResult> {
    return { parts: await this.sender.run(resolveRun(options)) }
  }

  async kill(options: XxlJobKillOptions): Promise<void> {
    checkAll('kill', options, killChecks, ['appName', 'address', 'jobId'])
    const { jobId } = options
    await this.#ask(options, (client) => client.kill(jobId))
  }

  async readLog(options: XxlJobLogOptions): Promise<LogResult> {
    checkAll('readLog', options, logChecks, ['appName', 'address', 'logId', 'logDateTime'])
    const { logId, logDateTime, fromLine = 1 } = options
    const content = await this.#ask(options, (client) => client.log(logId, logDateTime.getTime(), fromLine))
    const page = readLogResult(content)
    if (page !== null) return page
    const message = `The XXL-JOB executor at ${options.address} answered something that is no page of a log.`
    throw new SchedulerError('ERR_XXL_JOB_RUN', message)
  }

  executors(): readonly XxlJobExecutorGroup[] {
    return this.#registry.appNames.map((appName) => ({
      appName,
      byHand: this.#registry.isByHand(appName),
      executors: this.#registry.clientsOf(appName).map(({ address, dialect }) => ({
        address,
        dialect,
        silentMs: this.#registry.isByHand(appName) ? null : this.#registry.silentMs(appName, address),
      })),
    }))
  }

  /** How many executors of an AppName can be called now. */
  countOf(appName: string): number {
    return this.#registry.clientsOf(appName).length
  }

  definitions(): readonly XxlJobDefinition[] {
    return [...this.#definitions.values()].sort((one, other) => (one.jobType < other.jobType ? -1 : 1))
  }

  /** What is defined twice counts as it was defined last. */
  define(definition: XxlJobDefinition): void {
    this.#definitions.set(definition.jobType, Object.freeze(definition))
  }

  typesFromData(): readonly string[] {
    return [...this.#typesFromData].sort()
  }

  defineFromData(jobType: string): void {
    this.#typesFromData.add(jobType)
  }

  fetch(request: Request): Promise<Response> {
    return this.#server.fetch(request)
  }

  listener(request: IncomingMessage, response: ServerResponse): void {
    unawaited(this.#server.listener(request, response), (error) => {
      logThrown(this.#options.logger, error, 'a request of an XXL-JOB executor was not answered')
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.sender.close()
    await this.#shared.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #refusalOf(incoming: Incoming): string | null {
    if (incoming.method !== 'POST') return 'invalid request, HttpMethod not support.'
    if (this.#rateLimit.take(incoming.client) > 0) return 'Too many requests, please try again later.'
    const bearer = this.#access.bearerOf(incoming.header(accessTokenHeader))
    if (bearer === null) return wrongToken
    this.#bearers.set(incoming, bearer)
    return this.#isClosed ? 'the admin shuts down.' : null
  }

  #call(incoming: Incoming, body: string): Reply | Promise<Reply> {
    const bearer = this.#bearers.get(incoming)
    if (bearer === undefined) return failure(wrongToken)
    // Executors up to 3.4.0 have the folder of the admin's web application in its address.
    switch (pathBelow(this.#options.basePath, incoming).replace(/^\/xxl-job-admin(?=\/)/, '')) {
      case '/api/callback':
        return this.#takeResults(body, bearer)
      case '/api/registry':
        return this.#register(body, bearer)
      case '/api/registryRemove':
        return this.#remove(body, bearer)
      default:
        return unmapped(incoming)
    }
  }

  /**
   * The schedulers of jobs of this admin take the results of their runs, and share with other nodes its executors and
   * what routes remember. Returns what ends that.
   */
  connect(scheduler: ResultTaker, notes: JobStoreNotes | null): () => void {
    this.#remote.connect(scheduler)
    if (notes === null) return () => {}
    this.#shared.connect(notes)
    this.#counters.connect(notes)
    return () => {
      this.#shared.disconnect(notes)
      this.#counters.disconnect(notes)
    }
  }

  /** What a run is reported under: executors with another token cannot name it. */
  referenceOf({ appName, logId }: XxlJobRunPlace): string {
    return referenceOf(this.#access.groupOf(appName), logId)
  }

  /** A scheduler awaits the result of a run for so long. */
  expectResult(timeoutMs: number): void {
    this.#remote.expect(timeoutMs)
  }

  /** Has the executor of a run end the runs of its job. @throws SchedulerError ERR_XXL_JOB_RUN */
  async stop({ appName, address, jobId }: XxlJobRunPlace): Promise<void> {
    const answer = await this.#registry.clientOfRun(appName, address).kill(jobId)
    contentOf(address, answer)
  }

  /**
   * Also results that no caller waits for are taken: executors repeat for ever what is refused. What a scheduler could
   * not write is refused, so that it is repeated.
   */
  async #takeResults(body: string, bearer: Bearer): Promise<Reply> {
    let refused = 0
    const others = readCallback(body).filter((result) => {
      const outcome = this.#desk.settle(result, bearer)
      if (outcome === 'refused') refused++
      return outcome === 'late'
    })
    if (refused > 0) {
      this.#options.logger.warn({ refused }, 'results came with the token of other XXL-JOB executors')
    }
    const ends = await Promise.allSettled(others.map((result) => this.#remote.report(result, bearer)))
    for (const [index, end] of ends.entries()) {
      const result = others[index]
      if (end.status === 'rejected') throw end.reason
      if (!end.value && result !== undefined) this.#events.emit('resultLate', result)
    }
    return taken
  }

  #register(body: string, bearer: Bearer): Reply {
    const { maxExecutors, logger } = this.#options
    // What has registered was checked then, and beats for ever.
    const place = readPlace(body, (appName, address) => this.#registry.has(appName, address))
    if (place === null) return failure('Illegal Argument.')
    const { appName, address } = place
    if (this.#access.tokenOf(appName) === null) {
      return failure('the admin has no access token, so that no executor can register.')
    }
    if (!bearer.mayActFor(appName)) return failure(wrongToken)
    const outcome = this.#registry.beat(appName, address)
    if (outcome === 'full') {
      logger.warn({ appName, address, maxExecutors }, 'an XXL-JOB executor was refused: there are too many')
      return failure(`the admin is full: ${maxExecutors} executors are registered (maxExecutors).`)
    }
    if (outcome !== 'known') this.#shared.changed()
    if (outcome === 'new') this.#events.emit('executorRegistered', { appName, address })
    return success()
  }

  #remove(body: string, bearer: Bearer): Reply {
    const place = readPlace(body)
    if (place === null) return failure('Illegal Argument.')
    if (!bearer.mayActFor(place.appName)) return failure(wrongToken)
    const wasKnown = this.#registry.remove(place.appName, place.address)
    // Also of one that has just registered with another node.
    this.#shared.changed()
    if (wasKnown) this.#events.emit('executorRemoved', place)
    return success()
  }

  /** The content of a good answer of an executor that is known. */
  async #ask(
    { appName, address }: { readonly appName: string; readonly address: string },
    send: (client: ExecutorClient) => Promise<ExecutorAnswer>,
  ): Promise<unknown> {
    const client = this.#registry.clientsOf(appName).find((each) => each.address === address)
    if (client === undefined) {
      throw new SchedulerError(
        'ERR_XXL_JOB_RUN',
        `No executor of '${appName}' is registered at '${address}'.`,
      )
    }
    return contentOf(address, await send(client))
  }
}

/** @throws SchedulerError ERR_XXL_JOB_RUN unless it is a good answer */
function contentOf(address: string, answer: ExecutorAnswer): unknown {
  if (answer.kind !== 'answered') throw answer.error
  const { code, msg, content } = answer.reply
  if (code === xxlJobCodes.success) return content
  throw new SchedulerError('ERR_XXL_JOB_RUN', `The XXL-JOB executor at ${address} refused: ${msg ?? code}`)
}

/** Null for fields that are blank, or that no executor has. @throws MalformedRequest */
function readPlace(
  body: string,
  isKnown: (appName: string, address: string) => boolean = () => false,
): { readonly appName: string; readonly address: string } | null {
  const fields = new MessageReader(body)
  const group = fields.text('registryGroup')?.trim() ?? ''
  const appName = fields.text('registryKey')
  const address = fields.text('registryValue')
  if (group === '' || appName === null || address === null) return null
  if (isKnown(appName, address)) return { appName, address }
  if (!isAppName(appName) || address.length > addressLengthMax || !isHttpUrl(address)) return null
  return { appName, address }
}

function checkAll<Options extends object>(
  method: string,
  options: Options,
  checks: Readonly<Record<string, Parameters<typeof checkOptions>[2][string]>>,
  required: readonly (keyof Options & string)[],
): void {
  checkObject(method, 'options', options, 'ERR_INVALID_OPTION')
  checkOptions(method, options, checks)
  for (const name of required) checks[name]?.(method, name, options[name], 'ERR_INVALID_OPTION')
}

/**
 * Makes an admin of executors of XXL-JOB, of version 2.2 or later and in any language. It is mounted in a server by
 * `fetch` or `listener`; executors register with it, and report there how runs ended. Each node of a cluster needs an
 * admin with an address of its own; those with jobs of `xxlJob` tell each other which executors live.
 *
 * @example
 * const admin = createXxlJobAdmin({ accessToken: process.env.XXL_JOB_TOKEN })
 * createServer((request, response) => admin.listener(request, response)).listen(8080)
 * await admin.run({ appName: 'billing', jobId: 17, handler: 'invoices', route: 'FAILOVER' })
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is missing, unknown or wrong; there has to be
 *   `accessToken`, if only null
 */
export function createXxlJobAdmin(options: XxlJobAdminOptions): XxlJobAdmin {
  return new Admin(resolveAdminOptions(options))
}
