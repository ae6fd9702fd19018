import { JobExecutionError } from '../../core/errors.ts'
import type { JobRunContext } from '../../jobs/job-run-context.ts'

/** Returns everything that the context holds, as plain data. */
export function describeContext(context: JobRunContext): unknown {
  const { jobKey, triggerKey, fireTime, scheduledFireTime, previousFireTime, nextFireTime } = context
  const { fireInstanceId, mergedJobDataMap, jobDataMap, recovering, refireCount, attempt, shard, signal } =
    context
  return {
    jobKey: jobKey.toString(),
    triggerKey: triggerKey.toString(),
    fireInstanceId,
    mergedJobDataMap,
    jobDataMap,
    times: [fireTime, scheduledFireTime, previousFireTime, nextFireTime].map((time) => time?.toISOString()),
    recovering,
    refireCount,
    attempt,
    shard,
    aborted: signal.aborted,
  }
}

/** Counts in its data. */
export function count(context: JobRunContext): void {
  context.jobDataMap['count'] = Number(context.jobDataMap['count'] ?? 0) + 1
  context.mergedJobDataMap['lost'] = true
}

/** Counts in its data, and fails. */
export function failAfterCount(context: JobRunContext): never {
  count(context)
  throw new Error('counted')
}

/** Reports progress and logs, in an order that can be seen. */
export function report(context: JobRunContext): string {
  const { log } = context
  context.progress({ done: 1 })
  log.debug({ step: 1 }, 'one')
  log.info({ err: new RangeError('out of range') }, 'two')
  log.warn({ run: () => undefined }, 'three')
  context.progress({ done: 2 })
  log.error({}, 'four')
  return 'reported'
}

/** Throws the error that its data asks for. */
export function fail({ mergedJobDataMap }: JobRunContext): never {
  switch (mergedJobDataMap['kind']) {
    case 'custom': {
      const cause = Object.assign(new TypeError('below'), { at: 'the root' })
      throw Object.assign(new Error('above', { cause }), {
        name: 'CustomError',
        code: 'E_CUSTOM',
        detail: { list: [1] },
        errors: [{ path: 'age', message: 'must be a number' }],
        callback: () => undefined,
      })
    }
    case 'steering':
      throw new JobExecutionError('stop it', {
        unscheduleAllTriggers: true,
        giveUp: true,
        cause: new Error('why'),
      })
    case 'undefined':
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a job may throw anything, and it must cross
      throw undefined
    default:
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a job may throw anything, and it must cross
      throw { status: 404 }
  }
}

/** Stops when it is told to, and says why it did. */
export async function obey(context: JobRunContext): Promise<never> {
  const { signal } = context
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error(`stopped: ${String(signal.reason)}`))
    })
    context.progress('started')
  })
}

/** Ignores its interrupt. */
export function ignore(context: JobRunContext): never {
  context.progress('started')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** Ends its thread. */
export function exit(context: JobRunContext): never {
  context.progress('exiting')
  process.exit(7)
}

/** Rejects a promise without a handler, and goes on. */
export async function escape(): Promise<never> {
  // eslint-disable-next-line @typescript-eslint/no-floating-promises -- its rejection is meant to be unhandled
  Promise.reject(new Error('escaped'))
  return new Promise(() => undefined)
}

/** Leaves data that cannot be cloned. */
export function uncloneable(context: JobRunContext): unknown {
  const { mergedJobDataMap, jobDataMap } = context
  const value = { list: ['fine', () => 'not fine'] }
  if (mergedJobDataMap['where'] === 'progress') context.progress(value)
  if (mergedJobDataMap['where'] === 'jobDataMap') jobDataMap['added'] = value
  return mergedJobDataMap['where'] === 'result' ? value : undefined
}

/** Leaves data of which a clone lacks a part, and fails if it is to. */
export function unstorable({ jobDataMap, mergedJobDataMap }: JobRunContext): void {
  jobDataMap['count'] = 1
  Reflect.set(jobDataMap, Symbol('hidden'), 1)
  if (mergedJobDataMap['fails'] === true) throw new Error('left')
}

/** No function, so no job. */
export const notAFunction = 42
