import { invariant, type JobExecutionError } from '../core/errors.ts'
import type { IdGenerator } from '../core/ids.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import type { Logger } from '../core/logger.ts'
import { after } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { JobDefinition } from '../jobs/job-definition.ts'
import type { RetryPolicy } from '../jobs/retry-policy.ts'
import type { ExecutionReport } from '../jobstore/execution-report.ts'
import type { CompletedExecutionInstruction, JobCompletion, JobStore } from '../jobstore/job-store.ts'
import { isManualTriggerKey } from '../jobstore/manual-trigger.ts'
import type { TriggerListener } from '../listeners/trigger-listener.ts'
import type { Runnable } from '../threadpool/thread-pool.ts'
import { nextTurn } from '../time/next-turn.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { AwaitedFate, CompletionWriter } from './completion-writer.ts'
import { dataToPersist } from './data-to-persist.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import type { ExecutionContext } from './execution-context.ts'
import { type ExecutionEnd, endOf, finishedTimeOf, reportOf, textsOf } from './execution-report.ts'
import { isStored } from './is-stored.ts'
import { type JobRunnerOptions, runJob } from './job-runner.ts'
import type { LateCauses } from './late-causes.ts'
import type { Notifier, Told } from './notifier.ts'
import type { Recorder } from './recorder.ts'
import type { AwaitedEnd, RemoteExecutions } from './remote-executions.ts'
import { recoveryTriggerOf, retryTriggerFor } from './retry.ts'
import { canBeRetried, goesOn, instructionAfter, isOver, type Verdict } from './verdict.ts'

/** What all shells of one scheduler share. */
export interface JobRunShellResources extends JobRunnerOptions {
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly notifier: Notifier
  readonly executing: ExecutingJobs
  readonly completions: CompletionWriter
  readonly recorder: Recorder
  readonly lateCauses: LateCauses
  readonly remotes: RemoteExecutions
  readonly maxRefires: number
  readonly maxJobDataBytes: number
  readonly jobStore: Pick<JobStore, 'capabilities' | 'getJob'>
}

/** What an execution leaves for the store. */
interface Outcome {
  readonly instruction: CompletedExecutionInstruction
  readonly retry: Trigger | null
  /** What runs the job again after the shutdown that interrupted it. */
  readonly recovery: Trigger | null
  readonly end: ExecutionEnd
}

/** What follows after a run of the job: it is run again at once, or goes on elsewhere. */
type Ended = Outcome | 'again' | 'elsewhere'

/**
 * One execution from firing to completion: listeners in Quartz's order, the veto, the job, what follows for its
 * trigger. The end of the firing is written to the store whatever fails on the way.
 */
export class JobRunShell implements Runnable {
  /** Null for an execution that went on elsewhere and has ended there. */
  readonly #definition: JobDefinition<object> | null
  readonly #context: ExecutionContext
  #mayBeLate = false
  readonly #resources: JobRunShellResources

  constructor(
    definition: JobDefinition<object> | null,
    context: ExecutionContext,
    resources: JobRunShellResources,
  ) {
    this.#definition = definition
    this.#context = context
    this.#resources = resources
  }

