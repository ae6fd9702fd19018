import { fileURLToPath } from 'node:url'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { invariant } from '../core/invariant.ts'
import {
  loadPiscina,
  type Piscina,
  type PiscinaModule,
  type PiscinaOptions,
  type PiscinaTask,
} from './piscina-module.ts'
import type { ResolvedPiscinaOptions } from './piscina-options.ts'
import type { ThreadPoolContext, WorkerTaskHandlers } from './thread-pool.ts'
import { decodeFields, encodeValue } from './value-wire.ts'
import {
  type ControlMessage,
  encodeTask,
  isWorkerHello,
  type TaskEnd,
  type TaskWire,
  type WorkerHello,
  type WorkerMessage,
  type WorkerTask,
  type WorkerTaskResult,
} from './wire.ts'
import { WorkerExecution } from './worker-execution.ts'
import {
  interruptedBeforeStart,
  neighbourTermination,
  startFailure,
  terminationOf,
  workerFailure,
} from './worker-failure.ts'
import { WorkerTaskQueue } from './worker-task-queue.ts'

/**
 * The worker threads of one pool: piscina and, beside it, one port per thread for what piscina has no channel for
 * (interrupts, progress, log lines, results that may not be cloneable).
 */
export class WorkerThreads {
  readonly #context: ThreadPoolContext
  readonly #options: ResolvedPiscinaOptions
  readonly #executionKey: symbol
  readonly #queue = new WorkerTaskQueue()
  readonly #piscina: Piscina<TaskWire, TaskEnd>
  readonly #executions = new Map<number, WorkerExecution>()
  /** Ports by thread id. */
  readonly #ports = new Map<number, MessagePort>()
  /** Threads that are being terminated: they get no more tasks. */
  readonly #terminating = new Set<number>()
  #lastTag = 0
  /** Whether a thread has come up since the last one was asked for on behalf of waiting tasks. */
  #cameUp = false
  #lastError: unknown = null
  #warmUp: {
    missing: number
    readonly resolve: () => void
    readonly reject: (error: unknown) => void
  } | null = null
  #closed = false

  private constructor(piscina: PiscinaModule, options: ResolvedPiscinaOptions, context: ThreadPoolContext) {
    this.#context = context
    this.#options = options
    this.#executionKey = piscina.queueOptionsSymbol
    this.#piscina = new piscina.Piscina<TaskWire, TaskEnd>(this.#piscinaOptions())
    this.#piscina.on('message', (message: unknown) => {
      if (isWorkerHello(message)) this.#greet(message)
    })
    this.#piscina.on('error', (error: unknown) => {
      this.#lastError = error
      this.#context.logger.error({ err: error }, 'A worker thread failed while it ran no job')
    })
    this.#piscina.on('workerDestroy', () => {
      // Piscina still has to take the thread out of its books, and to tell the error.
      queueMicrotask(() => {
        this.#replaceThread()
      })
    })
  }

  static async open(options: ResolvedPiscinaOptions, context: ThreadPoolContext): Promise<WorkerThreads> {
    return new WorkerThreads(await loadPiscina(), options, context)
  }

  /** Threads that run now, those that are starting included. */
  get threadCount(): number {
    return this.#piscina.threads.length
  }

  /** Waits for the threads that are started in advance. */
  warmUp(): Promise<void> {
    if (this.#options.minThreads === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#warmUp = { missing: this.#options.minThreads, resolve, reject }
    })
  }

  /** Runs a task; see `ThreadPool.runInWorker`. */
  run(task: WorkerTask, handlers: WorkerTaskHandlers): Promise<WorkerTaskResult> {
    const execution = new WorkerExecution(++this.#lastTag, task, handlers, this.#context.logger)
    const { signal } = handlers
    if (signal.aborted) {
      execution.fail(interruptedBeforeStart(execution))
      return execution.result
    }
    this.#executions.set(execution.tag, execution)
    execution.onAbort = () => {
      this.#interrupt(execution)
    }
    signal.addEventListener('abort', execution.onAbort, { once: true })
    this.#submit(execution)
    return execution.result
  }

  /** Ends all threads, whatever they do. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#piscina.destroy()
  }

  #piscinaOptions(): PiscinaOptions {
    const { minThreads, maxThreads, concurrentTasksPerWorker, idleTimeoutMs, atomics } = this.#options
    const { resourceLimits, execArgv, env } = this.#options
    return {
      filename: fileURLToPath(new URL('./worker-entry.js', import.meta.url)),
      name: 'runTask',
      minThreads,
      maxThreads,
      concurrentTasksPerWorker,
      idleTimeout: idleTimeoutMs,
      atomics,
      taskQueue: this.#queue,
      loadBalancer: this.#chooseThread,
      recordTiming: false,
      stricterFIFO: true,
      ...(resourceLimits && { resourceLimits }),
      ...(execArgv && { execArgv: [...execArgv] }),
      ...(env && { env: typeof env === 'symbol' ? env : { ...env } }),
    }
  }

  /** The least busy thread with room for one more; notes on the execution which one it is. */
  readonly #chooseThread: PiscinaOptions['loadBalancer'] = (task, workers) => {
    let chosen: (typeof workers)[number] | null = null
    let leastUsage = this.#options.concurrentTasksPerWorker
    for (const worker of workers) {
      const usage = worker.currentUsage
      if (usage >= leastUsage || this.#terminating.has(worker.id)) continue
      chosen = worker
      leastUsage = usage
      if (usage === 0) break
    }
    if (chosen !== null) this.#executionOf(task).threadId = chosen.id
    return chosen
  }

  #executionOf(task: PiscinaTask): WorkerExecution {
    const execution = task[this.#executionKey]
    invariant(execution instanceof WorkerExecution, 'every task of the pool carries its execution')
    return execution
  }

  #submit(execution: WorkerExecution): void {
    // Under a symbol, which structured clone passes over: the execution itself stays here.
    const task = Object.assign(encodeTask(execution.tag, execution.task), { [this.#executionKey]: execution })
    try {
      this.#piscina
        .run(task)
        .then((end) => {
          this.#end(execution, end)
        })
        .catch((error: unknown) => {
          this.#fail(execution, error)
        })
    } catch (error) {
      // Node refuses to make a thread at all, for example with flags that it does not know.
      this.#dequeue(execution)
      if (this.#forget(execution)) execution.fail(startFailure(`job '${execution.jobName}'`, error))
    }
  }

  #end(execution: WorkerExecution, end: TaskEnd): void {
    if (execution.received < end[1]) this.#drain(execution)
    invariant(execution.received === end[1], 'a port holds every message that was sent before the end')
    execution.end(end)
    this.#forget(execution)
  }

  #fail(execution: WorkerExecution, error: unknown): void {
    // Log lines from just before the end are the ones that tell why.
    this.#drain(execution)
    if (this.#forget(execution)) execution.fail(workerFailure(execution, error))
  }

  /** Takes an execution off the books; false when it was off already. */
  #forget(execution: WorkerExecution): boolean {
    execution.graceTimer?.cancel()
    execution.handlers.signal.removeEventListener('abort', execution.onAbort)
    return this.#executions.delete(execution.tag)
  }

  /** Reads what a thread has sent and no event has told yet. */
  #drain({ threadId }: WorkerExecution): void {
    const port = threadId === null ? undefined : this.#ports.get(threadId)
    if (port === undefined) return
    for (;;) {
      const entry = receiveMessageOnPort(port) as { readonly message: WorkerMessage } | undefined
      if (entry === undefined) return
      this.#receive(entry.message)
    }
  }

  #receive(message: WorkerMessage): void {
    const execution = this.#executions.get(message[1])
    if (execution !== undefined) {
      execution.receive(message)
    } else if (message[0] === 'log') {
      // From what a job left running in the background: nobody else would show it.
      this.#context.logger[message[2]](decodeFields(message[3]), message[4])
    }
  }

  #greet({ threadId, port }: WorkerHello): void {
    this.#cameUp = true
    this.#lastError = null
    this.#ports.set(threadId, port)
    port.on('message', (message: WorkerMessage) => {
      this.#receive(message)
    })
    port.on('close', () => {
      this.#ports.delete(threadId)
      this.#terminating.delete(threadId)
    })
    // Piscina keeps the process alive while tasks run; an idle thread must not.
    port.unref()
    for (const execution of this.#executions.values()) {
      if (execution.threadId === threadId && execution.handlers.signal.aborted) this.#sendAbort(execution)
    }
    if (this.#warmUp !== null && --this.#warmUp.missing === 0) {
      this.#warmUp.resolve()
      this.#warmUp = null
    }
  }

  #interrupt(execution: WorkerExecution): void {
    if (execution.threadId === null) {
      this.#dequeue(execution)
      if (this.#forget(execution)) execution.fail(interruptedBeforeStart(execution))
      return
    }
    this.#sendAbort(execution)
    execution.graceTimer = this.#context.clock.setTimer(execution.handlers.interruptGraceMs, () => {
      this.#terminate(execution)
    })
  }

  /** Tells the thread; one that is still starting is told when it says hello. */
  #sendAbort({ tag, threadId, handlers }: WorkerExecution): void {
    const message: ControlMessage = ['abort', tag, encodeValue(handlers.signal.reason)]
    if (threadId !== null) this.#ports.get(threadId)?.postMessage(message)
  }

  #terminate(execution: WorkerExecution): void {
    const { threadId } = execution
    if (threadId === null) return
    execution.terminated = terminationOf(execution)
    for (const other of this.#executions.values()) {
      if (other.threadId === threadId) other.terminated ??= neighbourTermination(other, execution)
    }
    this.#terminating.add(threadId)
    const thread = this.#piscina.threads.find((candidate) => candidate.threadId === threadId)
    // Its exit fails the tasks on it; a thread that is gone already has failed them.
    void thread?.terminate()
  }

  #dequeue(execution: WorkerExecution): void {
    this.#queue.removeWhere((task) => this.#executionOf(task) === execution)
  }

  /**
   * After a thread is gone: piscina makes a new one for the next task that is run, not for those that wait. Asks for
   * one on their behalf, unless threads do not come up any more.
   */
  #replaceThread(): void {
    if (this.#closed) return
    if (this.#warmUp !== null) {
      this.#warmUp.reject(startFailure('the warm start', this.#lastError))
      this.#warmUp = null
    }
    if (this.threadCount >= this.#options.maxThreads) return
    if (this.#cameUp) {
      this.#cameUp = false
      const waiting = this.#queue.pop()
      if (waiting !== null) this.#submit(this.#executionOf(waiting))
      return
    }
    if (this.threadCount > 0) return
    for (let task = this.#queue.pop(); task !== null; task = this.#queue.pop()) {
      const execution = this.#executionOf(task)
      if (this.#forget(execution)) {
        execution.fail(startFailure(`job '${execution.jobName}'`, this.#lastError))
      }
    }
  }
}
