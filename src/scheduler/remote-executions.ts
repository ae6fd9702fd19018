import {
  type ArgumentCheck,
  checkName,
  checkObject,
  checkOneOf,
  checkOptions,
  checkThat,
  checkWhole,
  refusePromise,
} from '../core/arguments.ts'
import { JobExecutionError, JobPersistenceError, SchedulerError } from '../core/errors.ts'
import { Gatherer } from '../core/gatherer.ts'
import type { JobDataMap } from '../core/job-data-map.ts'
import type { Logger } from '../core/logger.ts'
import { calledSafely } from '../core/promises.ts'
import { disarm, logThrown } from '../core/thrown-value.ts'
import type { JobRegistry } from '../jobs/job-registry.ts'
import type {
  AwaitResultOptions,
  RemoteExecution,
  RemoteJobHooks,
  RemoteResult,
  ResultTaker,
} from '../jobs/remote-job.ts'
import { shardItemsMax } from '../jobs/sharding.ts'
import {
  type AwaitedResult,
  type AwaitedResultOutcome,
  awaitedResultsAtOnce,
  type JobStoreAwaitedResults,
} from '../jobstore/awaited-results.ts'
import type { InterruptTarget } from '../jobstore/cluster-view.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { type Clock, timerDelayMaxMs } from '../time/clock.ts'
import { nextTurn } from '../time/next-turn.ts'
import type { AwaitedEnd } from './awaited-end.ts'
import type { AwaitedFate, CompletionWriter } from './completion-writer.ts'
import type { ExecutionContext } from './execution-context.ts'
import { dataTextOf } from './execution-report.ts'
import { toJobExecutionError } from './job-failure.ts'
import { LateResults } from './late-results.ts'
import type { Notifier } from './notifier.ts'
import type { Recorder } from './recorder.ts'
import { RemoteStops } from './remote-stops.ts'
import { ResultDeadlines } from './result-deadlines.ts'

/** What became of the firings that a caller interrupts. */
export interface Interrupted {
  /** Some were ended here. */
  readonly hasEnded: boolean
  /** Some are those of other nodes to end. */
  readonly isLeft: boolean
}

export interface RemoteExecutionsParts {
  readonly jobStore: JobStore
  readonly clock: Clock
  readonly logger: Logger
  readonly notifier: Notifier
  readonly registry: JobRegistry
  readonly completions: CompletionWriter
  readonly recorder: Recorder
  /** Resolves when the end is written and told, or is that of somebody else, or given up in a shutdown. */
  readonly end: (awaited: AwaitedResult, end: AwaitedEnd) => Promise<AwaitedFate>
}

const referenceMax = 200
const noteMax = 4000
const textUpTo = (min: number, max: number): ArgumentCheck =>
  checkThat(`a text of ${min} to ${max} characters`, (value) => {
    return typeof value === 'string' && value.length >= min && value.length <= max && !value.includes('\0')
  })
const checkLength = textUpTo(1, referenceMax)
/** A reference of a firing that goes on elsewhere. */
export const checkReference: ArgumentCheck = (method, argument, value, code) => {
  checkName(method, argument, value, code)
  checkLength(method, argument, value, code)
}
const awaitChecks: Readonly<Record<keyof AwaitResultOptions, ArgumentCheck>> = {
  reference: checkReference,
  note: textUpTo(0, noteMax),
  timeoutMs: checkWhole(1, timerDelayMaxMs),
  onTimeout: checkOneOf(['fail', 'retry']),
}
const resultChecks: Readonly<Record<keyof RemoteResult, ArgumentCheck>> = {
  error: () => {},
  result: () => {},
}

/** How many firings that have ended are remembered, so that none ends twice. */
const settledMax = 10_000

/** Firings that go on elsewhere: they are written down, and any node ends them when their result comes. */
export class RemoteExecutions {
  readonly #parts: RemoteExecutionsParts
  readonly #putting: Gatherer<AwaitedResult, AwaitedResultOutcome>
  readonly #finding: Gatherer<string, AwaitedResult | null>
  readonly #deadlines: ResultDeadlines
  readonly #late: LateResults
  readonly #stops: RemoteStops
  /**
   * Firings that this node has ended, or is just ending, by fire instance id: the next attempt of a job may have the
   * reference of the last one.
   */
  readonly #settled = new Set<string>()
  /** Ends that are being written, by reference. */
  readonly #ending = new Map<string, Promise<unknown>>()
  /** Ends of firings whose jobs have thrown here: each resolves when it is told, or is not to be told. */
  readonly #unsent = new Set<Promise<void>>()
  readonly #connected = new Set<RemoteJobHooks>()
  /** What remote jobs want called when the scheduler shuts down. */
  readonly #ends: (() => unknown)[] = []

