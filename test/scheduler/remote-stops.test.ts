import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  jobKey,
  ramJobStore,
  SchedulerError,
} from '../../src/index.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'
import { latch } from '../support/latch.ts'

const key = jobKey('orders')

/** A started scheduler with a firing that goes on elsewhere, whose `stop` settles when the gate is open. */
async function openWithSlowStop(jobStore: JobStore) {
  const clock = new ManualClock()
  const [asked, gate] = [latch(), latch<Error | null>()]
  const warnings: string[] = []
  const logger = {
    debug: () => {},
    info: () => {},
    warn: (_: object, message: string) => {
      warnings.push(message)
    },
    error: () => {},
  }
  const job = defineRemoteJob(
    'r',
    (context) => context.awaitResult({ reference: 'run', timeoutMs: 3_600_000 }),
    {
      stop: async () => {
        asked.open()
        const error = await gate.promise
        if (error !== null) throw error
      },
    },
  )
  const scheduler = await createScheduler({ clock, logger, jobs: [job], jobStore })
  onTestFinished(() => scheduler.shutdown())
  const [told, errors] = [[] as string[], [] as SchedulerError[]]
  scheduler.events.on('jobWasExecuted', ({ error }) => told.push(error?.code ?? 'succeeded'))
  scheduler.events.on('schedulerError', ({ error }) => errors.push(error))
  await scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(key)
  await scheduler.idle()
  const interrupted = scheduler.interrupt(key)
  await asked.promise
  return { scheduler, clock, told, errors, warnings, gate, interrupted }
}

describe.each([
  ['memory', () => ramJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
] as const)('an interrupt whose stop does not settle, on a store in %s', (_, makeStore) => {
  test('ends the firing after 10 seconds, and says that it is not known to have been stopped', async () => {
    const { clock, told, errors, warnings, gate, interrupted } = await openWithSlowStop(makeStore())
    await clock.advance(9999)
    expect(told).toEqual([])
    await clock.advance(1)
    expect(await interrupted).toBe(true)
    expect(told).toEqual(['ERR_JOB_INTERRUPTED'])
    const message = "('run') was not stopped, as far as is known: stop has not settled within 10 s."
    expect(errors.map((error) => error.message)).toEqual([expect.stringContaining(message)])
    expect(warnings).toHaveLength(1)
    // What it says afterwards is not lost.
    gate.open(new Error('not there'))
    await clock.settle()
    expect(warnings.slice(1)).toEqual(['the stop of a remote job failed after it was waited for'])
  })

  test('ends the firing when it settles within 10 seconds', async () => {
    const { clock, told, errors, gate, interrupted } = await openWithSlowStop(makeStore())
    await clock.advance(9999)
    gate.open(null)
    expect(await interrupted).toBe(true)
    expect(told).toEqual(['ERR_JOB_INTERRUPTED'])
    expect(errors).toEqual([])
  })

  test('answers that somebody else has ended it when its result comes', async () => {
    const { scheduler, told, errors, interrupted } = await openWithSlowStop(makeStore())
    expect(await scheduler.reportResult('run')).toBe(true)
    expect(await interrupted).toBe(false)
    expect(told).toEqual(['succeeded'])
    expect(errors).toEqual([])
  })

  test('is answered when the scheduler shuts down', async () => {
    const { scheduler, interrupted } = await openWithSlowStop(makeStore())
    const settled = interrupted.then(String, (error: unknown) =>
      SchedulerError.is(error) ? error.code : error,
    )
    await scheduler.shutdown()
    expect(['true', 'ERR_SCHEDULER_SHUTDOWN']).toContain(await settled)
  })

  test('is answered also when it asks after the scheduler has closed', async () => {
    const jobStore = makeStore()
    const { scheduler, gate, interrupted } = await openWithSlowStop(jobStore)
    const { awaitedResults } = jobStore
    if (awaitedResults === null) throw new Error('the store awaits no results')
    const findTarget = awaitedResults.findTarget.bind(awaitedResults)
    const [looked, slow] = [latch(), latch()]
    vi.spyOn(awaitedResults, 'findTarget').mockImplementation(async (target) => {
      const found = await findTarget(target)
      looked.open()
      await slow.promise
      return found
    })
    const second = scheduler.interrupt(key).then(String, String)
    await looked.promise
    await Promise.all([scheduler.shutdown(), interrupted.catch(() => {})])
    slow.open()
    // What it says depends on which of the two ended the firing; that it says something does not.
    expect(await second).toMatch(/^(true|false|SchedulerError.*)/)
    gate.open(null)
  })
})
