import { JobExecutionError } from '../core/errors.ts'
import type { InterruptTarget } from '../jobstore/cluster-view.ts'
import type { InterruptReason } from '../listeners/events.ts'
import type { Clock } from '../time/clock.ts'
import { Waiters } from '../time/waiters.ts'
import type { ExecutionContext } from './execution-context.ts'

/** The executions that this scheduler has begun and not ended, with what listeners do before and after the job. */
export class ExecutingJobs {
  readonly #contexts = new Set<ExecutionContext>()
  readonly #draining = new Waiters()
  #started = 0

  /** How often a job has begun to run since the scheduler was made: refires count, what was vetoed does not. */
  get startedCount(): number {
    return this.#started
  }

  add(context: ExecutionContext): void {
    this.#contexts.add(context)
  }

  /** Notes that the job begins. */
  noteRun(context: ExecutionContext): void {
    context.isRunning = true
    this.#started++
  }

  remove(context: ExecutionContext): void {
    this.#contexts.delete(context)
    if (this.#contexts.size === 0) this.#draining.wakeAll()
  }

  get count(): number {
    return this.#contexts.size
  }

  /** Resolves when none runs, or after `timeoutMs`. */
  async drained(clock: Clock, timeoutMs?: number): Promise<void> {
    if (this.#contexts.size > 0) await this.#draining.wait(clock, timeoutMs)
  }

  /** Keys and ids of the first ten, for a message. */
  names(): string {
    const names = this.all().map(({ fireInstanceId, jobKey }) => `${jobKey.toString()} (${fireInstanceId})`)
    return names.length <= 10 ? names.join(', ') : `${names.slice(0, 10).join(', ')}, ...`
  }

  all(): readonly ExecutionContext[] {
    return [...this.#contexts]
  }

  /**
   * Those whose job runs, or waits until it may begin: a listener that is asked for a veto does not find the execution
   * that it is asked about.
   */
  running(): readonly ExecutionContext[] {
    return this.all().filter(({ isRunning }) => isRunning)
  }

  /** Asks the executions of a job, or one execution, to stop; false when none of them runs here. */
  interrupt(target: InterruptTarget): boolean {
    const asked = this.all().filter(({ fireInstanceId, jobKey }) =>
      'jobKey' in target ? jobKey.equals(target.jobKey) : fireInstanceId === target.fireInstanceId,
    )
    for (const context of asked) interrupt(context, 'interrupt')
    return asked.length > 0
  }

  /** Asks every execution to stop, for a reason in a word. */
  interruptAll(reason: InterruptReason): void {
    for (const context of this.all()) interrupt(context, reason)
  }
}

function interrupt(context: ExecutionContext, reason: InterruptReason): void {
  const message = `Job ${context.jobKey.toString()} was interrupted (${reason}).`
  context.interrupt(new JobExecutionError(message, { code: 'ERR_JOB_INTERRUPTED' }), reason)
}
