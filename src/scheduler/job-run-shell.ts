import type { JobExecutionError } from '../core/errors.ts'
import { after } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { JobDefinition } from '../jobs/job-definition.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { Runnable } from '../threadpool/thread-pool.ts'
import { nextTurn } from '../time/next-turn.ts'
import { type AwaitedEndParts, endAwaited } from './awaited-end.ts'
import type { ExecutingJobs } from './executing-jobs.ts'
import { conclude } from './execution-conclusion.ts'
import type { ExecutionContext } from './execution-context.ts'
import {
  askForVeto,
  tellFinalized,
  tellToBeExecuted,
  tellVetoed,
  tellWasExecuted,
} from './execution-listeners.ts'
import { completionOf, failedOutside, type Outcome, outcomeOf, vetoedOutcome } from './execution-outcome.ts'
import { confirmFiring, type FiringConfirmationParts } from './firing-confirmation.ts'
import { type JobRunnerOptions, runJob } from './job-runner.ts'
import type { RemoteExecutions } from './remote-executions.ts'
import { type JudgedRun, judge, type Verdict } from './verdict.ts'

/** What all shells of one scheduler share. */
export interface JobRunShellResources extends JobRunnerOptions, AwaitedEndParts, FiringConfirmationParts {
  readonly jobStore: JobStore
  readonly executing: ExecutingJobs
  readonly remotes: RemoteExecutions
}

/** What follows after a run of the job: it is run again at once, or goes on elsewhere. */
type Ended = Outcome | 'again' | 'elsewhere'

const runHere: JudgedRun = { isAwaited: false, retries: true }

/**
 * One execution from firing to completion: listeners in Quartz's order, the veto, the job, what follows for its
 * trigger. The end of the firing is written to the store whatever fails on the way.
 */
export class JobRunShell implements Runnable {
  readonly #definition: JobDefinition<object>
  readonly #context: ExecutionContext
  readonly #resources: JobRunShellResources

  constructor(definition: JobDefinition<object>, context: ExecutionContext, resources: JobRunShellResources) {
    this.#definition = definition
    this.#context = context
    this.#resources = resources
  }

  async run(): Promise<void> {
    const context = this.#context
    const { completions, executing } = this.#resources
    executing.add(context)
    let ended: Ended
    try {
      for (;;) {
        const run = this.#runOnce()
        ended = run instanceof Promise ? await run : run
        if (ended !== 'again') break
        context.refireCount++
        context.jobRunTimeMs = -1
      }
    } catch (error) {
      ended = failedOutside(error, context, this.#resources)
    } finally {
      executing.remove(context)
    }
    if (ended === 'elsewhere') return
    // Something may have failed after it was written down that the result is awaited.
    const isAwaited = context.awaitedReference !== null
    const storeIsBehind = completions.handOver(completionOf(ended, context, isAwaited, this.#resources))
    if (storeIsBehind !== null) await storeIsBehind
  }

  /** Asks for a veto, calls listeners and runs the job: without a promise when none of them waits for something. */
  #runOnce(): Ended | Promise<Ended> {
    const context = this.#context
    const { notifier } = this.#resources
    return after(askForVeto(context, notifier), (isVetoed) =>
      isVetoed === true ? this.#vetoed() : after(tellToBeExecuted(context, notifier), () => this.#begin()),
    )
  }

  /** A listener kept the job from running. */
  async #vetoed(): Promise<Outcome> {
    const { notifier } = this.#resources
    await tellVetoed(this.#context, notifier)
    await tellFinalized(this.#context, notifier)
    return vetoedOutcome(this.#context)
  }

  /** Listeners were told that the job is to run: so they are told of its end, where it does not begin. */
  #begin(): Ended | Promise<Ended> {
    const context = this.#context
    const confirming = confirmFiring(context, this.#resources)
    if (confirming === undefined) return this.#runJob()
    context.isRunning = true
    return confirming.then((error) => {
      // Asked again: of several that waited, the one before may have kept the event loop for long.
      if (error === null) return this.#begin()
      context.jobRunTimeMs = 0
      return this.#after(error)
    })
  }

  #runJob(): Ended | Promise<Ended> {
    const context = this.#context
    this.#resources.executing.noteRun(context)
    context.noteBeginning(this.#resources.clock)
    return after(runJob(this.#definition, context, this.#resources), (error) => {
      if (context.awaitedReference === null) return this.#after(error)
      return this.#failsToSend(error) ? this.#endUnsent(error, context.awaitedReference) : 'elsewhere'
    })
  }

  /** Judges how the job has ended, and tells listeners: that it has, then what follows. */
  #after(error: JobExecutionError | null): Ended | Promise<Ended> {
    const context = this.#context
    const { clock, notifier } = this.#resources
    return after(judge(error, context, runHere, this.#resources), (verdict) => {
      context.runsAgain = verdict.instruction === 'reExecuteJob' || verdict.again !== null
      return after(tellWasExecuted(error, context, notifier), () => {
        context.isRunning = false
        if (error?.refireImmediately !== true) return this.#conclude(error, verdict)
        // Again and again without I/O it would keep timers, signals and its own time limit from their turn.
        return nextTurn(clock).then(() => this.#conclude(error, verdict))
      })
    })
  }

  #conclude(error: JobExecutionError | null, verdict: Verdict): Ended | Promise<Ended> {
    const outcome = outcomeOf(error, verdict, this.#context, this.#resources)
    return conclude(error, verdict, outcome, this.#context, this.#resources)
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
    const context = this.#context
    const { completions, executing, logger, remotes } = this.#resources
    const { fireInstanceId, jobKey } = context
    const message = `Job ${jobKey.toString()} threw after awaitResult, which ends its firing.`
    logThrown(logger, error, message, { fireInstanceId }, 'warn')
    const { told } = await remotes.endUnsent(reference, (onHandedOver) =>
      endAwaited({ error, result: undefined, retries: true, onHandedOver }, context, this.#resources),
    )
    if (completions.isFull) {
      executing.remove(context)
      await told
    }
    return 'elsewhere'
  }
}
