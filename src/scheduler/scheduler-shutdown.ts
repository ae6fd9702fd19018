import { SchedulerError } from '../core/errors.ts'
import type { JobCompletion } from '../jobstore/job-store.ts'
import type { ClockTimer } from '../time/clock.ts'
import type { CompletionWriter } from './completion-writer.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import type { Notifier, Told } from './notifier.ts'
import type { QuartzSchedulerThread } from './quartz-scheduler-thread.ts'
import type { Recorder } from './recorder.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import type { SchedulerPlugin } from './scheduler-plugin.ts'
import { afterLocksMs, answerMaxMs, graceMs, ShutdownLimits, stepMaxMs } from './shutdown-limits.ts'
import type { ShutdownOptions } from './shutdown-options.ts'

export interface SchedulerShutdownParts {
  /** Aborted here when the store is cut off. */
  readonly cut: AbortController
  readonly options: ResolvedSchedulerOptions
  readonly notifier: Notifier
  readonly executing: ExecutingJobs
  readonly completions: CompletionWriter
  readonly recorder: Recorder
  readonly thread: QuartzSchedulerThread
  /** Settles when the changes of the life cycle that were asked for before have ended. */
  readonly changed: Promise<unknown>
  /** Those that were initialized. */
  readonly plugins: readonly SchedulerPlugin[]
  /** Listeners or a plugin that hold up a start; null while none does. */
  readonly startWaitsFor: () => string | null
  /** Callers that wait for a change of the life cycle get an error now. */
  readonly refuseChanges: () => void
  /** Stops firing. */
  readonly standBy: () => Promise<{ readonly told: Told }>
  /** Whether the pool or the store is this scheduler's: one that refused it belongs to another scheduler. */
  readonly owns: (part: 'pool' | 'store') => boolean
  /** Warns of stored triggers that were never started. */
  readonly noteNeverStarted: () => Promise<void>
  /** Operations on data are refused from now on. */
  readonly close: () => void
  readonly ended: () => void
}

/**
 * The steps of a shutdown. Each step gets the time that the caller wants to wait, or a second when the caller does not
 * wait. A store that has not answered by then is cut off, and what is not written is left to its recovery. So a
 * shutdown ends whatever the database does. A caller that waits without a limit waits for jobs, and for their ends to
 * be written, as long as that takes; all else has a limit then, too.
 */
export class SchedulerShutdown {
  readonly #parts: SchedulerShutdownParts
  readonly #limits: ShutdownLimits
  /** Of the interruption that is to come. */
  #interruption: ClockTimer | null = null
  #isPoolEnded = false
  #cutOffWhile: string | null = null

  constructor(parts: SchedulerShutdownParts, given: ShutdownOptions) {
    const { clock, interruptGraceMs } = parts.options
    this.#parts = parts
    this.#limits = new ShutdownLimits(clock, interruptGraceMs, given)
  }

  /** Another caller asks for the shutdown that is under way: an earlier limit of its own counts from now on. */
  shorten(given: ShutdownOptions): void {
    this.#limits.shorten(given)
    this.#interruptInTime()
  }

