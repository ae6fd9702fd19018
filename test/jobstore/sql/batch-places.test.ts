import { expect, test } from 'vitest'
import type { FiringsBeside } from '../../../src/jobstore/job-store.ts'
import { BatchPlaces } from '../../../src/jobstore/sql/programs/firing/batch-places.ts'

interface Due {
  readonly jobType: string
  readonly isClaimed?: boolean
}

const work: Due = { jobType: 'work' }
const send: Due = { jobType: 'send' }
const order: Due = { jobType: 'order' }
const claimedSend: Due = { jobType: 'send', isClaimed: true }

function places(maxCount: number, beside?: FiringsBeside): BatchPlaces<Due> {
  const request = beside === undefined ? { maxCount } : { maxCount, beside }
  return new BatchPlaces(request, ({ isClaimed }) => isClaimed !== true)
}

function beside(maxCount: number, rooms: Readonly<Record<string, number>>): FiringsBeside {
  return { maxCount, roomOf: (jobType) => rooms[jobType] ?? 0 }
}

const sends = (count: number): Due[] => Array.from({ length: count }, () => send)

test('without places beside, the first ones fit, as many as there are threads', () => {
  const batch = places(2)
  expect(batch.fitting([work, send, order])).toEqual([work, send])
  batch.takeForFiring('work')
  expect([batch.count, batch.threads]).toEqual([1, 1])
})

test('what needs no thread leaves the threads to what needs one', () => {
  const batch = places(2, beside(10, { send: 5 }))
  const found = [send, work, send, work, work, send]
  expect(batch.fitting(found)).toEqual([send, work, send, work, send])
  for (const each of batch.fitting(found)) batch.takeForFiring(each.jobType)
  expect([batch.count, batch.threads]).toEqual([7, 0])
  expect(batch.fitting([work, send, work])).toEqual([send])
})

test('each job type has its own room, and a thread where that is used up', () => {
  const batch = places(1, beside(10, { send: 2, order: 1 }))
  const found = [send, send, order, order, send]
  expect(batch.fitting(found)).toEqual([send, send, order, order])
  for (const each of batch.fitting(found)) batch.takeForFiring(each.jobType)
  expect([batch.count, batch.threads]).toEqual([7, 0])
})

test('all job types together have no more than the request says', () => {
  const batch = places(1, beside(3, { send: 100 }))
  expect(batch.fitting(sends(10))).toHaveLength(4)
})

test('what is only claimed needs a thread', () => {
  const batch = places(1, beside(10, { send: 5 }))
  expect(batch.fitting([claimedSend, claimedSend, send])).toEqual([claimedSend, send])
  batch.takeForClaim()
  expect([batch.count, batch.threads]).toEqual([10, 0])
})

test('to see what fits takes nothing', () => {
  const batch = places(1, beside(3, { send: 3 }))
  batch.fitting(sends(4))
  expect(batch.fitting(sends(9))).toHaveLength(4)
})

test('a closed batch has no places', () => {
  const batch = places(5, beside(3, { send: 3 }))
  batch.close()
  expect([batch.count, batch.threads]).toEqual([0, 0])
})
