import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { checkName, checkOptions, checkWhole } from '../../core/arguments.ts'
import { SchedulerError } from '../../core/errors.ts'
import { unawaited } from '../../core/promises.ts'
import { logThrown } from '../../core/thrown-value.ts'
import { TypedEventEmitter, type TypedEvents } from '../../core/typed-events.ts'
import { closeServer } from '../../time/http-server.ts'
import { Poster } from '../protocol/post.ts'
import { AdminClient } from './admins/admin-client.ts'
import { Admins } from './admins/admins.ts'
import { Registration } from './admins/registration.ts'
import { executorEventNames, type XxlJobExecutorEventMap } from './executor-events.ts'
import type { XxlJobCloseOptions, XxlJobExecutor, XxlJobExecutorStatus } from './executor-face.ts'
import { ExecutorOperations } from './executor-operations.ts'
import {
  type ResolvedExecutorOptions,
  resolveExecutorOptions,
  type XxlJobExecutorOptions,
} from './executor-options.ts'
import { HandlerRegistry } from './handlers/handler-registry.ts'
import { WorkerHandlers } from './handlers/worker-runner.ts'
import type { XxlJobHandler } from './handlers/xxl-job-handler.ts'
import { HttpFace } from './http/http-face.ts'
import { addressOf, listen, portOf } from './http/listening.ts'
import { JobLanes } from './lanes/job-lanes.ts'
import { JobLogs } from './logs/job-logs.ts'
import { cleanDaily } from './logs/log-cleaner.ts'
import { ResultSender } from './results/result-sender.ts'
import { ResultStore } from './results/result-store.ts'
import { RunEnds } from './results/run-ends.ts'

/** How long a shutdown sends results; those that are left are on disk. */
const sendingMs = 10_000
const defaultDrainMs = 10_000
const closeChecks = { timeoutMs: checkWhole(0, 86_400_000) }

/** The token of XXL-JOB's own samples, which attackers know. */
const sampleToken = 'default_token'

class Executor implements XxlJobExecutor {
  readonly #options: ResolvedExecutorOptions
  readonly #events: TypedEventEmitter<XxlJobExecutorEventMap>
  readonly #threads: WorkerHandlers
  readonly #handlers: HandlerRegistry
  readonly #logs: JobLogs
  #stopCleaning: () => void = () => {}
  readonly #admins: Admins
  readonly #results: ResultSender
  readonly #lanes: JobLanes
  readonly #operations: ExecutorOperations
  readonly #face: HttpFace
  #state: XxlJobExecutorStatus['state'] = 'new'
  #starting: Promise<void> | null = null
  #server: Server | null = null
  #registration: Registration | null = null
  #address: string | null = null
  #closing: Promise<void> | null = null

