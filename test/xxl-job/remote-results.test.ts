import { expect, onTestFinished, test } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { createScheduler, defineRemoteJob, JobBuilder, jobKey, type Scheduler } from '../../src/index.ts'
import type { ResultTaker } from '../../src/jobs/remote-job.ts'
import { ManualClock } from '../../src/testing.ts'
import { RemoteResults } from '../../src/xxl-job/admin/remote-results.ts'

const result = { logId: 7, handleCode: 200, handleMsg: 'done' }
const bearer = { groups: ['a', 'b'], mayActFor: () => true }
const dayMs = 86_400_000
const away = new Error('the database is away')
const gone = new SchedulerError('ERR_SCHEDULER_SHUTDOWN', 'gone')

const failing = (error: Error, schedulerName = 'failing'): ResultTaker => ({
  schedulerName,
  awaitsResult: () => Promise.reject(error),
  reportResult: () => Promise.reject(error),
})

/** Awaits one result, under a reference that has this end. */
class Awaiting implements ResultTaker {
  readonly schedulerName = 'awaiting'
  late = 0
  readonly #end: string
  #isAwaited = true

  constructor(end: string) {
    this.#end = end
  }

  async awaitsResult(reference: string): Promise<boolean> {
    return this.#isAwaited && reference.endsWith(this.#end)
  }

  async reportResult(reference: string): Promise<boolean> {
    const isTaken = await this.awaitsResult(reference)
    if (isTaken) this.#isAwaited = false
    else this.late++
    return isTaken
  }
}

function resultsOf(...takers: readonly ResultTaker[]) {
  const clock = new ManualClock()
  const results = new RemoteResults(clock)
  for (const taker of takers) results.connect(taker)
  return { clock, results, report: (logId = result.logId) => results.report({ ...result, logId }, bearer) }
}

test('a result is refused while one of the schedulers that may await it cannot say', async () => {
  const other = new Awaiting(':8')
  await expect(resultsOf(other, failing(away)).report()).rejects.toThrow(away)
  await expect(resultsOf(failing(away), other).report()).rejects.toThrow(away)
  await expect(resultsOf(failing(away)).report()).rejects.toThrow(away)
  expect(other.late).toBe(0)
})

test('a result that is awaited is taken, whatever else fails, and once more when it comes again', async () => {
  const { report } = resultsOf(failing(away), new Awaiting(':7'), failing(gone))
  expect(await report()).toBe(true)
  // With others of its batch, of which one was refused.
  expect(await report()).toBe(true)
  await expect(report(8)).rejects.toThrow(away)
})

test('a result that none awaits is late', async () => {
  const others = [new Awaiting(':8'), new Awaiting(':9')]
  expect(await resultsOf(...others).report()).toBe(false)
  expect(await resultsOf().report()).toBe(false)
  expect(others.every(({ late }) => late > 0)).toBe(true)
})

test('a result is refused while a scheduler is shut down, until another one of its name is there', async () => {
  const other = new Awaiting(':8')
  await expect(resultsOf(failing(gone)).report()).rejects.toThrow(gone)
  await expect(resultsOf(failing(gone), other).report()).rejects.toThrow(gone)
  await expect(resultsOf(failing(gone), failing(gone), other).report()).rejects.toThrow(gone)
  expect(other.late).toBe(0)
  expect(await resultsOf(failing(gone, other.schedulerName), other).report()).toBe(false)
})

test.each([
  ['a day', dayMs / 2, dayMs],
  ['the longest run, when that is more', 3 * dayMs, 3 * dayMs],
])('a scheduler that is shut down for good holds up results for %s', async (_, timeoutMs, heldUpMs) => {
  const { clock, results, report } = resultsOf(failing(gone), new Awaiting(':8'))
  results.expect(timeoutMs)
  await expect(report()).rejects.toThrow(gone)
  await clock.advance(heldUpMs - 1)
  await expect(report()).rejects.toThrow(gone)
  await clock.advance(1)
  expect(await report()).toBe(false)
  expect(await report()).toBe(false)
})

test('a scheduler whose store awaits nothing holds up no others', async () => {
  const unable = new SchedulerError('ERR_NOT_SUPPORTED', 'it cannot')
  expect(await resultsOf(failing(unable), new Awaiting(':8')).report()).toBe(false)
  expect(await resultsOf(failing(unable)).report()).toBe(false)
})

test('schedulers are told of their own results, and of no others while one is shut down', async () => {
  const open = async (schedulerName: string): Promise<Scheduler> => {
    const job = defineRemoteJob('r', (context) =>
      context.awaitResult({ reference: `xxl-job:${schedulerName === 'one' ? 1 : 2}`, timeoutMs: 60_000 }),
    )
    const scheduler = await createScheduler({ schedulerName, logger: false, jobs: [job] })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.addJob(JobBuilder.newJob(job).withIdentity('j').storeDurably().build())
    await scheduler.start()
    await scheduler.triggerJob(jobKey('j'))
    await scheduler.idle()
    scheduler.events.on('resultLate', ({ reference }) => late.push(`${reference} at ${schedulerName}`))
    return scheduler
  }
  const late: string[] = []
  const schedulers = [await open('one'), await open('two')]
  const { results } = resultsOf(...schedulers)
  const report = (logId: number) => results.report({ ...result, logId }, { ...bearer, groups: [''] })
  expect(await report(2)).toBe(true)
  expect(late).toEqual([])
  expect(await report(2)).toBe(false)
  expect(late).toEqual(['xxl-job:2 at one', 'xxl-job:2 at two'])
  late.length = 0
  await schedulers[0]?.shutdown()
  for (const logId of [1, 3, 1, 3]) {
    await expect(report(logId)).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
  }
  expect(await report(2)).toBe(true)
  expect(late).toEqual([])
})
