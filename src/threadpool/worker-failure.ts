import { SchedulerError } from '../core/errors.ts'
import type { WorkerExecution } from './worker-execution.ts'

const exited = /^worker exited with code: (-?\d+)$/

/** The error of a task whose thread died. */
export function workerFailure(execution: WorkerExecution, error: unknown): SchedulerError {
  if (execution.terminated !== null) return execution.terminated
  const { message, code } = partsOf(error)
  const job = `job '${execution.jobName}'`
  const failed = (text: string): SchedulerError =>
    new SchedulerError('ERR_WORKER_FAILED', text, { cause: error })
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return failed(`The worker thread that ran ${job} ran out of memory; raise its resourceLimits.`)
  }
  const exitCode = exited.exec(message)?.[1]
  if (exitCode !== undefined) {
    return failed(
      `The worker thread that ran ${job} exited with code ${exitCode}, as after process.exit(${exitCode}).`,
    )
  }
  return failed(
    `The worker thread that ran ${job} died of an error that nothing caught, thrown there in the background: ` +
      message,
  )
}

/** For a task that cannot be sent to a thread. */
export function taskRefusal(execution: WorkerExecution, cause: unknown): SchedulerError {
  return new SchedulerError(
    'ERR_WORKER_DATA',
    `The data of job '${execution.jobName}' cannot cross into a worker thread: ${partsOf(cause).message}`,
    { cause },
  )
}

/** For a task whose end was sent and could not be read. */
export function lostEnd(execution: WorkerExecution, cause: unknown): SchedulerError {
  return new SchedulerError(
    'ERR_WORKER_DATA',
    `What job '${execution.jobName}' returned, threw or left in its jobDataMap cannot be read outside of its worker ` +
      `thread: ${partsOf(cause).message}. Values of a thousand levels and more do not cross. Pass flat data.`,
    { cause },
  )
}

/** When no thread comes up. */
export function startFailure(forWhat: string, cause: unknown): SchedulerError {
  const reason = cause === null ? 'it exited' : partsOf(cause).message
  return new SchedulerError(
    'ERR_WORKER_FAILED',
    `No worker thread could be started for ${forWhat}: ${reason}. Check execArgv, env and resourceLimits.`,
    { cause },
  )
}

/** For a task that ignored its interrupt until its thread was ended. */
export function terminationOf(execution: WorkerExecution): SchedulerError {
  const { interruptGraceMs, signal } = execution.handlers
  return new SchedulerError(
    'ERR_JOB_INTERRUPTED',
    `Job '${execution.jobName}' did not stop within ${interruptGraceMs} ms of its interrupt; ` +
      'its thread was terminated.',
    { cause: signal.reason },
  )
}

/** For a task that shared the thread of one that was terminated. */
export function neighbourTermination(
  execution: WorkerExecution,
  terminated: WorkerExecution,
): SchedulerError {
  return new SchedulerError(
    'ERR_WORKER_FAILED',
    `The worker thread of job '${execution.jobName}' was terminated, because job '${terminated.jobName}', ` +
      'which shared it, ignored its interrupt. With concurrentTasksPerWorker: 1 jobs do not share threads.',
  )
}

/** For a task that was interrupted before a thread took it. */
export function interruptedBeforeStart(execution: WorkerExecution): SchedulerError {
  return new SchedulerError(
    'ERR_JOB_INTERRUPTED',
    `Job '${execution.jobName}' was interrupted before a worker thread took it.`,
    { cause: execution.handlers.signal.reason },
  )
}

function partsOf(error: unknown): { message: string; code: unknown } {
  if (!(error instanceof Error)) return { message: String(error), code: undefined }
  return { message: error.message, code: Reflect.get(error, 'code') }
}
