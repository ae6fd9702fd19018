import { type MessagePort, parentPort } from 'node:worker_threads'
import { invariant } from '../core/errors.ts'
import type { LeaseOffer } from './wire.ts'
import { WorkerRuntime } from './worker-runtime.ts'

function requireParent(): MessagePort {
  invariant(parentPort !== null, 'the worker entry runs in a worker thread only')
  return parentPort
}

const runtime = new WorkerRuntime(requireParent())

/**
 * Piscina calls this in the thread. It resolves at the end of the lease; without a lease at once, which shows that the
 * thread is up.
 */
export async function serve(offer: LeaseOffer | null): Promise<void> {
  if (offer !== null) await runtime.serve(offer.port)
}
