import {
  jobKey,
  recoveringJobsGroup,
  retryingJobsGroup,
  shardedJobsGroup,
  type TriggerKey,
} from '../core/key.ts'
import { unawaited } from '../core/promises.ts'
import type { JobScheduler } from '../jobs/job-definition.ts'
import type { InterruptTarget, NodeOrder, NodeRequests } from '../jobstore/cluster-view.ts'
import type { EndedSharding } from '../jobstore/job-store-shards.ts'
import { isManualTriggerKey } from '../jobstore/manual-trigger.ts'
import type { SchedulerSignaler } from '../jobstore/scheduler-signaler.ts'
import type { StuckThread } from '../threadpool/thread-pool.ts'
import type { EpochMs } from '../time/clock.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import { endedFiring } from './execution-report.ts'
import type { LateCauses } from './late-causes.ts'
import type { Notifier } from './notifier.ts'
import type { Recorder } from './recorder.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'

/** The loop, as far as signals are for it. */
export interface SignalledLoop {
  /** Something may fire at `candidateMs`, or soon when that is null. */
  signalSchedulingChange(candidateMs: EpochMs | null): void
  /** The store has answered somebody else. */
  storeAnswers(): void
}

/** The scheduler, as listeners are given it. */
export interface SignalledScheduler extends JobScheduler {
  /** Starts this scheduler, or has it stand by or drain. */
  ordered(order: NodeOrder): Promise<void>
  interruptAsked(target: InterruptTarget): Promise<void>
}

export interface SignalReceiverParts {
  readonly options: ResolvedSchedulerOptions
  readonly notifier: Notifier
  readonly executing: ExecutingJobs
  readonly recorder: Recorder
  readonly lateCauses: LateCauses
  readonly loop: SignalledLoop
  /** Not there yet while it is made. */
  readonly scheduler: () => SignalledScheduler
}

type ClusterSignals = Pick<
  SchedulerSignaler,
  | 'nodeFailed'
  | 'nodeRecovered'
  | 'executionLost'
  | 'allShardsDone'
  | 'checkInFailed'
  | 'checkInRestored'
  | 'recoveredByPeer'
  | 'clockOffsetMeasured'
>

/** Makes what the store and the pool signal into events, calls of listeners, and wake-ups of the loop. */
export class SignalReceiver {
  readonly #parts: SignalReceiverParts
  /** What the present skew of the clock was told by. */
  readonly #skewTold = { log: false, event: false }

  constructor(parts: SignalReceiverParts) {
    this.#parts = parts
  }

  /** What the store is given. */
  signaler(): SchedulerSignaler {
    const { lateCauses, loop, notifier, options, recorder } = this.#parts
    return {
      triggerMisfired: (trigger) => {
        notifier.events.emit('triggerMisfired', { trigger })
        const listeners = notifier.triggerListenersFor(trigger.key)
        notifier.track(
          notifier.callEach('triggerMisfired', listeners, (listener) => listener.triggerMisfired?.(trigger)),
        )
      },
      firesMissed: (missed) => {
        const { cause, policy, trigger } = missed
        recorder.note('misfires', {
          triggerKey: trigger.key,
          jobKey: trigger.jobKey,
          cause: cause === 'late' ? lateCauses.of(trigger) : cause,
          policy,
          noticedTimeMs: options.clock.now(),
          fires: missed,
        })
      },
      triggerFinalized: (trigger) => {
        notifier.tellLater('triggerFinalized', { trigger }, (l) => l.triggerFinalized?.(trigger))
      },
      jobDeleted: (jobKey) => {
        notifier.tellLater('jobDeleted', { jobKey }, (l) => l.jobDeleted?.(jobKey))
      },
      triggerInError: (triggerKey, reason) => {
        notifier.events.emit('triggerInError', { triggerKey, reason })
      },
      schedulingChanged: (candidateMs) => {
        loop.signalSchedulingChange(candidateMs)
      },
      storeError: (message, cause) => {
        notifier.error(message, cause)
      },
      lockWaitExceeded: (wait) => {
        notifier.events.emit('lockWaitExceeded', wait)
      },
      ...this.#clusterSignals(),
      ...this.#requests(),
    }
  }