  async run(): Promise<void> {
    const { completions, executing } = this.#resources
    executing.add(this.#context)
    let ended: Ended
    try {
      for (;;) {
        const run = this.#runOnce()
        ended = run instanceof Promise ? await run : run
        if (ended !== 'again') break
        this.#context.refireCount++
        this.#context.jobRunTimeMs = -1
      }
    } catch (error) {
      ended = this.#failedOutside(error)
    } finally {
      executing.remove(this.#context)
    }
    if (ended === 'elsewhere') return
    const storeIsBehind = completions.handOver(this.#completion(ended))
    if (storeIsBehind !== null) await storeIsBehind
  }

  /** Whether the store keeps a row for its result. */
  get #isAwaited(): boolean {
    return this.#definition === null || this.#context.awaitedReference !== null
  }

  /**
   * Ends an execution whose result is awaited. Others may be doing so, here and on other nodes: the one whose end the
   * store has taken calls the listeners afterwards, and the others call none. Resolves when they were called.
   */
  async endAwaited({
    error,
    mayBeLate = false,
    onEnded,
    onHandedOver,
    retries,
  }: AwaitedEnd): Promise<AwaitedFate> {
    const { completions, recorder } = this.#resources
    const context = this.#context
    this.#mayBeLate = mayBeLate
    let verdict: Verdict | null = null
    let outcome: Outcome
    try {
      verdict = await this.#judge(error, retries)
      outcome = this.#outcome(error, verdict)
    } catch (thrown) {
      outcome = this.#failedOutside(thrown)
    }
    const completion = this.#completion(outcome)
    const writing = completions.completeAwaited(completion)
    onHandedOver?.()
    const fate = await writing
    if (fate !== 'ended') return fate
    onEnded?.()
    if (completion.report !== undefined) recorder.noteCompletion(context.bundle, completion.report)
    if (verdict !== null) await this.#tellEnd(error, verdict, outcome)
    return fate
  }

  async #tellEnd(error: JobExecutionError | null, verdict: Verdict, outcome: Outcome): Promise<void> {
    this.#context.runsAgain = verdict.again !== null
    try {
      await this.#tellWasExecuted(error)
      this.#context.isRunning = false
      await this.#conclude(error, verdict, outcome)
    } catch (thrown) {
      this.#failedOutside(thrown)
    }
  }

  /** When something outside the job fails, the trigger goes on as after a job that ended well. */
  #failedOutside(error: unknown): Outcome {
    const { notifier } = this.#resources
    notifier.error(`Execution of job ${this.#context.jobKey.toString()} failed outside the job.`, error)
    const instruction = instructionAfter(this.#context.trigger, null)
    return { instruction, retry: null, recovery: null, end: endOf(error) }
  }

  /** Asks for a veto, calls listeners and runs the job: without a promise when none of them waits for something. */
  #runOnce(): Ended | Promise<Ended> {
    return after(this.#askForVeto(), (isVetoed) =>
      isVetoed === true ? this.#vetoed() : after(this.#tellToBeExecuted(), () => this.#runJob()),
    )
  }

  #runJob(): Ended | Promise<Ended> {
    const context = this.#context
    const definition = this.#definition
    invariant(definition !== null, 'what runs here has its definition')
    this.#resources.executing.noteRun(context)
    context.noteBeginning(this.#resources.clock)
    return after(runJob(definition, context, this.#resources), (error) => {
      if (context.awaitedReference === null) return this.#after(error)
      return this.#failsToSend(error) ? this.#endUnsent(error, context.awaitedReference) : 'elsewhere'
    })
  }

