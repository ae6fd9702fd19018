import { AsyncResource } from 'node:async_hooks'
import { hasMethods } from '../core/arguments.ts'
import { JobExecutionError } from '../core/errors.ts'
import { describeValue } from '../core/options.ts'
import { after, isThenable } from '../core/promises.ts'
import { disarm, textOf } from '../core/thrown-value.ts'
import type { TraceContext } from '../core/trace-context.ts'
import type {
  InlineJobDefinition,
  Job,
  JobClass,
  JobDefinition,
  JobFactory,
  WorkerJobDefinition,
} from '../jobs/job-definition.ts'
import { validateAgainstSchema } from '../jobs/schema-validation.ts'
import type { ThreadPool } from '../threadpool/thread-pool.ts'
import type { WorkerTask } from '../threadpool/wire.ts'
import { type Clock, setTimeLimit } from '../time/clock.ts'
import { unlessAborted } from '../time/unless-aborted.ts'
import type { ExecutionContext } from './execution-context.ts'
import { toJobExecutionError } from './job-failure.ts'
import type { SchedulerProbe } from './scheduler-probe.ts'

export interface JobRunnerOptions {
  readonly clock: Clock
  readonly threadPool: ThreadPool
  readonly interruptGraceMs: number
  /** Null when classes are made by their constructors. */
  readonly jobFactory: JobFactory | null
  /** Null when nothing is measured. */
  readonly probe: SchedulerProbe | null
}

/** The error of a job, or null; a promise only when there is something to wait for. */
export type JobEnd = JobExecutionError | null | Promise<JobExecutionError | null>

/** Runs the code of one job once, where its definition says; answers its error, or null. Never throws. */
export function runJob(
  definition: JobDefinition<object>,
  context: ExecutionContext,
  options: JobRunnerOptions,
): JobEnd {
  const { probe } = options
  if (probe?.aroundJobRun === undefined) return runNow(definition, context, options)
  const carry = (trace: TraceContext): void => {
    context.traceContext = trace
  }
  const goesOnElsewhere = (): boolean => context.awaitedReference !== null
  return probe.aroundJobRun({ context, bundle: context.bundle, carry, goesOnElsewhere }, async () =>
    runNow(definition, context, options),
  )
}

function runNow(
  definition: JobDefinition<object>,
  context: ExecutionContext,
  options: JobRunnerOptions,
): JobEnd {
  const isPlain =
    definition.kind === 'inline' && definition.schema === null && context.bundle.jobDetail.timeoutMs === null
  return isPlain ? runPlain(definition, context, options) : runFully(definition, context, options)
}

/** As `runFully`, for a job without a schema and without a time limit, which may end without a promise. */
function runPlain(
  definition: InlineJobDefinition<object>,
  context: ExecutionContext,
  { clock, jobFactory }: JobRunnerOptions,
): JobEnd {
  const startedMs = clock.elapsedMs()
  const ended = (error: JobExecutionError | null): JobExecutionError | null => {
    context.jobRunTimeMs = clock.elapsedMs() - startedMs
    return error
  }
  const returnedValue = (value: unknown): JobEnd =>
    context.awaiting === null
      ? ended(errorOfReturn(context, value))
      : untilWritten(context, (failure) => ended(errorOfUnawaited(context, value, failure)))
  const failed = (thrown: unknown): JobEnd => {
    const end = (): JobExecutionError | null => ended(errorOfThrown(context, thrown))
    return context.awaiting === null ? end() : untilWritten(context, end)
  }
  try {
    const returned = runInline(definition, context, jobFactory)
    if (!isThenable(returned)) return returnedValue(returned)
    return Promise.resolve(returned).then(returnedValue, failed)
  } catch (thrown) {
    return failed(thrown)
  }
}

