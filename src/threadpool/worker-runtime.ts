import { MessageChannel, type MessagePort, threadId } from 'node:worker_threads'
import { SchedulerError } from '../core/errors.ts'
import type { WorkerJobFunction } from '../jobs/job-definition.ts'
import { decodeValue, encodeValue } from './value-wire.ts'
import {
  type ControlMessage,
  decodeTask,
  type TaskEnd,
  type TaskWire,
  type WorkerHello,
  wireVersion,
} from './wire.ts'
import { loadWorkerFunction } from './worker-module.ts'
import { WorkerRun } from './worker-run.ts'

/** The inside of one worker thread: its port, the modules it has loaded and the tasks it runs. */
export class WorkerRuntime {
  readonly #port: MessagePort
  readonly #runs = new Map<number, WorkerRun>()
  readonly #functions = new Map<string, WorkerJobFunction>()

  constructor(parent: MessagePort) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    port1.on('message', ([, tag, reason]: ControlMessage) => {
      this.#runs.get(tag)?.abort(decodeValue(reason))
    })
    // The port alone must not keep the thread alive.
    port1.unref()
    const hello: WorkerHello = { quartzWireVersion: wireVersion, threadId, port: port2 }
    parent.postMessage(hello, [port2])
  }

  async run(wire: TaskWire): Promise<TaskEnd> {
    const [tag, moduleUrl, exportName] = wire
    const run = new WorkerRun(this.#port, tag, decodeTask(wire))
    this.#runs.set(tag, run)
    try {
      const functionKey = `${exportName} ${moduleUrl}`
      let job = this.#functions.get(functionKey)
      if (job === undefined) {
        job = await loadWorkerFunction(moduleUrl, exportName)
        this.#functions.set(functionKey, job)
      }
      const result = await job(run.context())
      if (hasOutput()) await outputTaken()
      return run.end(result)
    } catch (thrown) {
      if (hasOutput()) await outputTaken()
      return [false, run.sent, encodeThrown(thrown)]
    } finally {
      this.#runs.delete(tag)
    }
  }
}

/** Whether the main thread has still to take what was printed here; a thread that ends takes it along. */
function hasOutput(): boolean {
  return process.stdout.writableLength > 0 || process.stderr.writableLength > 0
}

async function outputTaken(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0)
      await new Promise<void>((resolve) =>
        stream.write('', () => {
          resolve()
        }),
      )
  }
}

/** A thrown value that cannot cross, and is no error itself, is at least reported as one. */
function encodeThrown(thrown: unknown): ReturnType<typeof encodeValue> {
  if (typeof thrown !== 'function' && typeof thrown !== 'symbol') return encodeValue(thrown)
  return encodeValue(
    new SchedulerError('ERR_WORKER_DATA', `The job threw a ${typeof thrown}, which cannot cross a thread.`),
  )
}
