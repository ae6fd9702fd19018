import { type MessagePort, parentPort } from 'node:worker_threads'
import { invariant } from '../core/invariant.ts'
import type { TaskEnd, TaskWire } from './wire.ts'
import { WorkerRuntime } from './worker-runtime.ts'

function requireParent(): MessagePort {
  invariant(parentPort !== null, 'the worker entry runs in a worker thread only')
  return parentPort
}

const runtime = new WorkerRuntime(requireParent())

/** What piscina calls in the thread, once per task. */
export function runTask(task: TaskWire): Promise<TaskEnd> {
  return runtime.run(task)
}