  #requests(): NodeRequests {
    const { notifier, options, scheduler } = this.#parts
    return {
      interruptRequested: (target) => {
        unawaited(scheduler().interruptAsked(target), (error) => {
          notifier.error('The node was asked to interrupt executions and could not do so.', error)
        })
      },
      nodeOrdered: (order) => {
        options.logger.info({ order }, 'another node asks this one to start, to stand by or to drain')
        unawaited(scheduler().ordered(order), (error) => {
          notifier.error(`The node was asked for '${order}' and could not do so.`, error)
        })
      },
    }
  }

  #clusterSignals(): ClusterSignals {
    const { executing, loop, notifier, options, recorder } = this.#parts
    const { events } = notifier
    const { clock, instanceId, logger } = options
    return {
      nodeFailed: (node) => {
        events.emit('nodeFailed', { node })
        logger.warn({ failedId: node }, 'A node stopped checking in; its work is recovered.')
      },
      nodeRecovered: (recovery) => {
        events.emit('nodeRecovered', recovery)
      },
      executionLost: ({ scheduledFireTimeMs, ...execution }) => {
        events.emit('executionLost', { ...execution, scheduledFireTime: new Date(scheduledFireTimeMs) })
        const { fireInstanceId, jobKey: lostKey, triggerKey } = execution
        if (lostKey !== null) {
          recorder.note('statuses', {
            jobKey: lostKey,
            fireInstanceId,
            outcome: 'lost',
            fireTimeMs: scheduledFireTimeMs,
            finishedTimeMs: null,
            knownTimeMs: clock.now(),
            errorText: null,
            ...(triggerKey.group === shardedJobsGroup && { part: 'item' as const }),
          })
        }
        if (isPlanned(triggerKey)) {
          recorder.note('misfires', {
            triggerKey,
            jobKey: lostKey,
            cause: 'lost',
            policy: null,
            noticedTimeMs: clock.now(),
            fires: scheduledFireTimeMs,
          })
        }
        logger.warn(
          { fireInstanceId, triggerKey: triggerKey.toString() },
          `An execution died with its node and is not run again: ${execution.reason}.`,
        )
      },
      checkInFailed: (error) => {
        notifier.error(`Node '${instanceId}' could not check in; it tries again.`, error)
        events.emit('checkInFailed', { error })
      },
      checkInRestored: (failedAttempts) => {
        logger.info({ failedAttempts }, 'the node checks in again')
        events.emit('checkInRestored', { failedAttempts })
        loop.storeAnswers()
      },
      allShardsDone: (firing) => {
        this.#allShardsDone(firing)
      },
      recoveredByPeer: () => {
        events.emit('recoveredByPeer', {})
        executing.interruptAll('recovered')
        logger.warn(
          { instanceId },
          "This node's row is gone from the store: another node took this one for failed and recovered its work, or " +
            'the row was deleted.',
        )
      },
      clockOffsetMeasured: (offsetMs, uncertaintyMs) => {
        this.#adjustClock(offsetMs, uncertaintyMs)
      },
    }
  }

  #allShardsDone(firing: EndedSharding): void {
    const { notifier, options, recorder, scheduler } = this.#parts
    notifier.events.emit('allShardsDone', { firing })
    recorder.note('statuses', endedFiring(firing, options.clock.now()))
    const listeners = notifier.jobListenersFor(firing.jobKey)
    const told = notifier.callEach('allShardsDone', listeners, (listener) =>
      listener.allShardsDone?.(firing, scheduler()),
    )
    notifier.track(told)
  }

  /** The scheduler starts. What was measured before could not be heard by those who listen since. */
  starting(): void {
    this.#skewTold.event = false
  }

  /** The pool ended a worker thread and the thread does not exit. */
  threadStuck({ threadId, waitedMs, executions }: StuckThread): void {
    this.#parts.notifier.events.emit('workerThreadStuck', {
      threadId,
      waitedMs,
      executions: executions.map(({ job, fireInstanceId }) => ({
        jobKey: jobKey(job.name, job.group),
        fireInstanceId,
      })),
    })
  }

  #adjustClock(aheadMs: number, uncertaintyMs: number): void {
    const { loop, notifier, options } = this.#parts
    const { clock, logger, maxClockSkewMs } = options
    // The loop planned its sleep by the clock as it was.
    if (clock.adjust(aheadMs, uncertaintyMs)) loop.signalSchedulingChange(null)
    const { offsetMs } = clock
    const isSkewed = Math.abs(offsetMs) > maxClockSkewMs
    const told = this.#skewTold
    if (isSkewed && !told.log) {
      logger.warn({ offsetMs, maxClockSkewMs }, "the machine's clock is far from the store's time")
    }
    if (isSkewed && !told.event) notifier.events.emit('clockSkewed', { offsetMs, maxClockSkewMs })
    told.log = isSkewed
    told.event = isSkewed
  }
}

/** Whether a trigger fires by a schedule, and not to run something again or for a caller of `triggerJob`. */
function isPlanned(key: TriggerKey): boolean {
  return key.group !== retryingJobsGroup && key.group !== recoveringJobsGroup && !isManualTriggerKey(key)
}
