import type { Logger } from '../../../core/logger.ts'
import { unawaited } from '../../../core/promises.ts'
import { logThrown } from '../../../core/thrown-value.ts'
import type { Clock, ClockTimer } from '../../../time/clock.ts'
import type { JobRunner } from '../handlers/job-runner.ts'
import { type AcceptedRun, JobRun, type StopReason, withResolver } from './job-run.ts'

/** How long a lane without work stays: 31 polls of three seconds, as Java executors have it. */
const laneIdleMs = 93_000

/** Calls of a lane to the executor. */
export interface LaneEvents {
  readonly clock: Clock
  readonly logger: Logger
  /** A run waits no more. */
  begins(run: AcceptedRun): void
  /** They wait no more, and will not run: they are to get their results. */
  dropped(runs: readonly AcceptedRun[], reason: StopReason): void
  /** Nothing waits or runs in the lane for now. */
  rests(lane: JobLane): void
  /** The lane had no work for `laneIdleMs`. */
  idle(lane: JobLane): void
  /** The lane was stopped, and nothing runs in it any more. */
  over(lane: JobLane): void
}

/** The runs of one job, one after the other in the order in which they came. */
export class JobLane {
  readonly jobId: number
  readonly runner: JobRunner
  /** Resolves when the lane was stopped, and its last run has left it. */
  readonly left: Promise<void>
  readonly #events: LaneEvents
  /** Runs of the job that are being ended. */
  readonly #before: readonly Promise<void>[]
  readonly #leave: () => void
  readonly #queue: AcceptedRun[] = []
  readonly #waitingIds = new Set<number>()
  #current: JobRun | null = null
  #isWorking = false
  #hasBegun = false
  #isStopped = false
  #idleTimer: ClockTimer | null = null

  constructor(jobId: number, runner: JobRunner, events: LaneEvents, before: readonly Promise<void>[]) {
    this.jobId = jobId
    this.runner = runner
    this.#events = events
    this.#before = before
    const { promise, resolve } = withResolver()
    this.left = promise
    this.#leave = resolve
  }

  get isBusy(): boolean {
    return this.#isWorking || this.#queue.length > 0
  }

  get queueLength(): number {
    return this.#queue.length
  }

  get current(): JobRun | null {
    return this.#current
  }

  /** Whether a run of that id waits or runs here. */
  has(logId: number): boolean {
    return this.#current?.logId === logId || this.#waitingIds.has(logId)
  }

  push(run: AcceptedRun): void {
    this.#queue.push(run)
    this.#waitingIds.add(run.facts.logId)
    this.#idleTimer?.cancel()
    this.#idleTimer = null
    if (this.#isWorking) return
    this.#isWorking = true
    unawaited(this.#work(), (error) => {
      logThrown(this.#events.logger, error, 'a lane of XXL-JOB runs failed', { jobId: this.jobId })
    })
  }

  /** Drops what waits, asks what runs to end, and takes no more. */
  stop(reason: StopReason): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#idleTimer?.cancel()
    this.#idleTimer = null
    this.#waitingIds.clear()
    const dropped = this.#queue.splice(0)
    if (dropped.length > 0) this.#events.dropped(dropped, reason)
    this.#current?.stop(reason)
    if (!this.#isWorking) this.#finish()
  }

  /** Waits no longer for a handler that was asked to end. */
  abandon(): void {
    this.#current?.abandon()
  }

  async #work(): Promise<void> {
    await Promise.all(this.#before)
    if (this.#queue.length > 0) await this.#begin()
    for (let run = this.#queue.shift(); run !== undefined; run = this.#queue.shift()) {
      this.#waitingIds.delete(run.facts.logId)
      this.#events.begins(run)
      this.#current = new JobRun(run, this.runner, this.#events.clock)
      const { left } = this.#current
      unawaited(this.#current.execute(), (error) => {
        logThrown(this.#events.logger, error, 'an XXL-JOB run failed', { jobId: this.jobId })
      })
      await left
      this.#current = null
    }
    this.#isWorking = false
    this.#events.rests(this)
    if (this.#isStopped) this.#finish()
    else {
      const { clock } = this.#events
      this.#idleTimer = clock.setTimer(
        laneIdleMs,
        () => {
          this.#events.idle(this)
        },
        { unref: true },
      )
    }
  }

  /** A job whose handler cannot prepare runs all the same, as in Java; its first run says why in its log. */
  async #begin(): Promise<void> {
    if (this.#hasBegun) return
    this.#hasBegun = true
    try {
      await this.runner.init()
    } catch (error) {
      const message = 'init of an XXL-JOB handler threw'
      logThrown(this.#events.logger, error, message, { jobId: this.jobId, handler: this.runner.name })
      this.#queue[0]?.log.line(`${message}; the run goes on.`)
    }
  }

  #finish(): void {
    this.#leave()
    unawaited(this.#end(), (error) => {
      logThrown(this.#events.logger, error, 'a lane of XXL-JOB runs did not end', { jobId: this.jobId })
    })
  }

  async #end(): Promise<void> {
    try {
      if (this.#hasBegun) await this.runner.destroy()
    } catch (error) {
      const fields = { jobId: this.jobId, handler: this.runner.name }
      logThrown(this.#events.logger, error, 'destroy of an XXL-JOB handler threw', fields)
    } finally {
      this.#events.over(this)
    }
  }
}
