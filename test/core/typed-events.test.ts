import { expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { TypedEventEmitter } from '../../src/core/typed-events.ts'

const emitter = (): TypedEventEmitter<{ told: number }> =>
  new TypedEventEmitter<{ told: number }>(silentLogger, { told: true })

test('the wait for an event is given up by a signal, and nothing is left of it', async () => {
  const events = emitter()
  const abort = new AbortController()
  const given = events.next('told', (value) => value > 1, { signal: abort.signal })
  events.emit('told', 1)
  expect(events.has('told')).toBe(true)
  abort.abort(new Error('enough'))
  await expect(given).rejects.toThrow('enough')
  expect(events.has('told')).toBe(false)
})

test('a signal that was aborted before rejects at once', async () => {
  const events = emitter()
  const signal = AbortSignal.abort(new Error('before'))
  await expect(events.next('told', undefined, { signal })).rejects.toThrow('before')
  expect(events.has('told')).toBe(false)
})

test('an event that comes leaves nothing at the signal', async () => {
  const events = emitter()
  const { signal } = new AbortController()
  const listeners = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  signal.addEventListener = (type: string, listener: never) => {
    listeners.add(listener)
    add(type, listener)
  }
  const remove = signal.removeEventListener.bind(signal)
  signal.removeEventListener = (type: string, listener: never) => {
    listeners.delete(listener)
    remove(type, listener)
  }
  const next = events.next('told', undefined, { signal })
  expect(listeners.size).toBe(1)
  events.emit('told', 7)
  expect(await next).toBe(7)
  expect(listeners.size).toBe(0)
})
