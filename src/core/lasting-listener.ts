import type { EventEmitter } from 'node:events'

type LastingEmitter = Pick<EventEmitter, 'on' | 'off' | 'getMaxListeners' | 'setMaxListeners'>
type Listener = Parameters<EventEmitter['on']>[1]

/**
 * Listens to events of an emitter that many schedulers may share; returns a function that stops listening. Each call
 * raises the emitter's limit by the one listener that it adds, because Node.js warns of a leak above the limit.
 */
export function listenLastingly(
  emitter: LastingEmitter,
  events: readonly string[],
  listener: Listener,
): () => void {
  raiseLimit(emitter, 1)
  for (const event of events) emitter.on(event, listener)
  let isListening = true
  return () => {
    if (!isListening) return
    isListening = false
    for (const event of events) emitter.off(event, listener)
    raiseLimit(emitter, -1)
  }
}

function raiseLimit(emitter: LastingEmitter, by: number): void {
  const limit = emitter.getMaxListeners()
  // Zero means that the emitter has no limit.
  if (limit > 0) emitter.setMaxListeners(limit + by)
}
