import { expect, test } from 'vitest'
import type * as LeasesGivenUp from '../../../src/jobstore/sqlite/leases-given-up.ts'
import { forgetGivenUp, giveUp, isGivenUp } from '../../../src/jobstore/sqlite/leases-given-up.ts'

test('leases that were given up are known until their rows are gone, and no more than a thousand', () => {
  const bootIds = Array.from({ length: 1001 }, (_, number) => `boot ${number}`)
  for (const bootId of bootIds) giveUp(bootId)
  expect(bootIds.filter((bootId) => !isGivenUp(bootId))).toEqual(['boot 0'])
  for (const bootId of bootIds) forgetGivenUp(bootId)
  expect(bootIds.filter(isGivenUp)).toEqual([])
})

test('leases that were given up are known to another copy of the package in the process', async () => {
  const path = '../../../src/jobstore/sqlite/leases-given-up.ts?copy'
  const copy = (await import(path)) as typeof LeasesGivenUp
  expect(copy.isGivenUp).not.toBe(isGivenUp)
  giveUp('boot')
  expect(copy.isGivenUp('boot')).toBe(true)
  copy.forgetGivenUp('boot')
  expect(isGivenUp('boot')).toBe(false)
})
