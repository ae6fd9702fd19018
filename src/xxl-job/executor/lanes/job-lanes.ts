import type { Logger } from '../../../core/logger.ts'
import type { Clock } from '../../../time/clock.ts'
import { Waiters } from '../../../time/waiters.ts'
import { failure, type Reply, success } from '../../protocol/reply.ts'
import { type BlockStrategy, blockStrategies } from '../../protocol/trigger-request.ts'
import type { JobRunner } from '../handlers/job-runner.ts'
import type { RunEnd } from '../results/run-ends.ts'
import { DroppedRuns } from './dropped-runs.ts'
import { JobLane, type LaneEvents } from './job-lane.ts'
import type { AcceptedRun, StopReason } from './job-run.ts'

/** Most characters of the parameters of all runs that wait. */
const waitingCharsMax = 64 * 1024 * 1024

export interface JobLanesOptions {
  readonly maxQueuedPerJob: number
  readonly maxQueued: number
  readonly clock: Clock
  readonly logger: Logger
  runStarted(run: AcceptedRun): void
  /** Runs that were dropped get their results. */
  runsEnded(ends: readonly RunEnd[]): void
}

/** One run that is asked for. */
export interface WantedRun {
  readonly jobId: number
  readonly logId: number
  readonly param: string
  readonly blockStrategy: BlockStrategy
  readonly runner: JobRunner
  /** Called when the run is accepted. */
  accept(): AcceptedRun
}

/** The lanes of all jobs that have something to do, or had until recently. */
export class JobLanes {
  readonly #options: JobLanesOptions
  readonly #byJob = new Map<number, JobLane>()
  /** Also lanes that were replaced or killed, until their last handler has ended. */
  readonly #live = new Set<JobLane>()
  readonly #laneEvents: LaneEvents
  readonly #dropped: DroppedRuns
  #waiting = 0
  #waitingChars = 0
  readonly #changes = new Waiters()

