import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypedEvents } from '../../core/typed-events.ts'
import type { BlockStrategy, LogResult } from '../protocol/trigger-request.ts'
import type { XxlJobAdminEventMap } from './admin-events.ts'
import type { XxlJobDialect } from './executor-client.ts'
import type { XxlJobGlue, XxlJobRoute, XxlJobRunOptions } from './run-options.ts'
import type { XxlJobRunPart } from './run-sender.ts'

/** The result of `run`. */
export interface XxlJobRunResult {
  /** One; of a broadcast one for each executor. */
  readonly parts: readonly XxlJobRunPart[]
}

/** Executors of one AppName. */
export interface XxlJobExecutorGroup {
  readonly appName: string
  /** Whether the addresses were entered by hand. */
  readonly byHand: boolean
  readonly executors: readonly {
    /** As it was entered, or as the executor registered it. */
    readonly address: string
    /** How long ago it beat. Milliseconds; null where addresses were entered by hand. */
    readonly silentMs: number | null
    /** From which version of XXL-JOB on it speaks as it does; null before it has answered a run of this process. */
    readonly dialect: XxlJobDialect | null
  }[]
}

/** A job type of `xxlJob`, as it was defined in this process. */
export interface XxlJobDefinition {
  readonly jobType: string
  readonly appName: string
  readonly jobId: number
  /** Empty for a script. */
  readonly handler: string
  readonly route: XxlJobRoute
  readonly blockStrategy: BlockStrategy
  /** 0: for ever. */
  readonly timeoutSeconds: number
  /** Null for a handler. */
  readonly glue: XxlJobGlue | null
}

/** Options of `kill` of an admin of executors. */
export interface XxlJobKillOptions {
  /** The AppName of the executor. */
  readonly appName: string
  /** The address of the executor, as `executors` has it. */
  readonly address: string
  /** The job whose runs end. 1 to 2,147,483,647. */
  readonly jobId: number
}

/** Options of `readLog` of an admin of executors. */
export interface XxlJobLogOptions {
  /** The AppName of the executor. */
  readonly appName: string
  /** The address of the executor, as `executors` has it. */
  readonly address: string
  /** The run, as the result of `run` or the event `runSent` names it. */
  readonly logId: number
  /** The one of the run: executors file logs by its day. */
  readonly logDateTime: Date
  /** The first line that is wanted, 1 or more. Default 1. */
  readonly fromLine?: number
}

/** Drives executors of XXL-JOB: they register with it, and it sends them runs. */
export interface XxlJobAdmin extends AsyncDisposable {
  readonly events: TypedEvents<XxlJobAdminEventMap>
  /**
   * Sends a run to an executor, and resolves when the executor has reported that it ended well. A broadcast ends when
   * its last part has ended. A run that was sent is never sent again by itself.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   * @throws SchedulerError ERR_XXL_JOB_RUN when no executor is there, it refuses the run, or the run fails or is
   *   killed; ERR_XXL_JOB_NO_RESULT when it is not known how the run ended, and it may still run
   */
  run(options: XxlJobRunOptions): Promise<XxlJobRunResult>
  /**
   * Has an executor end the runs of a job that run and wait there. Resolves when it says that it does.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   * @throws SchedulerError ERR_XXL_JOB_RUN when the executor is not known, does not answer, or refuses
   */
  kill(options: XxlJobKillOptions): Promise<void>
  /**
   * A page of the log of a run, from a line on to what its executor has of it.
   *
   * @throws InvalidArgumentError ERR_INVALID_OPTION
   * @throws SchedulerError ERR_XXL_JOB_RUN when the executor is not known, does not answer, or refuses
   */
  readLog(options: XxlJobLogOptions): Promise<LogResult>
  /** The executors that can be called now, by AppName. */
  executors(): readonly XxlJobExecutorGroup[]
  /** The job types that `xxlJob` defined with this admin, in order of their names. */
  definitions(): readonly XxlJobDefinition[]
  /** The job types that `xxlJobFromData` defined with this admin, in order. Their jobs' data say what is sent. */
  typesFromData(): readonly string[]
  /** Answers one request of an executor, in servers of the Fetch standard. Never rejects. */
  fetch(request: Request): Promise<Response>
  /** Answers one request of an executor, in servers of `node:http` and in Express, before anything reads its body. */
  listener(request: IncomingMessage, response: ServerResponse): void
  /**
   * Gives up the runs whose results are waited for, and takes no more of anything. Executors of Java and of this
   * package keep results that are refused, and send them again. May be called again.
   */
  close(): Promise<void>
}
