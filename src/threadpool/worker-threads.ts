import { fileURLToPath } from 'node:url'
import { SchedulerError } from '../core/errors.ts'
import { moduleBeside, type ThreadEntry } from '../core/package-files.ts'
import { type Clock, type ClockTimer, setTimeLimit, systemClock } from '../time/clock.ts'
import { Waiters } from '../time/waiters.ts'
import { loadPiscina, type Piscina, type PiscinaModule, type PiscinaWorker } from './piscina-module.ts'
import type { ResolvedPiscinaOptions } from './piscina-options.ts'
import { type LeaseEvents, ThreadLease } from './thread-lease.ts'
import type { StuckThread, ThreadPoolContext, WorkerTaskHandlers } from './thread-pool.ts'
import { exitTimeoutMs, type PoolThread, ThreadRoster } from './thread-roster.ts'
import { decodeFields } from './value-wire.ts'
import { isLateLogLine, type LeaseOffer, type WorkerTask, type WorkerTaskResult } from './wire.ts'
import { WorkerExecution } from './worker-execution.ts'
import {
  interruptedBeforeStart,
  lostEnd,
  neighbourTermination,
  startFailure,
  taskRefusal,
  terminationOf,
  workerFailure,
} from './worker-failure.ts'

/**
 * How often leases are checked; a lease that had no work at two checks in a row ends. In a busy scheduler work comes
 * sooner.
 */
export const sweepIntervalMs = 5

const unreadableText =
  'A worker job returned or reported a value that is nested too deep to be read outside of its thread; it is left out'

/** How long a thread without tasks may take to begin or to end a lease before it is taken for blocked. */
export const answerTimeoutMs = 30_000

/**
 * The worker threads of one pool. Piscina makes, keeps and ends the threads. Tasks go to a thread while it is leased
 * from piscina (see {@link ThreadLease}); a lease begins when there is work and ends when there is none.
 */
export class WorkerThreads {
  readonly #context: ThreadPoolContext
  readonly #threadClock: Clock
  readonly #options: ResolvedPiscinaOptions
  readonly #piscina: Piscina<LeaseOffer | null>
  readonly #roster: ThreadRoster
  readonly #leases = new Set<ThreadLease>()
  /** Leases that were asked to end and have not ended: their threads are free soon. */
  #leaving = 0
  /** Executions for which no thread had room, in the order in which they came. */
  readonly #waiting = new Set<WorkerExecution>()
  readonly #leaseEvents: LeaseEvents
  /** The timer of the check for leases without work. */
  #sweep: ClockTimer | null = null
  #lastTag = 0
  /** Whether a thread has come up since the last one was lost. */
  #cameUp = false
  #lastError: unknown = null
  /** Whether it was reported, since the last thread exited, that all threads are stuck. */
  #toldAllStuck = false
  /** Piscina threw and kept the task: its `destroy` would reject a promise that has no handler. */
  #keptByPiscina = false
  #closed = false

