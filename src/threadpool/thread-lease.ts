import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Clock, ClockTimer } from '../time/clock.ts'
import type { PoolThread } from './thread-roster.ts'
import { encodeValue } from './value-wire.ts'
import { type ControlMessage, encodeTask, type TaskWire, type WorkerMessage } from './wire.ts'
import type { ExecutionThread, WorkerExecution } from './worker-execution.ts'

/** Calls of a lease to its pool. */
export interface LeaseEvents {
  /** The thread has come up. */
  ready(lease: ThreadLease, threadId: number): void
  /** The execution got its end from the thread. */
  ended(lease: ThreadLease, execution: WorkerExecution): void
  /** The task cannot cross into the thread. */
  refused(lease: ThreadLease, execution: WorkerExecution, error: unknown): void
  /** A message of the thread cannot be read here. It may have been anything, the end of an execution too. */
  unreadable(lease: ThreadLease, error: unknown): void
  /** The execution has ended, and that message could not be read. */
  endLost(lease: ThreadLease, execution: WorkerExecution, error: unknown): void
}

/**
 * A thread for as long as there is work for it. For piscina a lease is one task. Executions go to the thread over a
 * port of the lease, several in one message where several are due.
 */
export class ThreadLease implements ExecutionThread {
  /** The end of the port that the thread gets. */
  readonly offer: MessagePort
  /** Aborting it makes piscina terminate the thread. */
  readonly termination: AbortController = new AbortController()
  readonly executions: Map<number, WorkerExecution> = new Map()
  /** Was asked to end and takes no more tasks. */
  leaving = false
  /** The URLs of modules that did not load in the thread: it cannot load them anew, and is ended when it is idle. */
  readonly notLoaded: Set<string> = new Set()
  ready = false
  /** The thread that took the lease; null before, and when the thread had exited by then. */
  thread: PoolThread | null = null
  /** It had no work at the last check, and has had none since. */
  rested = false
  /** Armed while the thread has yet to begin, or to end, the lease. */
  answerTimer: ClockTimer | null = null
  readonly #port: MessagePort
  readonly #events: LeaseEvents
  /** Executions that are not sent yet: the thread is still starting, or more executions may come in this turn. */
  #outbox: WorkerExecution[] = []
  #flushing = false
  /** Whether several tasks share the thread, so that waiting for more of them in one turn pays. */
  readonly #shared: boolean
  readonly #clock: Clock
  /** Messages of tasks that the thread has sent and may not count as read yet. */
  readonly #unread = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  /** How many of them were read in this turn. */
  #readCount = 0
  /** Why a message could not be read, while the thread is asked what has ended; null when it is not. */
  #missed: { readonly error: unknown } | null = null

