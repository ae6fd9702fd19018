import { receiveMessageOnPort } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { ThreadLease } from '../../src/threadpool/thread-lease.ts'
import { systemClock } from '../../src/time/clock.ts'

it('a lease that is closed more than once keeps no thread waiting for a reader', () => {
  const events = {
    ready: () => {},
    ended: () => {},
    refused: () => {},
    unreadable: () => {},
    endLost: () => {},
  }
  const lease = new ThreadLease(events, { shared: true, clock: systemClock })
  const { message } = receiveMessageOnPort(lease.offer) as { readonly message: readonly [string, Int32Array] }
  for (let times = 0; times < 3; times++) lease.close()
  expect(message[0]).toBe('unread')
  expect(message[1][0]).toBeLessThan(0)
})