  private constructor(
    { Piscina: PiscinaClass }: PiscinaModule,
    options: ResolvedPiscinaOptions,
    context: ThreadPoolContext,
    threadClock: Clock,
  ) {
    this.#context = context
    this.#threadClock = threadClock
    this.#options = options
    this.#leaseEvents = {
      ready: (lease, threadId) => {
        lease.answerTimer?.cancel()
        this.#cameUp = true
        this.#lastError = null
        this.#identify(lease, threadId)
        this.#dispatch()
        // The execution may have been interrupted meanwhile, or run on another thread.
        if (lease.load === 0) this.#sweepSoon()
      },
      ended: (lease, execution) => {
        this.#release(execution)
        this.#refill(lease)
      },
      refused: (lease, execution, error) => {
        this.#release(execution)
        execution.fail(taskRefusal(execution, error))
        this.#refill(lease)
      },
      unreadable: (lease, error) => {
        const jobs = [...lease.executions.values()].map(({ jobName }) => jobName)
        context.logger.error({ err: error, jobs }, unreadableText)
      },
      endLost: (lease, execution, error) => {
        this.#release(execution)
        execution.fail(lostEnd(execution, error))
        this.#refill(lease)
      },
    }
    this.#roster = new ThreadRoster(threadClock, {
      stuck: (thread) => {
        this.#tellStuck(thread)
        this.#tellIfAllStuck()
      },
      exited: ({ id }, { wasStuck }) => {
        if (wasStuck) context.logger.info({ threadId: id }, 'A worker thread that was stuck has exited')
        this.#toldAllStuck = false
        this.#dispatch()
      },
    })
    this.#piscina = new PiscinaClass<LeaseOffer | null>(piscinaOptions(options))
    this.#piscina.on('message', (message: unknown) => {
      if (!isLateLogLine(message)) return
      const [level, fields, text] = message.quartzLogLine
      context.logger[level](decodeFields(fields), text)
    })
    this.#piscina.on('error', (error: unknown) => {
      this.#lastError = error
      this.#logIdleFailure(error)
    })
    this.#piscina.on('workerDestroy', (worker: unknown) => {
      this.#roster.ending((worker as PiscinaWorker).id)
      // Piscina fails the thread's lease and reports the error after this.
      context.clock.setImmediate(() => {
        this.#checkStarts()
      })
    })
  }

  /** `threadClock` times the threads, which take real time also when the scheduler has a manual clock. */
  static async open(
    options: ResolvedPiscinaOptions,
    context: ThreadPoolContext,
    threadClock: Clock = systemClock,
  ): Promise<WorkerThreads> {
    const piscina = await loadPiscina()
    try {
      return new WorkerThreads(piscina, options, context, threadClock)
    } catch (error) {
      // Piscina starts the `minThreads` at once, and Node refuses flags that it does not know.
      throw startFailure('the warm start', error)
    }
  }

  /** Waits until the `minThreads` are up. */
  async warmUp(): Promise<void> {
    const visits = Array.from({ length: this.#options.minThreads }, () => this.#piscina.run(null))
    try {
      await Promise.all(visits)
    } catch (error) {
      throw startFailure('the warm start', error)
    }
  }

  /** Runs a task; see `ThreadPool.runInWorker`. */
  run(task: WorkerTask, handlers: WorkerTaskHandlers): Promise<WorkerTaskResult> {
    return new Promise((resolve, reject) => {
      const { logger } = this.#context
      const execution = new WorkerExecution(++this.#lastTag, task, handlers, logger, resolve, reject)
      if (handlers.signal.aborted) {
        execution.fail(interruptedBeforeStart(execution))
        return
      }
      execution.onAbort = () => {
        this.#interrupt(execution)
      }
      handlers.signal.addEventListener('abort', execution.onAbort, { once: true })
      const lease = this.#waiting.size === 0 ? this.#leaseWithRoom(task, 1) : null
      if (lease === null) {
        this.#waiting.add(execution)
        this.#tellIfAllStuck()
      } else give(lease, execution)
    })
  }

  /** Ends all threads, whatever they run; waits for their exit, at most `timeoutMs`. */
  async close(timeoutMs: number = exitTimeoutMs): Promise<void> {
    this.#closed = true
    this.#sweep?.cancel()
    const { threads } = this.#piscina
    const ended = this.#keptByPiscina
      ? Promise.all(threads.map((thread) => thread.terminate()))
      : this.#piscina.destroy()
    await this.#within(timeoutMs, Promise.all([ended, this.#roster.ended()]))
    for (const lease of this.#leases) lease.close()
  }

  async #within(timeoutMs: number, ended: Promise<unknown>): Promise<void> {
    const waiting = new Waiters()
    const over = waiting.wait(this.#threadClock, Math.min(timeoutMs, exitTimeoutMs))
    try {
      await Promise.race([ended, over])
    } finally {
      waiting.wakeAll()
    }
  }

  /** Gives waiting executions to threads that have room, and leases further threads up to the maximum. */
  #dispatch(): void {
    for (const execution of this.#waiting) {
      const lease = this.#leaseWithRoom(execution.task, this.#waiting.size)
      if (lease === null) return
      this.#waiting.delete(execution)
      give(lease, execution)
    }
  }

  /**
   * A thread without work, else a new lease, else the thread with room that suits the task best; `demand` executions
   * wait. A task never waits because its module did not load in the only thread with room. It fails there: while it
   * waited it would keep a slot, for as long as another job runs.
   */
  #leaseWithRoom({ moduleUrl }: WorkerTask, demand: number): ThreadLease | null {
    let best: ThreadLease | null = null
    for (const lease of this.#leases) {
      if (!lease.isOpen || lease.load >= this.#options.concurrentTasksPerWorker) continue
      if (lease.load === 0) return lease
      if (best === null || suitsBetter(lease, best, moduleUrl)) best = lease
    }
    // Waiting for a thread whose lease ends takes less time than starting one.
    const threads = this.#leases.size + this.#roster.endingCount
    const mayLease = threads < this.#options.maxThreads && this.#leaving < demand
    return mayLease ? this.#lease() : best
  }

  #lease(): ThreadLease {
    const shared = this.#options.concurrentTasksPerWorker > 1
    const lease = new ThreadLease(this.#leaseEvents, { shared, clock: this.#context.clock })
    this.#leases.add(lease)
    this.#expectAnswer(lease)
    const ended = (error: unknown): void => {
      this.#end(lease, error)
    }
    try {
      this.#piscina
        .run({ port: lease.offer }, { transferList: [lease.offer], signal: lease.termination.signal })
        .then(() => {
          ended(null)
        })
        .catch(ended)
    } catch (error) {
      // Node refuses to make a thread at all, for example with flags that it does not know.
      this.#lastError = error
      this.#keptByPiscina = true
      queueMicrotask(() => {
        this.#startFailed([lease])
      })
    }
    return lease
  }

  #identify(lease: ThreadLease, threadId: number): void {
    const worker = this.#piscina.threads.find((thread) => thread.threadId === threadId)
    // A thread that piscina has removed ends by itself.
    if (worker === undefined) return
    lease.thread = this.#roster.of(worker)
    lease.thread.executions = lease.executions
  }

  /** The lease has ended, or piscina has removed the thread. */
  #end(lease: ThreadLease, error: unknown): void {
    if (!lease.ready && error !== null) {
      // Piscina fails a lease that was given up before, too: that is no second failure.
      if (!this.#leases.has(lease)) return
      this.#lastError = error
      this.#startFailed([lease])
      return
    }
    if (!this.#leases.delete(lease)) return
    if (lease.leaving) this.#leaving--
    lease.answerTimer?.cancel()
    const { thread } = lease
    if (error === null || thread === null || thread.hasExited) {
      this.#settle(lease, error)
      return
    }
    // Native code, and so the execution in it, goes on after the termination.
    thread.whenExited(() => {
      this.#settle(lease, error)
    })
  }

  #settle(lease: ThreadLease, error: unknown): void {
    // The last lines of a thread are the ones that explain its end.
    lease.drain()
    lease.close()
    const blameless = error === null || lease.load > 0 || lease.termination.signal.aborted
    if (!blameless && !this.#closed) this.#logIdleFailure(error)
    for (const execution of lease.executions.values()) {
      this.#release(execution)
      execution.fail(workerFailure(execution, error))
    }
    this.#dispatch()
  }

  #tellStuck({ id: threadId, executions }: PoolThread): void {
    const stuck: StuckThread = {
      threadId,
      waitedMs: exitTimeoutMs,
      executions: [...executions.values()].map(({ task: { job, fireInstanceId } }) => ({
        job: { name: job.name, group: job.group },
        fireInstanceId,
      })),
    }
    const { logger } = this.#context
    logger.warn(
      { ...stuck },
      'A worker thread was terminated and does not exit: it is in native code, which cannot be stopped. ' +
        'Its slots and jobs stay taken until it does',
    )
    this.#context.threadStuck?.(stuck)
  }

  /** What waits now waits for native code to return. It is not failed: it may run in a moment. */
  #tellIfAllStuck(): void {
    const { maxThreads } = this.#options
    if (this.#toldAllStuck || this.#waiting.size === 0 || this.#roster.stuckCount < maxThreads) return
    this.#toldAllStuck = true
    const error = new SchedulerError(
      'ERR_WORKER_THREADS_STUCK',
      `Worker jobs wait (${this.#waiting.size} by now), and all ${maxThreads} threads of the pool were terminated ` +
        'and do not exit, as they are in native code. Give such calls a time limit of their own, or raise maxThreads.',
    )
    if (this.#context.allThreadsStuck === undefined) this.#context.logger.error({ err: error }, error.message)
    else this.#context.allThreadsStuck(error)
  }

  #logIdleFailure(error: unknown): void {
    this.#context.logger.error({ err: error }, 'A worker thread failed while it ran no job')
  }

  /** Forgets a settled execution. */
  #release(execution: WorkerExecution): void {
    execution.graceTimer?.cancel()
    if (execution.onAbort !== null) {
      execution.handlers.signal.removeEventListener('abort', execution.onAbort)
    }
  }

  /** After an execution has ended: starts the next one, or lets the lease end at the next check. */
  #refill(lease: ThreadLease): void {
    // The thread that takes its place loads anew what did not load in this one.
    if (lease.load === 0 && lease.notLoaded.size > 0) lease.termination.abort()
    if (this.#waiting.size > 0) this.#dispatch()
    if (lease.load === 0 && lease.isOpen) this.#sweepSoon()
  }

  #sweepSoon(): void {
    this.#sweep ??= this.#threadClock.setTimer(sweepIntervalMs, () => {
      this.#sweep = null
      for (const lease of this.#leases) {
        if (lease.load > 0 || !lease.isOpen || !lease.ready) continue
        if (lease.rested) {
          this.#leave(lease)
        } else {
          lease.rested = true
          this.#sweepSoon()
        }
      }
    })
  }

  #leave(lease: ThreadLease): void {
    this.#leaving++
    lease.leave()
    this.#expectAnswer(lease)
  }

  #expectAnswer(lease: ThreadLease): void {
    const terminate = (): void => {
      const message =
        'A worker thread without tasks does not answer and is terminated; does a job leave a loop behind?'
      this.#context.logger.error({}, message)
      lease.termination.abort()
    }
    lease.answerTimer = setTimeLimit(this.#threadClock, answerTimeoutMs, terminate, { unref: true })
  }

  #interrupt(execution: WorkerExecution): void {
    const { thread } = execution
    if (thread === null ? this.#waiting.delete(execution) : thread.retract(execution)) {
      this.#release(execution)
      execution.fail(interruptedBeforeStart(execution))
      if (thread?.executions.size === 0) this.#sweepSoon()
      return
    }
    thread?.abort(execution)
    execution.graceTimer = setTimeLimit(this.#context.clock, execution.handlers.interruptGraceMs, () => {
      this.#terminate(execution)
    })
  }

  #terminate(execution: WorkerExecution): void {
    const { thread } = execution
    execution.terminated = terminationOf(execution)
    for (const other of thread?.executions.values() ?? []) {
      other.terminated ??= neighbourTermination(other, execution)
    }
    // Piscina ends the thread and fails the lease, and so the executions in it.
    thread?.termination.abort()
  }

  /**
   * After a thread has exited. For a thread that was still starting, piscina does not fail the lease but lets it wait
   * for another free thread.
   */
  #checkStarts(): void {
    const missing = this.#leases.size - this.#piscina.threads.length
    if (this.#closed || missing <= 0) return
    // The remaining threads go to the executions that came first.
    const stranded = [...this.#leases].filter(({ ready }) => !ready).slice(-missing)
    if (stranded.length > 0) this.#startFailed(stranded)
  }

  /**
   * Executions of these leases that were not sent wait for other threads. New threads are started only if one has come
   * up since the last failure; otherwise the remaining threads run the executions, also those that are between two
   * leases, and without any thread the executions fail.
   */
  #startFailed(leases: readonly ThreadLease[]): void {
    for (const lease of leases) {
      if (!this.#leases.delete(lease)) continue
      lease.close()
      for (const execution of lease.executions.values()) {
        execution.thread = null
        this.#waiting.add(execution)
      }
    }
    const mayGoOn = this.#cameUp || (this.#leases.size === 0 && this.#roster.livingCount > 0)
    if (mayGoOn && !this.#closed) {
      this.#cameUp = false
      this.#dispatch()
    } else if (this.#leases.size === 0) {
      for (const execution of this.#waiting) {
        this.#release(execution)
        execution.fail(startFailure(`job '${execution.jobName}'`, this.#lastError))
      }
      this.#waiting.clear()
    }
  }
}

/**
 * Whether a thread suits a task better than another one: its module did not fail to load there, no other module did,
 * so that the other thread comes to its end, and it is less busy.
 */
function suitsBetter(lease: ThreadLease, other: ThreadLease, moduleUrl: string): boolean {
  const byModule = Number(lease.notLoaded.has(moduleUrl)) - Number(other.notLoaded.has(moduleUrl))
  const byOthers = Number(lease.notLoaded.size > 0) - Number(other.notLoaded.size > 0)
  return (byModule || byOthers || lease.load - other.load) < 0
}

function give(lease: ThreadLease, execution: WorkerExecution): void {
  execution.thread = lease
  lease.add(execution)
}

/** What the threads of a pool run. */
export function workerEntry({
  workerEntry: given,
}: Pick<ResolvedPiscinaOptions, 'workerEntry'>): ThreadEntry {
  return {
    url: given ?? moduleBeside(import.meta.url, './worker-entry', 'threadpool/worker-entry'),
    specifier: 'quartz-ts/worker-entry',
    option: 'workerEntry of piscinaThreadPool',
  }
}

function piscinaOptions(options: ResolvedPiscinaOptions): ConstructorParameters<PiscinaModule['Piscina']>[0] {
  const { minThreads, maxThreads, idleTimeoutMs, atomics, resourceLimits, execArgv, env } = options
  return {
    filename: fileURLToPath(workerEntry(options).url),
    name: 'serve',
    minThreads,
    maxThreads,
    idleTimeout: idleTimeoutMs,
    atomics,
    recordTiming: false,
    ...(resourceLimits && { resourceLimits }),
    ...(execArgv && { execArgv: [...execArgv] }),
    ...(env && { env: typeof env === 'symbol' ? env : { ...env } }),
  }
}
