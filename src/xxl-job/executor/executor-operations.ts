import { beginningOf } from '../../core/text-beginning.ts'
import type { Clock } from '../../time/clock.ts'
import type { CallbackShape } from '../protocol/callback.ts'
import { failure, type Reply, success } from '../protocol/reply.ts'
import {
  glueTypes,
  isGlueType,
  readJobId,
  readLogRequest,
  readTriggerRequest,
  type TriggerRequest,
} from '../protocol/trigger-request.ts'
import type { Admins } from './admins/admins.ts'
import type { HandlerRegistry } from './handlers/handler-registry.ts'
import type { JobRunner } from './handlers/job-runner.ts'
import type { JobLanes } from './lanes/job-lanes.ts'
import type { AcceptedRun } from './lanes/job-run.ts'
import type { JobLogs } from './logs/job-logs.ts'
import type { ResultSender } from './results/result-sender.ts'
import type { RunEnds } from './results/run-ends.ts'
import { ScriptRunner, scriptTypes, type XxlJobScript } from './scripts/script-runner.ts'

export interface OperationsOptions {
  readonly handlers: HandlerRegistry
  readonly lanes: JobLanes
  readonly logs: JobLogs
  readonly results: ResultSender
  readonly admins: Admins
  readonly ends: RunEnds
  /** The kinds of scripts that may run. */
  readonly scripts: ReadonlySet<string>
  readonly scriptFolder: string
  readonly interruptGraceMs: number
  readonly maxResults: number
  readonly clock: Clock
}

/** What admins can ask of the executor. */
export class ExecutorOperations {
  readonly #options: OperationsOptions
  /** Why no run is accepted; null while they are. */
  #closed: string | null = 'the executor has not started.'

  constructor(options: OperationsOptions) {
    this.#options = options
  }

  /** From now on runs are accepted: results have their place. */
  open(): void {
    this.#closed = null
  }

  /** From now on no run is accepted; admins that look for an executor are told to go on. */
  beginClose(): void {
    this.#closed = 'the executor shuts down.'
  }

  /** A request came as admins of that kind send it. */
  saw(shape: CallbackShape): void {
    this.#options.admins.saw(shape)
  }

  beat(): Reply {
    return this.#closed === null ? success() : failure(this.#closed)
  }

  /** @throws MalformedRequest */
  idleBeat(body: string): Reply {
    const jobId = readJobId(body)
    if (this.#closed !== null) return failure(this.#closed)
    return this.#options.lanes.isBusy(jobId)
      ? failure('job thread is running or has trigger queue.')
      : success()
  }

  /** @throws MalformedRequest */
  run(body: string): Reply {
    const { lanes, results, maxResults, clock } = this.#options
    const request = readTriggerRequest(body, clock.now())
    if (this.#closed !== null) return failure(this.#closed)
    const runner = this.#runnerOf(request)
    if (typeof runner === 'string') return failure(runner)
    if (results.size + lanes.dropping >= maxResults) {
      return failure(`the executor is full: ${maxResults} results wait for an admin (maxResults).`)
    }
    return lanes.run({
      jobId: request.jobId,
      logId: request.logId,
      param: request.executorParams,
      blockStrategy: request.blockStrategy,
      runner,
      accept: () => this.#accept(request, runner),
    })
  }

  /** @throws MalformedRequest */
  kill(body: string): Reply {
    const wasThere = this.#options.lanes.kill(readJobId(body), 'scheduling center kill job.')
    return wasThere ? success() : success(null, 'job thread already killed.')
  }

  /** @throws MalformedRequest */
  async log(body: string): Promise<Reply> {
    return success(await this.#options.logs.read(readLogRequest(body, this.#options.clock.now())))
  }

  /** Or why there is none. */
  #runnerOf(request: TriggerRequest): JobRunner | string {
    const { handlers, scripts, scriptFolder, interruptGraceMs, clock } = this.#options
    const { glueType, executorHandler, jobId, glueUpdatetime, glueSource } = request
    if (glueType === 'BEAN') {
      return handlers.find(executorHandler) ?? `job handler [${beginningOf(executorHandler, 200)}] not found.`
    }
    if (!isGlueType(glueType)) return `glueType[${beginningOf(glueType, 200)}] is not valid.`
    if (!isScript(glueType) || !scripts.has(glueType)) {
      return `fail, current glue type [${glueTypes[glueType]}] not supported.`
    }
    const options = { folder: scriptFolder, interruptGraceMs, clock }
    return new ScriptRunner(glueType, jobId, glueUpdatetime, glueSource, options)
  }

  #accept(request: TriggerRequest, { name }: JobRunner): AcceptedRun {
    const { logs, ends } = this.#options
    const { jobId, logId, logDateTimeMs } = request
    const log = logs.open(logId, logDateTimeMs, `[${name}]-[${jobId}]-[${logId}]`)
    const facts = {
      jobId,
      logId,
      logDateTimeMs,
      handler: name,
      param: request.executorParams,
      shardIndex: request.broadcastIndex,
      shardTotal: request.broadcastTotal,
      logFileName: log.path,
    }
    return {
      facts,
      timeoutSeconds: request.executorTimeout,
      log,
      ended: (handleCode, handleMsg) => {
        ends.add([{ facts, log, handleCode, handleMsg }])
      },
    }
  }
}

function isScript(glueType: string): glueType is XxlJobScript {
  return scriptTypes.some((each) => each === glueType)
}