  constructor(events: LeaseEvents, options: { readonly shared: boolean; readonly clock: Clock }) {
    const { port1, port2 } = new MessageChannel()
    this.#events = events
    this.#shared = options.shared
    this.#clock = options.clock
    this.#port = port1
    this.offer = port2
    port1.on('message', (message: WorkerMessage) => {
      this.#receive(message)
      // One event per message is expensive, so all further messages are read at once.
      if (this.#shared) this.drain()
    })
    port1.on('messageerror', (error) => {
      this.#miss(error)
    })
    this.#post(['unread', this.#unread])
  }

  /** Whether it takes tasks: it was not asked to end, and its thread is not being ended. */
  get isOpen(): boolean {
    return !this.leaving && !this.termination.signal.aborted
  }

  get load(): number {
    return this.executions.size
  }

  add(execution: WorkerExecution): void {
    this.rested = false
    this.executions.set(execution.tag, execution)
    this.#outbox.push(execution)
    this.#flushWhenDue()
  }

  retract(execution: WorkerExecution): boolean {
    const index = this.#outbox.indexOf(execution)
    if (index < 0) return false
    this.#outbox.splice(index, 1)
    this.executions.delete(execution.tag)
    return true
  }

  abort(execution: WorkerExecution): void {
    this.#post(['abort', execution.tag, encodeValue(execution.handlers.signal.reason)])
  }

  leave(): void {
    this.leaving = true
    this.#post(['leave'])
  }

  /** Reads messages of the thread for which there was no event yet. */
  drain(): void {
    for (let entry = this.#next(); entry !== undefined; entry = this.#next()) {
      if (entry !== null) this.#receive(entry.message)
    }
  }

  /** The next message; null for one that cannot be read, undefined when there is none. */
  #next(): { readonly message: WorkerMessage } | null | undefined {
    try {
      return receiveMessageOnPort(this.#port)
    } catch (error) {
      this.#miss(error)
      return null
    }
  }

  /** Ends the port; a thread that is offered this lease later leaves it at once. */
  close(): void {
    this.answerTimer?.cancel()
    this.#port.close()
    // A thread that goes on all the same is not to wait for anyone who reads. A lease may be closed more than once.
    Atomics.store(this.#unread, 0, -(2 ** 30))
    Atomics.notify(this.#unread, 0)
  }

  #flushWhenDue(): void {
    if (this.#flushing || !this.ready) return
    if (!this.#shared) {
      this.#flush()
      return
    }
    this.#flushing = true
    // After the promises of this turn, so that executions that start together go in one message.
    process.nextTick(() => {
      this.#flushing = false
      this.#flush()
    })
  }

  #flush(): void {
    const sent = this.#outbox
    if (sent.length === 0) return
    this.#outbox = []
    try {
      this.#send(sent)
    } catch {
      // One of them cannot be cloned: send each by itself, so that the others are not affected.
      for (const execution of sent) this.#sendAlone(execution)
    }
  }

  #sendAlone(execution: WorkerExecution): void {
    try {
      this.#send([execution])
    } catch (error) {
      this.executions.delete(execution.tag)
      this.#events.refused(this, execution, error)
    }
  }

  #send(executions: readonly WorkerExecution[]): void {
    this.#post(['run', executions.map(({ tag, task }): TaskWire => encodeTask(tag, task))])
  }

  #post(message: ControlMessage): void {
    this.#port.postMessage(message)
  }

  #receive(message: WorkerMessage): void {
    switch (message[0]) {
      case 'ready':
        this.ready = true
        this.#events.ready(this, message[1])
        this.#flushWhenDue()
        return
      case 'notLoaded':
        this.notLoaded.add(message[1])
        return
      case 'ends':
        for (const end of message[1]) {
          const execution = this.executions.get(end[0])
          if (execution === undefined) continue
          this.executions.delete(end[0])
          execution.end(end)
          this.#events.ended(this, execution)
        }
        return
      case 'ended':
        this.#endMissed(message[1])
        return
      default:
        this.#countRead()
        this.executions.get(message[1])?.receive(message)
    }
  }

  /**
   * A message of a task counts as read, so that the thread does not wait for that. An end would never come: the thread
   * is asked. Its answer holds for all that it sent before, so one question at a time is enough.
   */
  #miss(error: unknown): void {
    this.#countRead()
    if (this.#missed !== null) return
    this.#missed = { error }
    this.#events.unreadable(this, error)
    const unsent = new Set(this.#outbox)
    const sent = [...this.executions.values()].filter((execution) => !unsent.has(execution))
    this.#post(['whichEnded', sent.map(({ tag }) => tag)])
  }

  #endMissed(tags: readonly number[]): void {
    const error = this.#missed?.error
    this.#missed = null
    for (const tag of tags) {
      const execution = this.executions.get(tag)
      // The end of most of them came before the answer.
      if (execution === undefined) continue
      this.executions.delete(tag)
      this.#events.endLost(this, execution, error)
    }
  }

  /** The thread sends more in the next turn only, so that timers and I/O have theirs. */
  #countRead(): void {
    if (this.#readCount++ > 0) return
    this.#clock.setImmediate(() => {
      Atomics.sub(this.#unread, 0, this.#readCount)
      Atomics.notify(this.#unread, 0)
      this.#readCount = 0
    })
  }
}
