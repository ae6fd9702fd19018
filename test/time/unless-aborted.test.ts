import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { unlessAborted } from '../../src/time/unless-aborted.ts'

const never = new Promise<never>(() => {})

test('work that ends leaves nothing at a signal that lives on', async () => {
  const { signal } = new AbortController()
  for (let count = 0; count < 50; count++) await unlessAborted(Promise.resolve(count), signal)
  await expect(unlessAborted(Promise.reject(new Error('work')), signal)).rejects.toThrow('work')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('an abort ends the wait, and a wait that begins after it', async () => {
  const controller = new AbortController()
  const [reason, refusal] = [new Error('reason'), new Error('refusal')]
  const { signal } = controller
  const waits = [unlessAborted(never, signal), unlessAborted(never, signal, () => refusal)]
  controller.abort(reason)
  expect(await Promise.allSettled(waits)).toMatchObject([{ reason }, { reason: refusal }])
  await expect(unlessAborted(Promise.resolve(1), signal)).rejects.toBe(reason)
})
