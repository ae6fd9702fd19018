import { JobExecutionError } from '../../src/core/errors.ts'
import { defineClassJob, defineJob } from '../../src/jobs/define-job.ts'
import type { JobExecutionContext, JobSource } from '../../src/jobs/job-definition.ts'
import type { JobListener } from '../../src/listeners/job-listener.ts'
import type { TriggerListener } from '../../src/listeners/trigger-listener.ts'
import type { HistoryFact } from './history.ts'
import type { SimClock } from './sim-clock.ts'
import type { SimRandom } from './sim-random.ts'

export interface SimJobsOptions {
  readonly clock: SimClock
  readonly random: SimRandom
  readonly observe: (fact: HistoryFact) => void
  /** Longest run of a job, milliseconds. */
  readonly durationMaxMs: number
  /** Chance that a run fails in one way or another. */
  readonly failure: number
}

/** Kinds of jobs; `counter` and `fragile` are special below. */
export const simJobTypes = ['plain', 'nonConcurrent', 'retrying', 'retryingNonConcurrent', 'fragile'] as const
/** Non-concurrent, and counts its runs in its own data. */
export const counterJobType = 'counter'

/** Jobs that run for a random time, end in every way a job can, and write down what they do. */
export function simJobs(options: SimJobsOptions): readonly JobSource[] {
  const execute = (context: JobExecutionContext<object>): Promise<unknown> => runSimJob(context, options)
  const retry = { attempts: 3, backoff: { initialMs: 500, maxMs: 5000 } }
  class Fragile {
    static readonly jobType = 'fragile'
    constructor() {
      if (options.random.chance(0.1)) throw new Error('this job cannot be made')
    }
    execute(context: JobExecutionContext<object>): Promise<unknown> {
      return execute(context)
    }
  }
  return [
    defineJob('plain', execute),
    defineJob('nonConcurrent', execute, { disallowConcurrentExecution: true, timeoutMs: 4000 }),
    defineJob('retrying', execute, { retry }),
    defineJob('retryingNonConcurrent', execute, { retry, disallowConcurrentExecution: true }),
    defineJob(
      counterJobType,
      (context) => {
        const count = context.jobDetail.jobDataMap['count']
        context.jobDetail.jobDataMap['count'] = (typeof count === 'number' ? count : 0) + 1
        return execute(context)
      },
      { disallowConcurrentExecution: true, persistJobDataAfterExecution: true },
    ),
    defineClassJob(Fragile),
  ]
}

async function runSimJob(context: JobExecutionContext<object>, options: SimJobsOptions): Promise<unknown> {
  const { clock, random, observe, durationMaxMs } = options
  const { fireInstanceId, attempt, refireCount } = context
  const plannedMs = context.scheduledFireTime.getTime()
  observe({ kind: 'started', fireInstanceId, attempt, refireCount, plannedMs })
  try {
    const durationMs = random.chance(0.3) ? 0 : random.integer(1, durationMaxMs)
    if (durationMs > 0) await sleepUnlessInterrupted(clock, durationMs, context.signal)
    if (random.chance(options.failure)) fail(random)
    return durationMs
  } finally {
    observe({ kind: 'ended', fireInstanceId })
  }
}

function sleepUnlessInterrupted(clock: SimClock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(delayMs, resolve)
    signal.addEventListener('abort', () => {
      timer.cancel()
      reject(signal.reason as Error)
    })
  })
}

function fail(random: SimRandom): never {
  const how = random.weighted({ plain: 6, nothing: 1, refire: 2, unscheduleFiring: 1, unscheduleAll: 0.5 })
  switch (how) {
    case 'nothing':
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- jobs throw such things
      throw undefined
    case 'refire':
      throw new JobExecutionError('again', { refireImmediately: true })
    case 'unscheduleFiring':
      throw new JobExecutionError('not this trigger', { unscheduleFiringTrigger: true })
    case 'unscheduleAll':
      throw new JobExecutionError('no trigger at all', { unscheduleAllTriggers: true })
    default:
      throw new Error('the job failed')
  }
}

export interface SimListenerOptions {
  readonly random: SimRandom
  readonly observe: (fact: HistoryFact) => void
  readonly veto: number
  readonly failure: number
  /** The firings in which the listener has thrown. */
  readonly troubled: Set<string>
}

/** A listener that vetoes now and then, and throws now and then wherever it is called. */
export function simListener(options: SimListenerOptions): JobListener & TriggerListener {
  const { random, observe, veto, failure, troubled } = options
  const trouble = (context: JobExecutionContext | null): void => {
    if (!random.chance(failure)) return
    if (context !== null) troubled.add(context.fireInstanceId)
    throw new Error('the listener failed')
  }
  return {
    name: 'sim',
    triggerFired(_trigger, context) {
      trouble(context)
    },
    vetoJobExecution(_trigger, context) {
      trouble(context)
      return random.chance(veto)
    },
    triggerMisfired() {
      trouble(null)
    },
    async triggerComplete(_trigger, context) {
      await Promise.resolve()
      trouble(context)
    },
    jobToBeExecuted: trouble,
    jobExecutionVetoed(context) {
      observe({ kind: 'vetoed', fireInstanceId: context.fireInstanceId })
      trouble(context)
    },
    jobWasExecuted: trouble,
  }
}