  get #isCut(): boolean {
    return this.#parts.cut.signal.aborted
  }

  async run(): Promise<void> {
    const { completions, notifier, options, standBy, thread } = this.#parts
    this.#interruptInTime()
    await this.#changesEnded()
    const standing = await this.#storeStep('stopping to fire', standBy)
    await this.#told('schedulerInStandbyMode', standing?.told ?? null)
    await this.#storeStep('giving back what was claimed', () => thread.halt())
    await this.#told(
      'schedulerShuttingdown',
      notifier.tell('schedulerShuttingdown', {}, (l) => l.schedulerShuttingdown?.()),
    )
    const { waits } = this.#limits
    const interrupts = waits ? options.interruptJobsOnShutdownWithWait : options.interruptJobsOnShutdown
    if (interrupts) this.#parts.executing.interruptAll('shutdown')
    if (!waits) completions.stopRetrying()
    // Once more, for executions that began after the first time and before the loop had halted.
    this.#interruptInTime()
    await this.#endPool()
    this.#isPoolEnded = true
    this.#interruption?.cancel()
    if (waits) await this.#lastCalls()
    this.#parts.close()
    completions.stopRetrying()
    await this.#storeStep('writing ended executions', () => completions.drained())
    for (const plugin of this.#parts.plugins) {
      await this.#endPlugin(plugin)
    }
    await this.#storeStep('counting what was stored', () => this.#parts.noteNeverStarted())
    await this.#storeStep('writing records of executions', () => this.#parts.recorder.close())
    await this.#closeStore()
    this.#sayWhatIsLeft()
    this.#parts.ended()
    await this.#told(
      'schedulerShutdown',
      notifier.tell('schedulerShutdown', {}, (l) => l.schedulerShutdown?.()),
    )
    await this.#told('all callbacks', notifier.drain())
  }

  /** A start under way ends first, unless listeners or a plugin hold it up for too long: it is refused then. */
  async #changesEnded(): Promise<void> {
    const { changed, options, startWaitsFor } = this.#parts
    const limitMs = (): number => Math.min(this.#limits.stepMs(graceMs) ?? answerMaxMs, answerMaxMs)
    const isHeldUp = startWaitsFor() !== null
    if (await (isHeldUp ? this.#limits.settled(limitMs, changed) : this.#storeAnswers(changed))) return
    const heldUpBy = startWaitsFor()
    if (heldUpBy === null) {
      this.#cutOff('stopping to fire')
      return
    }
    options.logger.warn(
      { heldUpBy },
      `The shutdown does not wait for a start that is held up by ${heldUpBy}.`,
    )
    this.#parts.refuseChanges()
  }

  /** Listeners of the last ends may use the scheduler, to run what follows; for a second, one may wait for this end. */
  async #lastCalls(): Promise<void> {
    const limitMs = (): number => Math.min(stepMaxMs, this.#limits.stepMs(graceMs) ?? stepMaxMs)
    await this.#limits.settled(limitMs, this.#parts.notifier.drain())
  }

  #interruptInTime(): void {
    const { executing, options } = this.#parts
    const { interruptInMs } = this.#limits
    this.#interruption?.cancel()
    if (interruptInMs === null || this.#isPoolEnded) return
    this.#interruption = options.clock.setTimer(interruptInMs, () => {
      executing.interruptAll('shutdown')
    })
  }

  async #endPool(): Promise<void> {
    const { completions, executing, notifier, options } = this.#parts
    if (!this.#parts.owns('pool')) return
    const { waits } = this.#limits
    let left = 0
    const ending = this.#guarded('The thread pool failed to shut down.', async () => {
      left = await this.#limits.withRemaining((limitMs) =>
        options.threadPool.shutdown({
          waitForJobsToComplete: waits,
          ...(limitMs === null ? {} : { timeoutMs: limitMs }),
        }),
      )
      if (waits) left += await this.#endSends(left)
    })
    // The pool keeps the limit itself; the shutdown does not wait for a pool that exceeds it.
    const limitMs = (): number | null => {
      const { remainingMs } = this.#limits
      return remainingMs === null ? null : remainingMs + stepMaxMs
    }
    if (!(await this.#limits.settled(limitMs, ending))) {
      notifier.error('The thread pool did not shut down in time.', null)
    }
    if (!waits) return
    if (left === 0) {
      await this.#storeStep('writing ended executions', () => completions.drained())
      return
    }
    notifier.error(leftOver(executing, left), null)
    if (options.interruptJobsOnShutdown) executing.interruptAll('shutdown')
    // A store that failed all this time gets no further second.
    if (completions.isStuck(stepMaxMs)) this.#cutOff('writing ended executions')
  }

  /** Some remote jobs send without a slot of the pool. Answers how many still do when the time is over. */
  async #endSends(slots: number): Promise<number> {
    const { executing, options } = this.#parts
    if (slots === 0) {
      await this.#limits.withRemaining((limitMs) => executing.drained(options.clock, limitMs ?? undefined))
    }
    return Math.max(0, executing.count - slots)
  }

  /** A step that waits for the store. A store that takes too long is cut off, and no later step waits for it. */
  async #storeStep<Answer>(what: string, action: () => Promise<Answer>): Promise<Answer | null> {
    let answer: Answer | null = null
    const work = this.#guarded(`The scheduler failed while ${what}.`, async () => {
      answer = await action()
    })
    if (this.#isCut) return null
    if (!(await this.#storeAnswers(work))) this.#cutOff(what)
    return answer
  }

  /** Without a limit of the caller, the time to answer begins when no job runs and all ends are written. */
  async #storeAnswers(work: Promise<unknown>): Promise<boolean> {
    const stepMs = (): number | null => this.#limits.stepMs(graceMs)
    const { longestLockWaitMs = 0 } = this.#parts.options.jobStore.capabilities
    if (stepMs() === null) {
      const first = Promise.race([work, this.#lastEndWritten()])
      if (!(await this.#limits.settled(stepMs, first))) return false
    }
    // One that waits for a lock is well: it must not be cut off before its own limit ends the wait.
    const storeMaxMs = Math.max(answerMaxMs, longestLockWaitMs + afterLocksMs)
    return this.#limits.settled(() => stepMs() ?? storeMaxMs, work)
  }

  async #lastEndWritten(): Promise<void> {
    const { completions, executing, options } = this.#parts
    while (executing.count > 0 || completions.isBehind) {
      await executing.drained(options.clock)
      await completions.drained()
    }
  }

  /** The shutdown does not wait for a plugin that takes too long. */
  async #endPlugin(plugin: SchedulerPlugin): Promise<void> {
    const { notifier } = this.#parts
    const ending = this.#guarded(`Plugin '${plugin.name}' failed to shut down.`, async () => {
      await plugin.shutdown?.()
    })
    if (await this.#limits.settled(() => this.#limits.answerMs, ending)) return
    notifier.error(`Plugin '${plugin.name}' did not shut down in time.`, null)
  }

  /** A store that was cut off sends nothing to its server any more, so it closes soon. */
  async #closeStore(): Promise<void> {
    const { cut, options } = this.#parts
    if (!this.#parts.owns('store')) return
    this.#parts.completions.close(this.#endedTooLate)
    const closing = this.#guarded('The job store failed to shut down.', () =>
      options.jobStore.shutdown({ cut: cut.signal }),
    )
    const isClosed = this.#isCut
      ? this.#limits.settled(() => stepMaxMs, closing)
      : this.#storeAnswers(closing)
    if (await isClosed) return
    this.#cutOff('closing the job store')
    await this.#limits.settled(() => stepMaxMs, closing)
  }

  readonly #endedTooLate = ({ trigger, fireInstanceId, isAwaited }: JobCompletion): void => {
    const { jobStore, logger } = this.#parts.options
    // What was in memory is gone.
    if (!jobStore.capabilities.persistent) return
    const what = 'An execution ended after the shutdown, so its end is not stored.'
    const follows = isAwaited
      ? 'Its result is awaited until it is reported again, or its deadline passes.'
      : 'The next start, or another node, recovers it or counts it as lost.'
    logger.warn({ triggerKey: trigger.key.toString(), fireInstanceId }, `${what} ${follows}`)
  }

  /** Reports a failure, except that of a store that was cut off. */
  async #guarded(message: string, action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (!this.#isCut) this.#parts.notifier.error(message, error)
    }
  }

  /** The shutdown does not wait for listeners that take too long. */
  async #told(callback: string, telling: Told): Promise<void> {
    const { logger } = this.#parts.options
    if (telling === null || (await this.#limits.settled(() => this.#limits.answerMs, telling))) return
    logger.warn({ callback }, `Listeners of ${callback} did not answer in time; the shutdown goes on.`)
  }

  /** From now on the store is not called, except to close it, and the shutdown does not wait for it. */
  #cutOff(what: string): void {
    if (this.#isCut) return
    const { completions, cut, recorder, thread } = this.#parts
    this.#cutOffWhile = what
    recorder.abandon()
    thread.abandon()
    completions.abandon()
    cut.abort()
    this.#parts.refuseChanges()
  }

  #sayWhatIsLeft(): void {
    const { completions, executing, notifier } = this.#parts
    const executions = executing.all().length
    const completionsUnwritten = completions.unwrittenCount
    const isStoreCutOff = this.#isCut
    if (this.#cutOffWhile !== null) {
      const message =
        `The job store did not answer in time while ${this.#cutOffWhile}, so the shutdown did not wait for it: ` +
        `${completionsUnwritten} ended executions are not written, and what was claimed may be left claimed. The ` +
        'other nodes, or the next start, settle it.'
      notifier.error(message, new SchedulerError('ERR_SHUTDOWN_INCOMPLETE', message))
    }
    if (executions === 0 && completionsUnwritten === 0 && !isStoreCutOff) return
    notifier.events.emit('shutdownIncomplete', { executions, completionsUnwritten, isStoreCutOff })
  }
}

/** Names what still runs of so many; the others have ended, and keep their slots until that is written. */
function leftOver(executing: ExecutingJobs, left: number): string {
  const running = Math.min(left, executing.count)
  const ended = left - running
  const parts: string[] = []
  if (running > 0) {
    const some = running === 1 ? 'An execution still runs' : `${running} executions still run`
    parts.push(`${some} although the time to shut down is over: ${executing.names()}.`)
  }
  if (ended > 0) {
    const some =
      ended === 1
        ? 'An execution has ended, and its end is'
        : `${ended} executions have ended, and their ends are`
    parts.push(`${some} not written although the time to shut down is over.`)
  }
  return parts.join(' ')
}
