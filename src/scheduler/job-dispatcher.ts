import { textOf } from '../core/thrown-value.ts'
import type { JobDefinition, JobExecutionContext, JobScheduler } from '../jobs/job-definition.ts'
import type { JobRegistry } from '../jobs/job-registry.ts'
import { attemptOriginOf } from '../jobstore/attempt-origin.ts'
import type { AwaitedResult } from '../jobstore/awaited-results.ts'
import type { TriggerFiredBundle } from '../jobstore/fired-bundle.ts'
import { firingPartOf } from '../jobstore/firing-part.ts'
import { type AwaitedEnd, endAwaited } from './awaited-end.ts'
import type { AwaitedFate } from './completion-writer.ts'
import { ExecutionContext, type ExecutionEnvironment } from './execution-context.ts'
import { ExecutionLog } from './execution-log.ts'
import { progressTextOf, reportOfUnbegun } from './execution-report.ts'
import { JobRunShell, type JobRunShellResources } from './job-run-shell.ts'
import type { BesidePlaces } from './larger-batches.ts'
import { Sends } from './sends.ts'

export interface JobDispatcherParts extends JobRunShellResources {
  readonly registry: JobRegistry
  /** The scheduler that jobs see. */
  readonly scheduler: () => JobScheduler
}

/** Makes a firing into an execution and hands it to the pool. */
export class JobDispatcher implements BesidePlaces {
  readonly #parts: JobDispatcherParts
  readonly #environment: ExecutionEnvironment
  readonly #sends: Sends

  constructor(parts: JobDispatcherParts) {
    this.#parts = parts
    this.#sends = new Sends(parts.logger)
    const { notifier, recorder, scheduler } = parts
    this.#environment = {
      get scheduler() {
        return scheduler()
      },
      logOf: (context) => this.#logOf(context),
      onProgress: (context: JobExecutionContext, value: unknown) => {
        const { fireInstanceId } = context
        recorder.note('progress', { fireInstanceId, progressText: () => progressTextOf(value) })
        notifier.events.emit('jobProgress', { context, value })
      },
      awaitResult: (context, options) => parts.remotes.awaitResult(context, options),
      onInterrupt: ({ fireInstanceId, jobKey }, reason) => {
        notifier.events.emit('jobInterrupted', { jobKey, fireInstanceId, reason })
      },
    }
  }

  #logOf({ bundle, fireInstanceId }: ExecutionContext): ExecutionLog {
    const { clock, logger, recorder } = this.#parts
    // Not of the context, whose job is a copy with all of its data.
    const { jobType, key } = bundle.jobDetail
    const execution = { jobKey: key.toString(), jobType, fireInstanceId }
    return new ExecutionLog(execution, { clock, limits: recorder.logLimits, logger, recorder })
  }

  reservePlaces(jobType: string, most: number): number {
    const remote = this.#parts.registry.find(jobType)?.remote
    return remote === undefined ? 0 : this.#sends.reserve(remote, most)
  }

  releasePlaces(): void {
    this.#sends.release()
  }

  /** Never throws: a firing that cannot be run is ended in the store, so that its trigger does not stay acquired. */
  dispatch(bundle: TriggerFiredBundle): void {
    const { jobFactory, notifier, registry } = this.#parts
    let problem: string
    try {
      const definition = registry.get(bundle.jobDetail.jobType)
      const context = new ExecutionContext(bundle, attemptOriginOf(bundle), this.#environment)
      // What a factory makes, it makes when the job runs: it may wait, and its failure is one of the job.
      if (definition.kind === 'inline' && definition.jobClass !== null && jobFactory === null) {
        context.jobInstance = new definition.jobClass()
      }
      if (this.#run(definition, new JobRunShell(definition, context, this.#parts))) return
      problem = `The thread pool '${this.#parts.threadPool.name}' did not take job ${nameOf(bundle)}.`
      notifier.error(problem, null)
    } catch (error) {
      problem = `Job ${nameOf(bundle)} could not be instantiated.`
      notifier.error(problem, error)
      problem += ` ${textOf(error)}`
    }
    this.#endUnbegun(bundle, problem)
  }

  #run(definition: JobDefinition<object>, shell: JobRunShell): boolean {
    const { remote } = definition
    return (
      (remote !== undefined && this.#sends.run(remote, shell)) || this.#parts.threadPool.runInThread(shell)
    )
  }

  /** Ends a firing that went on elsewhere, also one of another node; resolves when that is told, or not to be told. */
  endAwaited({ bundle, beganTimeMs, dataText }: AwaitedResult, end: AwaitedEnd): Promise<AwaitedFate> {
    const context = new ExecutionContext(bundle, attemptOriginOf(bundle), this.#environment)
    context.beganTimeMs = beganTimeMs
    context.dataText = dataText
    context.jobRunTimeMs = Math.max(0, this.#parts.clock.now() - beganTimeMs)
    context.result = end.result
    return endAwaited(end, context, this.#parts)
  }

  #endUnbegun(bundle: TriggerFiredBundle, problem: string): void {
    const { clock, completions, notifier, recorder } = this.#parts
    const report = reportOfUnbegun(bundle, problem, clock.now())
    recorder.noteCompletion(bundle, report)
    const isItem = firingPartOf(bundle.trigger.jobDataMap) !== null
    notifier.track(
      completions.complete({
        fireInstanceId: bundle.fireInstanceId,
        trigger: bundle.trigger,
        jobDetail: bundle.jobDetail,
        // The other items say the same of their own executions.
        instruction: isItem ? 'deleteTrigger' : 'setAllJobTriggersError',
        jobDataMap: null,
        retryTrigger: null,
        report,
      }),
    )
  }
}

function nameOf({ jobDetail }: TriggerFiredBundle): string {
  return jobDetail.key.toString()
}
