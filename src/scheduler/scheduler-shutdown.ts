import { SchedulerError } from '../core/errors.ts'
import { settledWithin } from '../time/settled-within.ts'
import type { CompletionWriter } from './completion-writer.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import type { Notifier, Told } from './notifier.ts'
import type { QuartzSchedulerThread } from './quartz-scheduler-thread.ts'
import type { ShutdownOptions } from './scheduler.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import type { SchedulerPlugin } from './scheduler-plugin.ts'

/** How long each step of the way out may take where nothing is left to wait for. */
const stepMaxMs = 1000
/** How long all steps together may take after `timeoutMs`: plugins and listeners half of it, the store all of it. */
const graceMs = 1000

export interface SchedulerShutdownParts {
  /** Aborted here when the store is cut off. */
  readonly cut: AbortController
  readonly options: ResolvedSchedulerOptions
  readonly notifier: Notifier
  readonly executing: ExecutingJobs
  readonly completions: CompletionWriter
  readonly thread: QuartzSchedulerThread
  /** Stops firing, behind the changes of the life cycle that were asked for before. */
  readonly standBy: () => Promise<{ readonly told: Told }>
  /** Asks what runs to stop. */
  readonly interruptAll: () => void
  /** Whether the pool or the store is this scheduler's: one that refused it belongs to another scheduler. */
  readonly owns: (part: 'pool' | 'store') => boolean
  /** Says what is stored and was never to fire. */
  readonly noteNeverStarted: () => Promise<void>
  /** Operations on data are refused from now on. */
  readonly close: () => void
  readonly ended: () => void
}

/**
 * The way out of a scheduler, step by step. Each step is waited for as long as the caller wants to wait, or a second
 * where the caller does not; a store that is not done by then is cut off, and what it does not know is left to its
 * recovery. So a shutdown ends, whatever the server does.
 */
export class SchedulerShutdown {
  readonly #parts: SchedulerShutdownParts
  readonly #waits: boolean
  readonly #timeoutMs: number | null
  readonly #startedMs: number
  #cutOffWhile: string | null = null

  constructor(parts: SchedulerShutdownParts, { waitForJobsToComplete, timeoutMs }: ShutdownOptions) {
    this.#parts = parts
    this.#waits = waitForJobsToComplete ?? false
    this.#timeoutMs = timeoutMs ?? null
    this.#startedMs = parts.options.clock.elapsedMs()
  }

