import {
  type ArgumentCheck,
  checkDate,
  checkName,
  checkObject,
  checkOneOf,
  checkOptions,
  checkRecord,
  checkString,
  checkThat,
  checkWhole,
} from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'
import { timerDelayMaxMs } from '../../time/clock.ts'
import { type BlockStrategy, blockStrategies, type GlueType, glueTypes } from '../protocol/trigger-request.ts'
import { checkAppName } from './admin-options.ts'

/** How the executor of a run is chosen, as XXL-JOB has it. */
export type XxlJobRoute =
  | 'FIRST'
  | 'LAST'
  | 'ROUND'
  | 'RANDOM'
  | 'CONSISTENT_HASH'
  | 'LEAST_FREQUENTLY_USED'
  | 'LEAST_RECENTLY_USED'
  | 'FAILOVER'
  | 'BUSYOVER'
  | 'SHARDING_BROADCAST'

/** Options of `run` of an admin of executors. */
export interface XxlJobRunOptions {
  /** The AppName of the executors. */
  readonly appName: string
  /**
   * The number by which executors tell jobs apart: they queue, replace and kill runs of one number. 1 to
   * 2,147,483,647.
   */
  readonly jobId: number
  /** The JobHandler. Left out only with `glue`. */
  readonly handler?: string
  /** The parameter of the run. Default ''. */
  readonly param?: string
  /**
   * `FIRST`, `LAST`, `ROUND`, `RANDOM`, `CONSISTENT_HASH`, `LEAST_FREQUENTLY_USED`, `LEAST_RECENTLY_USED`, `FAILOVER`
   * (the first that answers a beat), `BUSYOVER` (the first that does not run the job) or `SHARDING_BROADCAST` (all,
   * each with its part). Default `FIRST`.
   */
  readonly route?: XxlJobRoute
  /**
   * What an executor does that runs the job already: `SERIAL_EXECUTION` queues, `DISCARD_LATER` refuses, `COVER_EARLY`
   * ends what runs. Default `SERIAL_EXECUTION`.
   */
  readonly blockStrategy?: BlockStrategy
  /** How long the executor lets the run go on. Seconds, 0 to 2,147,483, default 0, which is for ever. */
  readonly timeoutSeconds?: number
  /** A script or class that the executor is sent in place of a handler. Default none. */
  readonly glue?: XxlJobGlue
  /**
   * One part alone, as when one part of a broadcast is repeated: it is sent to the executor at that place, or to the
   * first one when there are fewer. In place of `route`. Default none.
   */
  readonly shard?: { readonly index: number; readonly total: number }
  /**
   * One executor alone, by its address as `executors` of the admin has it. In place of `route`. Default none.
   */
  readonly address?: string
  /**
   * How long the result may take; then the run is given up with ERR_XXL_JOB_NO_RESULT. Milliseconds, 1,000 to
   * 2,147,483,647, default 3,600,000, which is an hour.
   */
  readonly resultTimeoutMs?: number
  /** Aborted: the executors are told to kill the job, and the run is given up. Default none. */
  readonly signal?: AbortSignal
}

/** Code that an executor is sent. */
export interface XxlJobGlue {
  /** Such as `GLUE_SHELL`; not `BEAN`. */
  readonly type: Exclude<GlueType, 'BEAN'>
  readonly source: string
  /** When the source was changed, also as epoch milliseconds: executors replace what they have when it differs. */
  readonly updated: Date | number
}

export type ResolvedRun = Required<Omit<XxlJobRunOptions, 'address' | 'glue' | 'shard' | 'signal'>> &
  Pick<XxlJobRunOptions, 'address' | 'glue' | 'shard' | 'signal'>

const routes: Readonly<Record<XxlJobRoute, true>> = {
  FIRST: true,
  LAST: true,
  ROUND: true,
  RANDOM: true,
  CONSISTENT_HASH: true,
  LEAST_FREQUENTLY_USED: true,
  LEAST_RECENTLY_USED: true,
  FAILOVER: true,
  BUSYOVER: true,
  SHARDING_BROADCAST: true,
}
const checkUpdated: ArgumentCheck = (method, argument, value, code) => {
  const check = typeof value === 'number' ? checkWhole(0, Number.MAX_SAFE_INTEGER) : checkDate
  check(method, argument, value, code)
}
const glueChecks = {
  type: checkOneOf(Object.keys(glueTypes).filter((type) => type !== 'BEAN')),
  source: checkString,
  updated: checkUpdated,
}
const partsMax = 100_000
const shardChecks = { index: checkWhole(0, partsMax - 1), total: checkWhole(1, partsMax) }
export const checkResultTimeout: ArgumentCheck = checkWhole(1000, timerDelayMaxMs)
export const checkJobId: ArgumentCheck = checkWhole(1, 2 ** 31 - 1)

const runChecks: Readonly<Record<keyof XxlJobRunOptions, ArgumentCheck>> = {
  appName: checkAppName,
  jobId: checkJobId,
  handler: checkString,
  param: checkString,
  route: checkOneOf(Object.keys(routes)),
  blockStrategy: checkOneOf(Object.keys(blockStrategies)),
  timeoutSeconds: checkWhole(0, Math.floor(timerDelayMaxMs / 1000)),
  glue: checkRecord(glueChecks),
  shard: checkRecord(shardChecks),
  address: checkName,
  resultTimeoutMs: checkResultTimeout,
  signal: checkThat('an AbortSignal', (value) => value instanceof AbortSignal),
}

/** @throws InvalidArgumentError ERR_INVALID_OPTION naming the option */
export function resolveRun(options: XxlJobRunOptions): ResolvedRun {
  checkObject('run', 'options', options, 'ERR_INVALID_OPTION')
  checkOptions('run', options, runChecks)
  checkAppName('run', 'appName', options.appName, 'ERR_INVALID_OPTION')
  checkJobId('run', 'jobId', options.jobId, 'ERR_INVALID_OPTION')
  const { handler = '', glue, shard } = options
  if (handler === '' && glue === undefined) {
    const message = "run: 'handler' is missing. Pass the name of a JobHandler, or 'glue'."
    throw new InvalidArgumentError('handler', message, 'ERR_INVALID_OPTION')
  }
  if (shard !== undefined && shard.index >= shard.total) {
    const message = "run: 'shard.index' must be below 'shard.total'."
    throw new InvalidArgumentError('shard', message, 'ERR_INVALID_OPTION')
  }
  return {
    param: '',
    route: 'FIRST',
    blockStrategy: 'SERIAL_EXECUTION',
    timeoutSeconds: 0,
    resultTimeoutMs: 3_600_000,
    ...withoutUndefined(options),
    handler,
  }
}

function withoutUndefined(options: XxlJobRunOptions): XxlJobRunOptions {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as unknown as XxlJobRunOptions
}