async function runFully(
  definition: JobDefinition<object>,
  context: ExecutionContext,
  options: JobRunnerOptions,
): Promise<JobExecutionError | null> {
  const startedMs = options.clock.elapsedMs()
  const ended = (error: JobExecutionError | null): JobExecutionError | null => {
    context.jobRunTimeMs = options.clock.elapsedMs() - startedMs
    return error
  }
  const { timeoutMs } = context.bundle.jobDetail
  const timer =
    timeoutMs === null
      ? null
      : setTimeLimit(options.clock, timeoutMs, () => {
          context.interrupt(timeoutError(context, timeoutMs), 'timeout')
        })
  try {
    // A refire keeps the schema's output: a schema that converts could not read its own output.
    if (definition.schema !== null && context.refireCount === 0) {
      const owner = `job ${context.jobKey.toString()}`
      const checked = validateAgainstSchema(definition, context.mergedJobDataMap, owner)
      // A check that asks others may never be answered, and no signal reaches it. The job's own signal costs as much as
      // all else that a firing does, and most jobs read none.
      const data = checked instanceof Promise ? await unlessAborted(checked, context.taskSignal) : checked
      context.mergedJobDataMap = data as Record<string, unknown>
    }
    if (definition.kind === 'worker')
      return ended(errorOfReturn(context, await runInWorker(definition, context, options)))
    const returned = runInline(definition, context, options.jobFactory)
    const value = isThenable(returned) ? await returned : returned
    if (context.awaiting === null) return ended(errorOfReturn(context, value))
    return await untilWritten(context, (failure) => ended(errorOfUnawaited(context, value, failure)))
  } catch (thrown) {
    const failed = (): JobExecutionError | null => ended(errorOfThrown(context, thrown))
    return context.awaiting === null ? failed() : await untilWritten(context, failed)
  } finally {
    timer?.cancel()
  }
}

/** What the last `awaitResult` was rejected with; null when it was not. */
type NotWritten = { readonly thrown: unknown } | null

/**
 * An `awaitResult` for which the job does not wait is a part of its run all the same: how it ends says whether the
 * firing goes on elsewhere. `end` ends the run in the same turn, so that none is called in between.
 */
async function untilWritten(
  context: ExecutionContext,
  end: (failure: NotWritten) => JobExecutionError | null,
): Promise<JobExecutionError | null> {
  let failure: NotWritten = null
  // One that was refused may be followed by another one, as under another reference.
  while (context.awaiting !== null) {
    failure = await context.awaiting.then(
      () => null,
      (thrown: unknown) => ({ thrown }),
    )
  }
  return end(failure)
}

/** The error of a job that has returned before its `awaitResult` had settled, or null. */
function errorOfUnawaited(
  context: ExecutionContext,
  returned: unknown,
  failure: NotWritten,
): JobExecutionError | null {
  return failure === null ? errorOfReturn(context, returned) : errorOfThrown(context, failure.thrown)
}

/** Notes what a job has returned; one that returns nothing may have set its result. Answers the error, or null. */
function errorOfReturn(context: ExecutionContext, returned: unknown): JobExecutionError | null {
  const { awaitedReference, interruption } = context
  if (returned !== undefined) context.result = returned
  // What was sent in spite of the timeout goes on.
  if (awaitedReference !== null || interruption?.code !== 'ERR_JOB_TIMEOUT') return null
  // A job that ended well after its timeout has still timed out.
  context.result = undefined
  return interruption
}

function errorOfThrown(context: ExecutionContext, thrown: unknown): JobExecutionError {
  const { interruption, jobKey } = context
  // What the job has set before it failed is not its result; nor is it that of a refire.
  context.result = undefined
  const failure = toJobExecutionError(jobKey, thrown)
  if (interruption === null) return failure
  // Whatever an interrupted job throws counts as the interruption, and steers all the same.
  const { giveUp, refireImmediately, unscheduleAllTriggers, unscheduleFiringTrigger } = failure
  const flags = { giveUp, refireImmediately, unscheduleAllTriggers, unscheduleFiringTrigger }
  return new JobExecutionError(interruption.message, { ...flags, code: interruption.code, cause: thrown })
}

