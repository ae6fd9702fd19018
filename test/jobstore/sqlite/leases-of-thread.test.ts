import { expect, test } from 'vitest'
import type * as LeasesOfThread from '../../../src/jobstore/sqlite/leases-of-thread.ts'
import { forgetLease, leaseOfThread, noteLease } from '../../../src/jobstore/sqlite/leases-of-thread.ts'

test('leases that were given up are known until their rows are gone, and no more than a thousand', () => {
  const bootIds = Array.from({ length: 1001 }, (_, number) => `boot ${number}`)
  noteLease('held', 'held')
  for (const bootId of bootIds) noteLease(bootId, 'givenUp')
  expect(bootIds.filter((bootId) => leaseOfThread(bootId) !== 'givenUp')).toEqual(['boot 0'])
  expect(leaseOfThread('held')).toBe('held')
  for (const bootId of ['held', ...bootIds]) forgetLease(bootId)
  expect([...bootIds, 'held'].filter((bootId) => leaseOfThread(bootId) !== undefined)).toEqual([])
})

test('leases are known to another copy of the package in the thread', async () => {
  const path = '../../../src/jobstore/sqlite/leases-of-thread.ts?copy'
  const copy = (await import(path)) as typeof LeasesOfThread
  expect(copy.leaseOfThread).not.toBe(leaseOfThread)
  noteLease('boot', 'held')
  expect(copy.leaseOfThread('boot')).toBe('held')
  noteLease('boot', 'givenUp')
  expect(copy.leaseOfThread('boot')).toBe('givenUp')
  copy.forgetLease('boot')
  expect(leaseOfThread('boot')).toBeUndefined()
})
