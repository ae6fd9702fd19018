import { type MessagePort, threadId } from 'node:worker_threads'
import { unawaited } from '../core/promises.ts'
import type { WorkerJobFunction } from '../jobs/job-definition.ts'
import { decodeValue, isFlat } from './value-wire.ts'
import {
  type ControlMessage,
  decodeTask,
  type LateLogLine,
  type LogLine,
  lateLogLine,
  type TaskEnd,
  type TaskWire,
  unreadMax,
  type WorkerMessage,
  type WorkerTask,
} from './wire.ts'
import { isFailedImport, loadWorkerFunction } from './worker-module.ts'
import { type RunChannel, WorkerRun } from './worker-run.ts'

/** The inside of one worker thread: the modules it has loaded and the lease it serves. */
export class WorkerRuntime {
  readonly #parent: MessagePort
  /** By module and then by the name of the export. */
  readonly #functions = new Map<string, Map<string, WorkerJobFunction>>()

  constructor(parent: MessagePort) {
    this.#parent = parent
  }

  /** Runs the tasks that come over the port until the lease ends. */
  async serve(port: MessagePort): Promise<void> {
    const server = new LeaseServer(port, {
      find: (wire) => this.#find(wire),
      logLate: (line) => {
        this.#parent.postMessage(line)
      },
    })
    await server.ended
  }

  #find([, moduleUrl, exportName]: TaskWire): WorkerJobFunction | Promise<WorkerJobFunction> {
    const loaded = this.#functions.get(moduleUrl)?.get(exportName)
    if (loaded !== undefined) return loaded
    return loadWorkerFunction(moduleUrl, exportName).then((job) => {
      const ofModule = this.#functions.get(moduleUrl) ?? new Map<string, WorkerJobFunction>()
      this.#functions.set(moduleUrl, ofModule.set(exportName, job))
      return job
    })
  }
}

interface LeaseContext {
  find(wire: TaskWire): WorkerJobFunction | Promise<WorkerJobFunction>
  logLate(line: LateLogLine): void
}

/** A task that has ended, and its end. */
interface Ended {
  readonly end: TaskEnd
  readonly run: WorkerRun
}

/** The thread's end of one lease. */
class LeaseServer implements RunChannel {
  readonly ended: Promise<void>
  readonly #port: MessagePort
  readonly #context: LeaseContext
  readonly #runs = new Map<number, WorkerRun>()
  #unread: Int32Array | null = null
  /** Ends that were not sent yet: tasks that end together are sent together. */
  #ends: Ended[] = []

  constructor(port: MessagePort, context: LeaseContext) {
    this.#port = port
    this.#context = context
    this.ended = new Promise((resolve) => {
      port.on('message', (message: ControlMessage) => {
        this.#receive(message)
      })
      port.on('messageerror', (error) => {
        endThread(
          new Error(`A message to the thread cannot be read there: ${error.message}`, { cause: error }),
        )
      })
      port.on('close', resolve)
    })
    this.#post(['ready', threadId])
  }

  progress(tag: number, value: unknown): void {
    if (this.#runs.has(tag)) this.#postOfTask(['progress', tag, value])
  }

  log(tag: number, line: LogLine, task: WorkerTask): void {
    if (this.#runs.has(tag)) this.#postOfTask(['log', tag, line])
    else this.#context.logLate(lateLogLine(line, task))
  }

  #receive(message: ControlMessage): void {
    switch (message[0]) {
      case 'unread':
        this.#unread = message[1]
        return
      case 'run':
        for (const task of message[1]) unawaited(this.#run(task), endThread)
        return
      case 'abort':
        this.#runs.get(message[1])?.abort(decodeValue(message[2]))
        return
      case 'whichEnded': {
        const open = new Set([...this.#runs.keys(), ...this.#ends.map(({ end }) => end[0])])
        this.#post(['ended', message[1].filter((tag) => !open.has(tag))])
        return
      }
      case 'leave':
        this.#port.close()
    }
  }

  /** Never rejects: a failure is an end of the task, too. */
  async #run(wire: TaskWire): Promise<void> {
    const run = new WorkerRun(this, wire[0], decodeTask(wire))
    this.#runs.set(wire[0], run)
    let end: TaskEnd
    try {
      const found = this.#context.find(wire)
      const job = typeof found === 'function' ? found : await found
      const result = await job(run.context())
      end = run.end(result)
    } catch (thrown) {
      if (isFailedImport(thrown)) this.#post(['notLoaded', wire[1]])
      end = run.failed(thrown)
    }
    if (hasOutput()) await outputTaken()
    this.#runs.delete(wire[0])
    this.#tell(end, run)
  }

  #tell(end: TaskEnd, run: WorkerRun): void {
    const waiting = this.#ends.push({ end, run })
    if (this.#runs.size === 0 && waiting === 1) {
      this.#send(this.#ends.splice(0))
      return
    }
    if (waiting > 1) return
    // After the promises of this turn, in which other tasks may end too.
    process.nextTick(() => {
      const ends = this.#ends
      this.#ends = []
      this.#flush(ends)
    })
  }

  #flush(ends: readonly Ended[]): void {
    const flat: Ended[] = []
    // The main thread may be unable to read what is deep, and then reads nothing of the message that holds it.
    for (const ended of ends) {
      if (isFlatEnd(ended.end)) flat.push(ended)
      else this.#send([ended])
    }
    if (flat.length > 0) this.#send(flat)
  }

  #send(ends: readonly Ended[]): void {
    try {
      this.#post(['ends', ends.map(({ end }) => end)])
    } catch {
      // One of them cannot be cloned: send each by itself, so that the others are not affected.
      for (const { end, run } of ends) this.#post(['ends', [checkedEnd(end, run)]])
    }
  }

  /** Waits while too many are unread: a task in a loop leaves nothing else to wait by. */
  #postOfTask(message: WorkerMessage): void {
    this.#post(message)
    const unread = this.#unread
    if (unread === null) return
    Atomics.add(unread, 0, 1)
    for (let count = unreadMax + 1; count > unreadMax; count = Atomics.load(unread, 0)) {
      Atomics.wait(unread, 0, count)
    }
  }

  #post(message: WorkerMessage): void {
    this.#port.postMessage(message)
  }
}

/** Whether the main thread can read the end for sure. */
function isFlatEnd([, ok, result, jobDataMap, refusal]: TaskEnd): boolean {
  return ok && isFlat(result) && isFlat(jobDataMap) && refusal === null
}

/** An end that can be cloned, whatever the result does when it is looked at. */
function checkedEnd(end: TaskEnd, run: WorkerRun): TaskEnd {
  try {
    return run.checkEnd(end)
  } catch (error) {
    return run.failed(error)
  }
}

/**
 * When the runtime itself fails, the thread ends, so that the main thread fails its tasks; else they would never
 * settle.
 */
function endThread(error: unknown): void {
  process.nextTick(() => {
    throw error
  })
}

/** Whether output of this thread has not reached the main thread yet; it would be lost when the thread ends. */
function hasOutput(): boolean {
  return process.stdout.writableLength > 0 || process.stderr.writableLength > 0
}

async function outputTaken(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength === 0) continue
    await new Promise<void>((resolve) => {
      stream.write('', () => {
        resolve()
      })
    })
  }
}