function runInline(
  definition: InlineJobDefinition<object>,
  context: ExecutionContext,
  jobFactory: JobFactory | null,
): unknown {
  const { jobClass } = definition
  if (jobClass === null || jobFactory === null || context.jobInstance !== null) {
    return (context.jobInstance ?? definition).execute(context)
  }
  return after(madeBy(jobFactory, jobClass, context), (job) => {
    context.jobInstance = job
    return job.execute(context)
  })
}

/** @throws JobExecutionError ERR_JOB_FACTORY */
function madeBy(
  jobFactory: JobFactory,
  jobClass: JobClass<object>,
  context: ExecutionContext,
): Job<object> | Promise<Job<object>> {
  const failed = (cause: unknown): never => {
    disarm(cause)
    throw factoryError(context, `threw: ${textOf(cause)}`, cause)
  }
  const made = (job: unknown): Job<object> => {
    if (hasMethods(job, ['execute'])) return job as Job<object>
    throw factoryError(context, `answered ${describeValue(job)}, which has no method 'execute(context)'.`)
  }
  let answer: unknown
  try {
    answer = jobFactory(jobClass, context)
  } catch (thrown) {
    return failed(thrown)
  }
  return isThenable(answer) ? Promise.resolve(answer).then(made, failed) : made(answer)
}

function factoryError(
  { bundle, jobKey }: ExecutionContext,
  what: string,
  cause?: unknown,
): JobExecutionError {
  return new JobExecutionError(
    `The jobFactory for class '${bundle.jobDetail.jobType}' of job ${jobKey.toString()} ${what}`,
    { code: 'ERR_JOB_FACTORY', cause },
  )
}

async function runInWorker(
  definition: WorkerJobDefinition<object>,
  context: ExecutionContext,
  options: JobRunnerOptions,
): Promise<unknown> {
  // Messages of the thread come in no async context; in a traced run, what they set off belongs to the run.
  const within = context.traceContext === null ? call : AsyncResource.bind(call)
  // What the run before a refire left has gone: only what came across goes on.
  context.jobDataRefusal = null
  const { result, jobDataMap } = await options.threadPool.runInWorker(taskOf(definition, context), {
    signal: context.taskSignal,
    interruptGraceMs: options.interruptGraceMs,
    onProgress: (value) => {
      within(() => {
        context.progress(value)
      })
    },
    onLog: (level, fields, message) => {
      within(() => {
        context.log[level](fields, message)
      })
    },
    onJobData: (data) => {
      context.takeJobData(data)
    },
    onJobDataRefused: (error) => {
      context.jobDataRefusal = { error }
    },
  })
  context.takeJobData(jobDataMap)
  return result
}

function call(what: () => void): void {
  what()
}

function taskOf(definition: WorkerJobDefinition<object>, context: ExecutionContext): WorkerTask {
  const { bundle, jobKey, triggerKey } = context
  return {
    moduleUrl: definition.moduleUrl,
    exportName: definition.exportName,
    fireInstanceId: bundle.fireInstanceId,
    jobType: bundle.jobDetail.jobType,
    job: jobKey,
    trigger: triggerKey,
    // A refire sees what the run before it left.
    jobDataMap: context.changedJobData ?? bundle.jobDetail.jobDataMap,
    mergedJobDataMap: context.mergedJobDataMap,
    fireTimeMs: bundle.fireTimeMs,
    scheduledFireTimeMs: context.scheduledFireTimeMs,
    previousFireTimeMs: bundle.previousFireTimeMs,
    nextFireTimeMs: bundle.nextFireTimeMs,
    recovering: context.recovering,
    refireCount: context.refireCount,
    attempt: context.attempt,
    shard: context.shard,
    traceContext: context.traceContext,
  }
}

function timeoutError(context: ExecutionContext, timeoutMs: number): JobExecutionError {
  return new JobExecutionError(
    `Job ${context.jobKey.toString()} ran longer than its timeoutMs of ${timeoutMs} and was interrupted.`,
    { code: 'ERR_JOB_TIMEOUT' },
  )
}