  constructor(options: JobLanesOptions) {
    this.#options = options
    const { clock, logger } = options
    this.#dropped = new DroppedRuns({
      clock,
      logger,
      runsEnded: (ends) => {
        options.runsEnded(ends)
      },
      onRest: () => {
        this.#changes.wakeAll()
      },
    })
    this.#laneEvents = {
      clock,
      logger,
      begins: (run) => {
        this.#leftQueue(run)
        options.runStarted(run)
      },
      dropped: (runs, reason) => {
        for (const run of runs) this.#leftQueue(run)
        this.#dropped.add(runs, reason)
      },
      rests: () => {
        this.#changes.wakeAll()
      },
      idle: (lane) => {
        this.#remove(lane, 'excutor idle times over limit.')
      },
      over: (lane) => {
        this.#live.delete(lane)
        this.#changes.wakeAll()
      },
    }
  }

  get lanes(): readonly JobLane[] {
    return [...this.#live]
  }

  /** How many runs were dropped, and have no result yet. */
  get dropping(): number {
    return this.#dropped.size
  }

  isBusy(jobId: number): boolean {
    return this.#byJob.get(jobId)?.isBusy === true
  }

  /** The answer that the admin gets. */
  run(wanted: WantedRun): Reply {
    const lane = this.#byJob.get(wanted.jobId) ?? null
    const reason = lane === null ? null : this.#reasonToReplace(lane, wanted)
    const kept = reason === null ? lane : null
    if (kept !== null) {
      const refusal = this.#refusal(kept, wanted)
      if (refusal !== null) return failure(refusal)
    } else if (lane?.has(wanted.logId) === true) return failure(`repeat trigger job, logId:${wanted.logId}`)
    // Its result would come behind that of the one that runs.
    if (this.#dropped.has(wanted.logId)) return failure(`repeat trigger job, logId:${wanted.logId}`)
    const full = this.#isFull(wanted)
    if (full !== null) return failure(full)
    if (lane !== null && reason !== null) this.#remove(lane, reason)
    const target = kept ?? this.#open(wanted)
    this.#waiting++
    this.#waitingChars += wanted.param.length
    target.push(wanted.accept())
    return success()
  }

  /** False when the job has no lane. */
  kill(jobId: number, reason: StopReason): boolean {
    const lane = this.#byJob.get(jobId)
    if (lane !== undefined) this.#remove(lane, reason)
    return lane !== undefined
  }

  /** Waits until no run waits or runs, and all have their results; false when that takes longer. */
  async idle(limitMs: number): Promise<boolean> {
    return this.#until(() => this.#dropped.size === 0 && !this.lanes.some((lane) => lane.isBusy), limitMs)
  }

  /**
   * Ends all lanes; waits for handlers at most so long, and then no more. Answers how many go on. Whatever was dropped
   * has its result then.
   */
  async stop(reason: StopReason, graceMs: number): Promise<number> {
    for (const jobId of [...this.#byJob.keys()]) this.kill(jobId, reason)
    await this.#until(() => this.#live.size === 0, graceMs)
    const left = this.lanes
    for (const lane of left) lane.abandon()
    await this.#dropped.ended()
    return left.length
  }

  async #until(isTrue: () => boolean, limitMs: number): Promise<boolean> {
    const { clock } = this.#options
    const endMs = clock.elapsedMs() + limitMs
    while (!isTrue()) {
      const leftMs = endMs - clock.elapsedMs()
      if (leftMs <= 0) return false
      await this.#changes.wait(clock, leftMs)
    }
    return true
  }

  #reasonToReplace(lane: JobLane, { runner, blockStrategy }: WantedRun): StopReason | null {
    if (!lane.runner.isSame(runner)) {
      return lane.runner.kind === 'script' && runner.kind === 'script'
        ? 'change job source or glue type, and terminate the old job thread.'
        : 'change jobhandler or glue type, and terminate the old job thread.'
    }
    return blockStrategy === 'COVER_EARLY' && lane.isBusy
      ? `block strategy effect：${blockStrategies.COVER_EARLY}`
      : null
  }

  #refusal(lane: JobLane, { blockStrategy, logId }: WantedRun): string | null {
    if (blockStrategy === 'DISCARD_LATER' && lane.isBusy) {
      return `block strategy effect：${blockStrategies.DISCARD_LATER}`
    }
    if (lane.has(logId)) return `repeat trigger job, logId:${logId}`
    const { maxQueuedPerJob } = this.#options
    if (lane.queueLength < maxQueuedPerJob) return null
    return `the queue of job ${lane.jobId} is full: ${maxQueuedPerJob} runs wait (maxQueuedPerJob).`
  }

  #isFull({ param }: WantedRun): string | null {
    const { maxQueued } = this.#options
    if (this.#waiting >= maxQueued) return `the executor is full: ${maxQueued} runs wait (maxQueued).`
    if (this.#waitingChars + param.length <= waitingCharsMax) return null
    return `the executor is full: the parameters of the runs that wait have ${waitingCharsMax} characters.`
  }

  #open({ jobId, runner }: WantedRun): JobLane {
    // What ends soon is waited for, so that two runs of a job are not beside each other.
    const ending = this.lanes.filter((other) => other.jobId === jobId && other.runner.canBeStopped)
    const before = ending.map(({ left }) => left)
    const lane = new JobLane(jobId, runner, this.#laneEvents, before)
    this.#byJob.set(jobId, lane)
    this.#live.add(lane)
    return lane
  }

  #leftQueue({ facts }: AcceptedRun): void {
    this.#waiting--
    this.#waitingChars -= facts.param.length
  }

  #remove(lane: JobLane, reason: StopReason): void {
    if (this.#byJob.get(lane.jobId) === lane) this.#byJob.delete(lane.jobId)
    lane.stop(reason)
  }
}