  constructor(parts: RemoteExecutionsParts) {
    this.#parts = parts
    this.#putting = new Gatherer((results) => this.#store('awaitResult').put(results))
    this.#finding = new Gatherer(
      async (references) => {
        const found = await this.#store('reportResult').find([...new Set(references)])
        const byReference = new Map(found.map((awaited) => [awaited.reference, awaited]))
        return references.map((reference) => byReference.get(reference) ?? null)
      },
      async () => {
        // Results that come meanwhile are looked up together, and their ends written together.
        await nextTurn(parts.clock)
        await parts.completions.roundEnded()
      },
    )
    this.#late = new LateResults(parts)
    this.#stops = new RemoteStops(parts)
    this.#deadlines = new ResultDeadlines({
      ...parts,
      hasRemoteJobs: () => this.#remoteJobs().length > 0,
      endLate: (awaited) => this.#endLate(awaited),
    })
  }

  /** How many items a firing of a remote job has now. Never throws. */
  itemsOf(jobType: string, data: JobDataMap): number {
    const { notifier, registry } = this.#parts
    try {
      const count = registry.find(jobType)?.remote?.items?.(data) ?? 1
      disarm(count)
      return Math.min(Math.max(Math.floor(count) || 1, 1), shardItemsMax)
    } catch (error) {
      notifier.error(
        `Job type '${jobType}' does not say how many items a firing has: this one has one.`,
        error,
      )
      return 1
    }
  }

  /** Tells each remote job, once, who takes its results: all that were not told or, when one throws, none. */
  connect(taker: ResultTaker): void {
    const { capabilities, notes } = this.#parts.jobStore
    const told = this.#ends.length
    const added = new Set(this.#remoteJobs().filter((hooks) => !this.#connected.has(hooks)))
    try {
      for (const hooks of added) {
        const end: unknown = hooks.connect?.(taker, capabilities.clustered ? notes : null)
        refusePromise('connect', 'a remote job', end)
        if (typeof end === 'function') this.#ends.push(end as () => unknown)
      }
    } catch (error) {
      this.#callEnds(told)
      throw error
    }
    for (const hooks of added) this.#connected.add(hooks)
  }

  /** The scheduler closes: calls what `connect` of the remote jobs has returned, and waits for no `stop` of theirs. */
  disconnect(): void {
    this.#stops.close()
    this.#callEnds(0)
  }

  #callEnds(from: number): void {
    for (const end of this.#ends.splice(from)) {
      calledSafely(end, (error) => {
        logThrown(this.#parts.logger, error, 'what the connect of a remote job returned failed')
      })
    }
  }

  start(): void {
    this.#deadlines.start()
  }

  stop(): void {
    this.#deadlines.stop()
  }

  /** Whether the end of a firing whose job has thrown here is not told yet. */
  get isEnding(): boolean {
    return this.#unsent.size > 0
  }

  /** Resolves when no look for deadlines is under way, and what has failed to send has ended. */
  async settled(): Promise<void> {
    await this.#deadlines.settled()
    await Promise.all(this.#unsent)
  }

  async awaitResult(context: ExecutionContext, options: AwaitResultOptions): Promise<void> {
    const { clock, recorder } = this.#parts
    checkObject('awaitResult', 'options', options, 'ERR_INVALID_OPTION')
    checkOptions('awaitResult', options, awaitChecks)
    awaitChecks.timeoutMs('awaitResult', 'timeoutMs', options.timeoutMs, 'ERR_INVALID_OPTION')
    const { bundle } = context
    const { reference = bundle.fireInstanceId, note = '', timeoutMs, onTimeout = 'fail' } = options
    requireUnasked(context)
    // Nothing is to be sent by an execution that somebody has interrupted.
    throwInterruption(context)
    const nowMs = clock.now()
    const deadlineMs = nowMs + timeoutMs
    const outcome = await this.#putting.add({
      reference,
      note,
      deadlineMs,
      retriesOnTimeout: onTimeout === 'retry',
      beganTimeMs: context.beganTimeMs ?? nowMs,
      // By the time it ends, the job may be another one.
      ...(recorder.keepsOutcome('failed') && { dataText: dataTextOf(bundle) }),
      bundle,
    })
    if (outcome !== 'awaited') throw refusal(outcome, reference, context)
    context.awaitedReference = reference
    this.#deadlines.expect(deadlineMs)
    // The one who interrupted it meanwhile may not have found the row. What was taken over is not this node's to end.
    if (!context.isTakenOver) throwInterruption(context)
  }

  async awaitsResult(reference: string): Promise<boolean> {
    this.#store('awaitsResult')
    return (await this.#finding.add(reference)) !== null
  }

  async reportResult(reference: string, result: RemoteResult): Promise<boolean> {
    checkReference('reportResult', 'reference', reference)
    checkOptions('reportResult', result, resultChecks)
    const awaited = await this.#finding.add(reference)
    const { error = null } = result
    if (awaited !== null) {
      const { key } = awaited.bundle.jobDetail
      const failure = error === null ? null : toJobExecutionError(key, error)
      if (await this.#end(awaited, { error: failure, result: result.result, retries: true })) return true
    } else await this.#ending.get(reference)
    const fireInstanceId = await this.#late.record(reference, result)
    this.#parts.notifier.events.emit('resultLate', { reference, error, fireInstanceId })
    return false
  }

  /** Whether this node has the other half of these jobs, so that it can have their firings stopped. */
  knows(jobType: string): boolean {
    return this.#parts.registry.find(jobType)?.remote !== undefined
  }

  /**
   * Ends those that a caller interrupts.
   *
   * @param choose says of which of these job types this node ends the firings
   */
  async interrupt(
    target: InterruptTarget,
    choose: (jobTypes: readonly string[]) => Promise<readonly string[]>,
  ): Promise<Interrupted> {
    const { awaitedResults } = this.#parts.jobStore
    const seen = new Set<string>()
    let hasEnded = false
    let isLeft = false
    for (;;) {
      const found = (await awaitedResults?.findTarget(target)) ?? []
      const unseen = found.filter(({ bundle }) => !seen.has(bundle.fireInstanceId))
      for (const { bundle } of unseen) seen.add(bundle.fireInstanceId)
      const chosen = unseen.length === 0 ? [] : await choose([...new Set(unseen.map(typeOf))])
      const mine = unseen.filter((awaited) => chosen.includes(typeOf(awaited)))
      isLeft ||= mine.length < unseen.length
      const ended = await Promise.all(mine.map((awaited) => this.#interrupt(awaited)))
      hasEnded ||= ended.includes(true)
      // An answer that is full may leave some out. Those that could not be ended are in the next one as well.
      if (unseen.length === 0 || found.length < awaitedResultsAtOnce) return { hasEnded, isLeft }
    }
  }

  /** Whether the caller is the one who ends the firing. */
  claim(fireInstanceId: string): boolean {
    if (this.#settled.has(fireInstanceId)) return false
    this.#stops.noteEnd(fireInstanceId)
    this.#settled.add(fireInstanceId)
    if (this.#settled.size > settledMax) {
      const [oldest] = this.#settled
      if (oldest !== undefined) this.#settled.delete(oldest)
    }
    return true
  }

  /** A caller who reports the result of a firing whose end is being written is answered when that is known. */
  noteEnding(reference: string, fate: Promise<AwaitedFate>): Promise<boolean> {
    const ending = fate.then((known) => {
      // One that is not written stays, so that another caller who reports it meanwhile is refused as well.
      if (known === 'givenUp') throw notStored(reference)
      if (this.#ending.get(reference) === ending) this.#ending.delete(reference)
      return known === 'ended'
    })
    this.#ending.set(reference, ending)
    return ending
  }

  /** Ends a firing whose job has thrown here; resolves when its end waits only to be written and `told`. */
  async endUnsent(
    reference: string,
    end: (onHandedOver: () => void) => Promise<AwaitedFate>,
  ): Promise<{ readonly told: Promise<void> }> {
    return new Promise((resolve) => {
      const ending = this.noteEnding(
        reference,
        end(() => {
          resolve({ told })
        }),
      )
      const settled = (): void => {
        this.#unsent.delete(told)
        resolve({ told })
      }
      // What a shutdown leaves unwritten is counted there.
      const told: Promise<void> = ending.then(settled, settled)
      this.#unsent.add(told)
      // A shutdown lets the listeners of the last ends answer.
      this.#parts.notifier.track(told)
    })
  }

  /**
   * False when it was ended by another caller, and that is written: one who is told so will not report it again, and
   * what is not written yet may be lost with this node.
   *
   * @throws SchedulerError ERR_SCHEDULER_SHUTDOWN when the scheduler shuts down before it is written
   */
  async #end(awaited: AwaitedResult, end: AwaitedEnd): Promise<boolean> {
    const { bundle, reference } = awaited
    if (this.claim(bundle.fireInstanceId)) return this.noteEnding(reference, this.#parts.end(awaited, end))
    await this.#ending.get(reference)
    return false
  }

  async #endLate(awaited: AwaitedResult): Promise<void> {
    const job = awaited.bundle.jobDetail.key.toString()
    const { deadlineMs, reference, retriesOnTimeout } = awaited
    const message =
      `Job ${job} has no result: none was reported under '${reference}' until ` +
      `${new Date(deadlineMs).toISOString()}. It may still run elsewhere.`
    const error = new JobExecutionError(message, { code: 'ERR_JOB_TIMEOUT' })
    await this.#end(awaited, { error, result: undefined, retries: retriesOnTimeout, mayBeLate: true })
  }

  async #interrupt(awaited: AwaitedResult): Promise<boolean> {
    const { notifier, registry } = this.#parts
    const { bundle, reference } = awaited
    const { fireInstanceId, jobDetail } = bundle
    const remote = registry.find(jobDetail.jobType)?.remote
    const notStopped = `What job ${jobDetail.key.toString()} runs elsewhere ('${reference}') was not stopped`
    let problem: { readonly message: string; readonly error: unknown } | null = null
    try {
      const why = await this.#stops.ask(fireInstanceId, () => remote?.stop?.(executionOf(awaited)))
      if (why !== null) problem = { message: `${notStopped}, as far as is known: ${why}.`, error: null }
      if (remote === undefined) {
        problem = { message: `${notStopped}: no node is known that has the code to stop it.`, error: null }
      }
    } catch (error) {
      problem = { message: `${notStopped}.`, error }
    }
    const onEnded = (): void => {
      if (problem !== null) notifier.error(problem.message, problem.error)
      notifier.events.emit('jobInterrupted', { jobKey: jobDetail.key, fireInstanceId, reason: 'interrupt' })
    }
    const message = `Job ${jobDetail.key.toString()} was interrupted (interrupt).`
    const error = new JobExecutionError(message, { code: 'ERR_JOB_INTERRUPTED' })
    return this.#end(awaited, { error, result: undefined, retries: true, onEnded })
  }

  #remoteJobs(): readonly RemoteJobHooks[] {
    const { registry } = this.#parts
    return registry.jobTypes.flatMap((jobType) => registry.find(jobType)?.remote ?? [])
  }

  #store(method: string): JobStoreAwaitedResults {
    const { awaitedResults, name } = this.#parts.jobStore
    if (awaitedResults !== null) return awaitedResults
    throw new SchedulerError('ERR_NOT_SUPPORTED', `${method}: ${name} keeps no firings that go on elsewhere.`)
  }
}

/** @throws SchedulerError ERR_SCHEDULER_STATE when it was called before, or the job has ended */
function requireUnasked({ awaitedReference, awaiting, jobKey, jobRunTimeMs }: ExecutionContext): void {
  if (awaiting === null && awaitedReference === null && jobRunTimeMs < 0) return
  const problem =
    awaiting !== null || awaitedReference !== null
      ? 'call it once, while the job runs.'
      : `job ${jobKey.toString()} has ended. Await it before the job returns, and send nothing.`
  throw new SchedulerError('ERR_SCHEDULER_STATE', `awaitResult: ${problem}`)
}

/** @throws JobExecutionError when the execution was asked to stop */
function throwInterruption({ interruption }: ExecutionContext): void {
  if (interruption !== null) throw interruption
}

function typeOf({ bundle }: AwaitedResult): string {
  return bundle.jobDetail.jobType
}

function executionOf({ bundle, deadlineMs, note, reference }: AwaitedResult): RemoteExecution {
  return {
    reference,
    note,
    fireInstanceId: bundle.fireInstanceId,
    jobKey: bundle.jobDetail.key,
    triggerKey: bundle.trigger.key,
    fireTime: new Date(bundle.fireTimeMs),
    deadline: new Date(deadlineMs),
  }
}

function notStored(reference: string): SchedulerError {
  const message =
    `The end of the firing under '${reference}' is not stored, because the scheduler shuts down. Report or interrupt ` +
    'it again on another node, or after the next start.'
  return new SchedulerError('ERR_SCHEDULER_SHUTDOWN', message)
}

function refusal(
  outcome: 'taken' | 'gone',
  reference: string,
  { fireInstanceId }: ExecutionContext,
): SchedulerError {
  if (outcome === 'taken') {
    return new JobPersistenceError(`awaitResult: another firing has the reference '${reference}'.`, {
      code: 'ERR_OBJECT_ALREADY_EXISTS',
    })
  }
  const message = `awaitResult: another node has recovered the firing '${fireInstanceId}'. Send nothing.`
  return new SchedulerError('ERR_SCHEDULER_STATE', message)
}
