import { SchedulerError } from '../../../core/errors.ts'
import { beginningOf, shortened } from '../../../core/text-beginning.ts'
import { type Clock, type ClockTimer, type EpochMs, setLongTimer } from '../../../time/clock.ts'
import { xxlJobCodes } from '../../protocol/reply.ts'
import type { JobRunner } from '../handlers/job-runner.ts'
import type { JobLog } from '../logs/job-log.ts'
import { type RunFacts, textOfFailure } from '../run-context.ts'

/** Longest message of a result; a longer one is cut and has three dots at its end. */
const messageMax = 50_000

/** Longest message of a result in the log. */
const shownMax = 500

/** A run that was accepted. */
export interface AcceptedRun {
  readonly facts: RunFacts
  /** Seconds; 0 and below: none. */
  readonly timeoutSeconds: number
  readonly log: JobLog
  /** Told once of a run that has begun. */
  readonly ended: (code: number, msg: string) => void
}

/** Why a run is to end before its time. */
export type StopReason = string

/** A run from its first to its last step. */
export class JobRun {
  readonly logId: number
  readonly startedMs: EpochMs
  readonly #run: AcceptedRun
  readonly #runner: JobRunner
  readonly #clock: Clock
  readonly #interrupt = new AbortController()
  readonly #leave: () => void
  /** Resolves when the lane may go on: the handler has ended, or it cannot be made to. */
  readonly left: Promise<void>
  #timer: ClockTimer | null = null
  #stopReason: StopReason | null = null
  #hasEnded = false

  constructor(run: AcceptedRun, runner: JobRunner, clock: Clock) {
    this.logId = run.facts.logId
    this.startedMs = clock.now()
    this.#run = run
    this.#runner = runner
    this.#clock = clock
    const { promise, resolve } = withResolver()
    this.left = promise
    this.#leave = resolve
  }

  /** Never rejects. */
  async execute(): Promise<void> {
    const { facts, timeoutSeconds, log } = this.#run
    log.line(`<br>----------- the run begins -----------<br>----------- Param: ${facts.param}`)
    if (timeoutSeconds > 0) {
      this.#timer = setLongTimer(this.#clock, timeoutSeconds * 1000, () => {
        this.#timedOut()
      })
    }
    try {
      const { code, msg } = await this.#runner.execute({ facts, signal: this.#interrupt.signal, log })
      if (code > 0) this.#end(code, msg)
      else this.#end(xxlJobCodes.failure, 'job handle result lost.')
    } catch (error) {
      const text = textOfFailure(error)
      if (!this.#hasEnded && this.#stopReason === null) {
        log.line(`<br>----------- the handler threw -----------<br>${text}`)
      }
      this.#end(xxlJobCodes.failure, text)
    } finally {
      this.#leave()
    }
  }

  /** Asks the handler to end. The result says so when the handler has ended. */
  stop(reason: StopReason): void {
    if (this.#hasEnded) return
    this.#stopReason ??= reason
    this.#interrupt.abort(new SchedulerError('ERR_JOB_INTERRUPTED', reason))
  }

  /** Waits no longer for a handler that was asked to end. */
  abandon(): void {
    try {
      this.#end(xxlJobCodes.failure, '')
    } finally {
      this.#leave()
    }
  }

  /** What ends when it is asked to is waited for, so that the job's next run does not begin beside it. */
  #timedOut(): void {
    const msg = 'job execute timeout '
    this.#interrupt.abort(new SchedulerError('ERR_JOB_TIMEOUT', msg.trim()))
    try {
      this.#end(xxlJobCodes.timeout, msg)
    } finally {
      if (!this.#runner.canBeStopped) this.#leave()
    }
  }

  #end(code: number, msg: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#timer?.cancel()
    const { log, ended } = this.#run
    const [endCode, endMsg] =
      this.#stopReason === null
        ? [code, cutMessage(msg)]
        : [xxlJobCodes.failure, `${this.#stopReason} [job running, killed]`]
    const shown = shortened(endMsg, shownMax)
    log.line(`<br>----------- the run has ended -----------<br>----------- Result: ${endCode} ${shown}`)
    ended(endCode, endMsg)
  }
}

function cutMessage(msg: string): string {
  return msg.length > messageMax ? `${beginningOf(msg, messageMax)}...` : msg
}

export function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
