import { expect, test } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import type { ResultTaker } from '../../src/jobs/remote-job.ts'
import { RemoteResults } from '../../src/xxl-job/admin/remote-results.ts'

const result = { logId: 7, handleCode: 200, handleMsg: 'done' }
const bearer = { groups: ['a', 'b'], mayActFor: () => true }
const others: ResultTaker = { schedulerName: 'others', reportResult: async () => false }
const failing = (error: Error, schedulerName = 'failing'): ResultTaker => ({
  schedulerName,
  reportResult: () => Promise.reject(error),
})
const away = new Error('the database is away')

const reportTo = (...takers: readonly ResultTaker[]): Promise<boolean> => {
  const results = new RemoteResults()
  for (const taker of takers) results.connect(taker)
  return results.report(result, bearer)
}

test('a result is refused while one of the schedulers that may await it cannot say', async () => {
  await expect(reportTo(others, failing(away))).rejects.toThrow(away)
  await expect(reportTo(failing(away), others)).rejects.toThrow(away)
})

test('a result that is awaited is taken, whatever else fails', async () => {
  let asked = 0
  // It is that of the second group.
  const awaiting: ResultTaker = { schedulerName: 'awaiting', reportResult: async () => ++asked === 2 }
  expect(await reportTo(failing(away), awaiting)).toBe(true)
  expect(await reportTo(others, others)).toBe(false)
})

test('a result is refused while a scheduler is shut down, until another one of its name is there', async () => {
  const gone = new SchedulerError('ERR_SCHEDULER_SHUTDOWN', 'gone')
  await expect(reportTo(failing(gone))).rejects.toThrow(gone)
  await expect(reportTo(failing(gone), others)).rejects.toThrow(gone)
  await expect(reportTo(failing(gone), failing(gone), others)).rejects.toThrow(gone)
  expect(await reportTo(failing(gone, others.schedulerName), others)).toBe(false)
})

test('a scheduler whose store awaits nothing holds up no others', async () => {
  const unable = new SchedulerError('ERR_NOT_SUPPORTED', 'it cannot')
  expect(await reportTo(failing(unable), others)).toBe(false)
})