  get #isCut(): boolean {
    return this.#parts.cut.signal.aborted
  }

  async run(): Promise<void> {
    const { completions, notifier, options, standBy, thread } = this.#parts
    const standing = await this.#storeStep('stopping to fire', standBy)
    await this.#told(standing?.told ?? null)
    await this.#storeStep('giving back what was claimed', () => thread.halt())
    await this.#told(notifier.tell('schedulerShuttingdown', {}, (l) => l.schedulerShuttingdown?.()))
    const interrupts = this.#waits ? options.interruptJobsOnShutdownWithWait : options.interruptJobsOnShutdown
    if (interrupts) this.#parts.interruptAll()
    if (!this.#waits) completions.stopRetrying()
    await this.#endPool()
    this.#parts.close()
    completions.stopRetrying()
    await this.#storeStep('writing ended executions', () => completions.drained())
    for (const plugin of options.plugins) {
      await this.#endPlugin(plugin)
    }
    await this.#storeStep('counting what was stored', () => this.#parts.noteNeverStarted())
    await this.#closeStore()
    this.#sayWhatIsLeft()
    this.#parts.ended()
    await this.#told(notifier.tell('schedulerShutdown', {}, (l) => l.schedulerShutdown?.()))
    await this.#told(notifier.drain())
  }

  async #endPool(): Promise<void> {
    const { completions, notifier, options, interruptAll } = this.#parts
    if (!this.#parts.owns('pool')) return
    const limitMs = this.#remainingMs()
    let left = 0
    const ending = this.#guarded('The thread pool failed to shut down.', async () => {
      left = await options.threadPool.shutdown({
        waitForJobsToComplete: this.#waits,
        ...(limitMs === null ? {} : { timeoutMs: limitMs }),
      })
    })
    // The pool keeps the limit by itself; one that does not is not waited for.
    if (!(await settledWithin(options.clock, limitMs === null ? null : limitMs + stepMaxMs, ending))) {
      notifier.error('The thread pool did not shut down in time.', null)
    }
    if (!this.#waits) return
    if (left === 0) {
      await this.#storeStep('writing ended executions', () => completions.drained())
      return
    }
    notifier.error(`${left} executions still run although the time to shut down is over.`, null)
    if (options.interruptJobsOnShutdown) interruptAll()
    // A store that failed all the while had its time.
    if (completions.isStuck(stepMaxMs)) this.#cutOff('writing ended executions')
  }

  /** A step that is up to the store, which is cut off when it takes too long; then nothing is waited for. */
  async #storeStep<Answer>(what: string, action: () => Promise<Answer>): Promise<Answer | null> {
    let answer: Answer | null = null
    const work = this.#guarded(`The scheduler failed while ${what}.`, async () => {
      answer = await action()
    })
    if (this.#isCut) return null
    if (!(await settledWithin(this.#parts.options.clock, this.#stepMs(graceMs), work))) this.#cutOff(what)
    return answer
  }

  /** One that takes too long goes on by itself. */
  async #endPlugin(plugin: SchedulerPlugin): Promise<void> {
    const { notifier, options } = this.#parts
    const ending = this.#guarded(`Plugin '${plugin.name}' failed to shut down.`, async () => {
      await plugin.shutdown?.()
    })
    if (await settledWithin(options.clock, this.#stepMs(graceMs / 2), ending)) return
    notifier.error(`Plugin '${plugin.name}' did not shut down in time.`, null)
  }

  /** A store that was cut off has nothing to ask its server any more, so it is soon done. */
  async #closeStore(): Promise<void> {
    const { cut, options } = this.#parts
    if (!this.#parts.owns('store')) return
    const closing = this.#guarded('The job store failed to shut down.', () =>
      options.jobStore.shutdown({ cut: cut.signal }),
    )
    const limitMs = this.#isCut ? stepMaxMs : this.#stepMs(graceMs)
    if (await settledWithin(options.clock, limitMs, closing)) return
    this.#cutOff('closing the job store')
    await settledWithin(options.clock, stepMaxMs, closing)
  }

  /** Failures are told; those of a store that was cut off are no news. */
  async #guarded(message: string, action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (!this.#isCut) this.#parts.notifier.error(message, error)
    }
  }

  /** Listeners get the time of a step; one that takes longer goes on by itself. */
  async #told(telling: Told): Promise<void> {
    if (telling !== null) await settledWithin(this.#parts.options.clock, this.#stepMs(graceMs / 2), telling)
  }

  /** What is left of the time that the caller wants to wait; null for no limit. */
  #remainingMs(): number | null {
    if (!this.#waits) return 0
    if (this.#timeoutMs === null) return null
    return Math.max(0, this.#timeoutMs - this.#spentMs())
  }

  #spentMs(): number {
    return this.#parts.options.clock.elapsedMs() - this.#startedMs
  }

  /** How long the next step may take. With `timeoutMs`, all steps share one deadline, and a second after it. */
  #stepMs(afterDeadlineMs: number): number | null {
    const remainingMs = this.#remainingMs()
    if (remainingMs === null) return null
    const ownMs = Math.max(remainingMs, stepMaxMs)
    if (this.#timeoutMs === null) return ownMs
    const deadlineMs = this.#timeoutMs + (this.#waits ? afterDeadlineMs : 0)
    return Math.max(0, Math.min(ownMs, deadlineMs - this.#spentMs()))
  }

  /** The store is asked nothing more, and what it still does is not waited for. */
  #cutOff(what: string): void {
    if (this.#isCut) return
    const { completions, cut, thread } = this.#parts
    this.#cutOffWhile = what
    thread.abandon()
    completions.abandon()
    cut.abort()
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