  /**
   * Whether the failure of a job ends its execution, whose result is awaited, or has come already. Where another node
   * has taken it over, it does not.
   */
  #failsToSend(error: JobExecutionError | null): error is JobExecutionError {
    const { fireInstanceId, isTakenOver } = this.#context
    return error !== null && !isTakenOver && this.#resources.remotes.claim(fireInstanceId)
  }

  /** Nothing runs here any more. The store may never take the end, and what was thrown is known here alone. */
  async #endUnsent(error: JobExecutionError, reference: string): Promise<'elsewhere'> {
    const { completions, executing, logger, remotes } = this.#resources
    const { fireInstanceId, jobKey } = this.#context
    const message = `Job ${jobKey.toString()} threw after awaitResult, which ends its firing.`
    logThrown(logger, error, message, { fireInstanceId }, 'warn')
    const { told } = await remotes.endUnsent(reference, (onHandedOver) =>
      this.endAwaited({ error, result: undefined, retries: true, onHandedOver }),
    )
    if (completions.isFull) {
      executing.remove(this.#context)
      await told
    }
    return 'elsewhere'
  }

  #judge(error: JobExecutionError | null, retries: boolean): Verdict | Promise<Verdict> {
    const verdict = error === null ? this.#goodEnd() : this.#verdict(error, retries)
    return verdict.again === null || verdict.again === 'recovery' ? verdict : this.#unlessDeleted(verdict)
  }

  /** What follows after the job has ended. */
  #after(error: JobExecutionError | null): Ended | Promise<Ended> {
    return after(this.#judge(error, true), (verdict) => {
      this.#context.runsAgain = verdict.instruction === 'reExecuteJob' || verdict.again !== null
      return after(this.#tellWasExecuted(error), () => {
        this.#context.isRunning = false
        if (error?.refireImmediately !== true) return this.#decide(error, verdict)
        // Again and again without I/O it would keep timers, signals and its own time limit from their turn.
        return nextTurn(this.#resources.clock).then(() => this.#decide(error, verdict))
      })
    })
  }

  /** Listeners and events must not be told of another attempt of a job that is gone or replaced: nothing runs it. */
  async #unlessDeleted(verdict: Verdict): Promise<Verdict> {
    const { clock, jobStore } = this.#resources
    if (await isStored(jobStore, clock, this.#context.bundle.jobDetail)) return verdict
    return { ...verdict, again: null, isDeleted: true }
  }

  #goodEnd(): Verdict {
    return this.#context.trigger.mayFireAgain() ? goesOn : isOver
  }

  /** Decided before listeners are told: what happens while they are is no part of how the job ended. */
  #verdict(error: JobExecutionError, retries: boolean): Verdict {
    const { attempt, bundle, interruption, isEndedByShutdown, isTakenOver, refireCount, trigger } =
      this.#context
    const { jobStore, maxRefires } = this.#resources
    const { requestsRecovery, retry } = bundle.jobDetail
    const asked = instructionAfter(trigger, error)
    // An interrupted job is not refired, nor one that went on elsewhere.
    const mayRefire = !this.#isAwaited && interruption === null
    const hasNoRefires = asked === 'reExecuteJob' && mayRefire && refireCount >= maxRefires
    const isRefused = asked === 'reExecuteJob' && (!mayRefire || hasNoRefires)
    const instruction = isRefused ? instructionAfter(trigger, null) : asked
    // The node that has taken it over runs it again, or does not.
    const mayRunAgain = canBeRetried(instruction) && !isTakenOver && !error.giveUp
    // As after a crash, without counting an attempt. In memory nothing would be left to run it.
    const recovers = isEndedByShutdown && requestsRecovery && jobStore.capabilities.persistent
    if (mayRunAgain && recovers && this.#definition !== null)
      return { instruction, hasNoRefires, again: 'recovery', isDeleted: false }
    const triesAgain = mayRunAgain && retries && retry !== null && attempt < retry.attempts
    return { instruction, hasNoRefires, again: triesAgain ? retry : null, isDeleted: false }
  }

  #decide(error: JobExecutionError | null, verdict: Verdict): Ended | Promise<Ended> {
    return this.#conclude(error, verdict, this.#outcome(error, verdict))
  }

  #outcome(error: JobExecutionError | null, { again, instruction }: Verdict): Outcome {
    const recovery = again === 'recovery' ? recoveryTriggerOf(this.#context, this.#resources) : null
    const retry = again === null || again === 'recovery' ? null : this.#retry(again)
    return { instruction, retry, recovery, end: endOf(error) }
  }

  /** Tells what follows. */
  #conclude(
    error: JobExecutionError | null,
    { hasNoRefires, instruction, isDeleted }: Verdict,
    outcome: Outcome,
  ): Ended | Promise<Ended> {
    if (hasNoRefires) this.#reportRefires()
    if (error !== null) this.#reportFailure(error, outcome, isDeleted)
    return after(this.#tellComplete(instruction), () =>
      instruction === 'reExecuteJob' ? 'again' : this.#finalized(outcome),
    )
  }

  #finalized(outcome: Outcome): Outcome | Promise<Outcome> {
    return after(this.#tellFinalized(), () => {
      if (outcome.retry !== null) this.#tellRetry(outcome.retry)
      return outcome
    })
  }

  /** Reports that a listener kept the job from running. */
  async #vetoed(): Promise<Outcome> {
    const context = this.#context
    const { notifier } = this.#resources
    notifier.events.emit('jobExecutionVetoed', { context })
    const listeners = notifier.jobListenersFor(context.jobKey)
    await notifier.callEach('jobExecutionVetoed', listeners, (listener) =>
      listener.jobExecutionVetoed?.(context),
    )
    await this.#tellFinalized()
    const end: ExecutionEnd = { outcome: 'vetoed', errorText: null }
    return { instruction: instructionAfter(context.trigger, null), retry: null, recovery: null, end }
  }

  /** A job may refire itself `maxRefires` times; after that its failure is a plain one. */
  #reportRefires(): void {
    const { maxRefires, notifier } = this.#resources
    notifier.error(
      `Job ${this.#context.jobKey.toString()} asked to be refired more than maxRefires (${maxRefires}) times; ` +
        'its schedule goes on.',
      null,
    )
  }

  #retry(policy: RetryPolicy): Trigger {
    const context = this.#context
    const { clock, ids } = this.#resources
    const origin = {
      attempt: context.attempt,
      triggerKey: context.originalTriggerKey,
      scheduledFireTimeMs: context.scheduledFireTimeMs,
    }
    return retryTriggerFor(context.bundle, policy, origin, clock.now(), ids)
  }

  /** Logs an error when the job is not tried again, a warning when it is tried again or was interrupted. */
  #reportFailure(
    error: JobExecutionError,
    { instruction, retry, recovery }: Outcome,
    isDeleted: boolean,
  ): void {
    const { attempt, bundle, fireInstanceId, isTakenOver, jobKey, originalTriggerKey } = this.#context
    const { logger, notifier } = this.#resources
    const attempts = bundle.jobDetail.retry?.attempts ?? null
    const fields = {
      jobType: bundle.jobDetail.jobType,
      triggerKey: originalTriggerKey.toString(),
      fireInstanceId,
    }
    const name = `Job ${jobKey.toString()}`
    const isLast = attempts !== null && (attempt >= attempts || error.giveUp) && canBeRetried(instruction)
    const isExhausted = isLast && recovery === null && !isTakenOver
    if (isTakenOver) {
      logThrown(logger, error, `${name} ended here after another node had taken it over.`, fields, 'warn')
    } else if (recovery !== null) {
      logThrown(logger, error, `${name} was interrupted by the shutdown and will run again.`, fields, 'warn')
    } else if (instruction === 'reExecuteJob') {
      logThrown(logger, error, `${name} failed and is run again at once.`, fields, 'warn')
    } else if (retry !== null && attempts !== null) {
      const when = `attempt ${attempt} of ${attempts}; the next is at ${retry.startTime.toISOString()}`
      logThrown(logger, error, `${name} failed in ${when}.`, fields, 'warn')
    } else if (error.code === 'ERR_JOB_INTERRUPTED') {
      logThrown(logger, error, `${name} was interrupted.`, fields, 'warn')
    } else if (isDeleted) {
      logThrown(logger, error, `${name} failed and is not tried again: it was deleted or replaced.`, fields)
    } else {
      const which = error.giveUp ? `attempt ${attempt}, gave up` : `the last of ${attempts} attempts`
      const how = isExhausted ? ` in ${which} and is not tried again` : ''
      logThrown(logger, error, `${name} failed${how}.`, fields)
    }
    if (!isExhausted && !isDeleted) return
    notifier.events.emit('retriesExhausted', {
      jobKey,
      triggerKey: originalTriggerKey,
      attempts: attempt,
      error,
    })
  }

  #completion({ instruction, retry, recovery, end }: Outcome): JobCompletion {
    const { bundle } = this.#context
    const report = this.#report(end)
    const isAwaited = this.#isAwaited
    const completion: JobCompletion = {
      fireInstanceId: bundle.fireInstanceId,
      trigger: bundle.trigger,
      jobDetail: bundle.jobDetail,
      instruction,
      jobDataMap: isAwaited ? null : this.#dataToPersist(),
      retryTrigger: retry ?? recovery,
      report,
    }
    // Spread by spread, the completion of each plain job would take several times as long.
    return isAwaited ? { ...completion, isAwaited, ...(this.#mayBeLate && { mayBeLate: true }) } : completion
  }

  #report(end: ExecutionEnd): ExecutionReport {
    const context = this.#context
    const { clock, lateCauses, recorder } = this.#resources
    const report = reportOf(context, end, finishedTimeOf(context, clock, this.#isAwaited))
    const { fireTimeMs, jobDetail } = context.bundle
    if (jobDetail.disallowConcurrentExecution) {
      lateCauses.blocked(jobDetail.key, fireTimeMs, report.finishedTimeMs)
    }
    if (end.outcome === 'vetoed') this.#noteVeto(report)
    // Of several ends of one that is awaited, the one that counts is noted afterwards.
    if (!context.isTakenOver && !this.#isAwaited) recorder.noteCompletion(context.bundle, report)
    if (context.lastProgress !== null) {
      recorder.note('progress', { fireInstanceId: context.fireInstanceId, progressText: () => null })
    }
    if (!recorder.keepsOutcome(end.outcome)) return report
    const logLines = context.isTakenOver ? null : recorder.takeLogLines(context.fireInstanceId)
    // Into the report: a copy with one more field costs more than the report.
    report.texts = textsOf(context)
    if (logLines !== null) report.logLines = logLines
    return report
  }

  #noteVeto({ attempt, finishedTimeMs, scheduledFireTimeMs, triggerKey }: ExecutionReport): void {
    // Another attempt at a planned instant is no misfire, nor what a caller asked for.
    if (attempt > 1 || isManualTriggerKey(triggerKey)) return
    this.#resources.recorder.note('misfires', {
      triggerKey,
      jobKey: this.#context.jobKey,
      cause: 'vetoed',
      policy: null,
      noticedTimeMs: finishedTimeMs,
      fires: scheduledFireTimeMs,
    })
  }

  /** Null when there is nothing to store, or what there is cannot be stored. */
  #dataToPersist(): JobDataMap | null {
    const { maxJobDataBytes, notifier } = this.#resources
    try {
      return dataToPersist(this.#context, maxJobDataBytes)
    } catch (error) {
      const name = this.#context.jobKey.toString()
      notifier.error(`Job ${name} left data that cannot be stored; the data before it are kept.`, error)
      return null
    }
  }

  /** Calls the trigger listeners and asks them for a veto; null when there are none. */
  #askForVeto(): Promise<boolean> | null {
    const context = this.#context
    const { trigger } = context
    const { notifier } = this.#resources
    if (notifier.events.has('triggerFired')) notifier.events.emit('triggerFired', { trigger, context })
    const listeners = notifier.triggerListenersFor(trigger.key)
    return listeners.length === 0 ? null : this.#vetoOf(listeners)
  }

  async #vetoOf(listeners: readonly TriggerListener[]): Promise<boolean> {
    const context = this.#context
    const { trigger } = context
    const { notifier } = this.#resources
    let vetoed = false
    for (const listener of listeners) {
      await notifier.callEach('triggerFired', [listener], () => listener.triggerFired?.(trigger, context))
      await notifier.callEach('vetoJobExecution', [listener], async () => {
        const answer: unknown = await listener.vetoJobExecution?.(trigger, context)
        if (answer === true) vetoed = true
        // What counts as true elsewhere was meant as a veto.
        else if (Boolean(answer)) notifier.noVeto(listener, answer)
      })
    }
    return vetoed
  }

  #tellToBeExecuted(): Told {
    const context = this.#context
    const { notifier } = this.#resources
    if (notifier.events.has('jobToBeExecuted')) notifier.events.emit('jobToBeExecuted', { context })
    const listeners = notifier.jobListenersFor(context.jobKey)
    return notifier.callEach('jobToBeExecuted', listeners, (listener) => listener.jobToBeExecuted?.(context))
  }

  #tellWasExecuted(error: JobExecutionError | null): Told {
    const context = this.#context
    const { notifier } = this.#resources
    if (notifier.events.has('jobWasExecuted')) notifier.events.emit('jobWasExecuted', { context, error })
    const listeners = notifier.jobListenersFor(context.jobKey)
    return notifier.callEach('jobWasExecuted', listeners, (listener) =>
      listener.jobWasExecuted?.(context, error),
    )
  }

  #tellComplete(instruction: CompletedExecutionInstruction): Told {
    const context = this.#context
    const { trigger } = context
    const { notifier } = this.#resources
    if (notifier.events.has('triggerComplete')) {
      notifier.events.emit('triggerComplete', { trigger, context, instruction })
    }
    const listeners = notifier.triggerListenersFor(trigger.key)
    return notifier.callEach('triggerComplete', listeners, (listener) =>
      listener.triggerComplete?.(trigger, context, instruction),
    )
  }

  #tellFinalized(): Told {
    const { trigger } = this.#context
    if (trigger.mayFireAgain()) return null
    return this.#resources.notifier.tell('triggerFinalized', { trigger }, (listener) =>
      listener.triggerFinalized?.(trigger),
    )
  }

  #tellRetry(retry: Trigger): void {
    const context = this.#context
    this.#resources.notifier.events.emit('jobRetryScheduled', {
      context,
      attempt: context.attempt + 1,
      retryTime: retry.startTime,
      triggerKey: retry.key,
    })
  }
}