  constructor(options: ResolvedExecutorOptions) {
    this.#options = options
    const { clock, logger, logPath, appName, basePath } = options
    this.#events = new TypedEventEmitter(logger, executorEventNames)
    const events = this.#events
    this.#threads = new WorkerHandlers(options)
    this.#handlers = new HandlerRegistry(this.#threads, options)
    this.#handlers.addAll('createXxlJobExecutor', options.handlers, options.instances)
    this.#logs = new JobLogs(options)
    const poster = new Poster()
    const clients = options.adminAddresses.map((address) => new AdminClient(address, { ...options, poster }))
    this.#admins = new Admins(clients, options.callbackShape)
    // Executors of several applications may share the folder.
    const folder = join(logPath, 'callbacklogs', `app-${encodeURIComponent(appName)}`)
    const store = new ResultStore(folder, clock, logger)
    const [admins, logs] = [this.#admins, this.#logs]
    this.#results = new ResultSender({ store, admins, logs, clock, logger, events })
    const ends = new RunEnds({ logs, results: this.#results, events })
    this.#lanes = new JobLanes({
      ...options,
      runStarted: ({ facts: { jobId, logId } }) => {
        events.emit('runStarted', { jobId, logId })
      },
      runsEnded: (dropped) => {
        ends.add(dropped)
      },
    })
    this.#operations = new ExecutorOperations({
      ...options,
      handlers: this.#handlers,
      lanes: this.#lanes,
      logs,
      results: this.#results,
      admins,
      ends,
      scriptFolder: join(logPath, 'gluesource'),
    })
    const { accessToken } = options
    this.#face = new HttpFace({ operations: this.#operations, appName, accessToken, basePath, logger })
  }

  get events(): TypedEvents<XxlJobExecutorEventMap> {
    return this.#events
  }

  async start(): Promise<void> {
    if (this.#state !== 'new') {
      const message = `The executor '${this.#options.appName}' was started already, or is closed; make another one.`
      throw new SchedulerError('ERR_XXL_JOB_EXECUTOR', message)
    }
    this.#state = 'running'
    this.#starting = this.#start()
    try {
      await this.#starting
    } catch (error) {
      await this.close({ timeoutMs: 0 })
      throw error
    }
  }

  registerHandler(name: string, handler: XxlJobHandler): void {
    checkName('registerHandler', 'name', name)
    this.#handlers.add('registerHandler', 'handler', name, handler)
  }

  fetch(request: Request): Promise<Response> {
    return this.#face.fetch(request)
  }

  listener(request: IncomingMessage, response: ServerResponse): void {
    unawaited(this.#face.listener(request, response), (error) => {
      logThrown(this.#options.logger, error, 'a request of an XXL-JOB admin was not answered')
    })
  }

  status(): XxlJobExecutorStatus {
    const lastBeatMs = this.#registration?.lastBeatMs ?? null
    return {
      state: this.#state,
      address: this.#address,
      lastBeat: lastBeatMs === null ? null : new Date(lastBeatMs),
      admins: [...this.#admins.shapes].map(([address, shape]) => ({
        address,
        version: shape === null ? null : shape === 'array' ? 'before-3.5' : '3.5',
      })),
      handlers: this.#handlers.names,
      jobs: this.#lanes.lanes.map(({ jobId, runner, current, queueLength }) => ({
        jobId,
        handler: runner.name,
        runningLogId: current?.logId ?? null,
        runningSince: current === null ? null : new Date(current.startedMs),
        queued: queueLength,
      })),
      waitingResults: this.#results.size,
    }
  }

  async close(options: XxlJobCloseOptions = {}): Promise<void> {
    checkOptions('close', options, closeChecks)
    this.#closing ??= this.#close(options.timeoutMs ?? defaultDrainMs)
    await this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** In the order of Java executors: an admin hears of this one when it can answer. */
  async #start(): Promise<void> {
    const { accessToken, appName, port, host, basePath, clock, logger } = this.#options
    if (accessToken === sampleToken) {
      const message =
        'the access token is the one of the samples of XXL-JOB, which everybody knows; choose another'
      logger.warn({ appName }, message)
    }
    await this.#logs.prepare()
    this.#stopCleaning = cleanDaily(this.#logs, clock)
    this.#results.start()
    this.#operations.open()
    if (port !== null) {
      this.#server = await listen(
        (request, response) => {
          this.listener(request, response)
        },
        host,
        port,
      )
    }
    const own = this.#server === null ? '' : addressOf(host, portOf(this.#server)) + basePath.slice(1)
    this.#address = this.#options.address ?? own
    this.#registration = new Registration({
      admins: this.#admins,
      appName,
      address: this.#address,
      clock,
      logger,
      events: this.#events,
      onBeat: () => {
        this.#results.adminIsBack()
      },
    })
    this.#registration.start()
  }

  async #close(drainMs: number): Promise<void> {
    const { interruptGraceMs, clock, logger, appName } = this.#options
    await this.#starting?.catch(() => {})
    this.#state = 'closing'
    this.#operations.beginClose()
    const removed = this.#registration?.stop()
    await this.#lanes.idle(drainMs)
    const left = await this.#lanes.stop('web container destroy and kill the job.', interruptGraceMs)
    if (left > 0) logger.warn({ appName, runs: left }, 'XXL-JOB runs did not end when they were asked to')
    await removed
    await this.#results.stop(sendingMs)
    // Until here admins could look at logs and kill what took too long.
    if (this.#server !== null) await closeServer(this.#server, clock)
    this.#stopCleaning()
    await this.#threads.close()
    this.#state = 'closed'
  }
}

/**
 * Makes an executor for XXL-JOB. It needs no scheduler and no database: an admin of XXL-JOB, of version 2.2 or later,
 * has the plan, and sends each run to one of the executors that are registered with it.
 *
 * @example
 * const executor = createXxlJobExecutor({
 *   adminAddresses: 'http://xxl-job.example.com',
 *   appName: 'billing-executor',
 *   accessToken: process.env.XXL_JOB_TOKEN,
 *   handlers: { invoices: async (context) => { context.log('for {}', context.param) } },
 * })
 * await executor.start()
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is missing, unknown or wrong; there has to be
 *   `accessToken`, if only null
 * @throws SchedulerError ERR_WORKER_MODULE when the threads cannot load the module of a handler
 */
export function createXxlJobExecutor(options: XxlJobExecutorOptions): XxlJobExecutor {
  return new Executor(resolveExecutorOptions(options))
}
