import { piscinaThreadPool } from 'quartz-ts'
import { describe, expect, it } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import { PoolUnderTest, Recorder, workerTask } from '../../src/testing/thread-pool/harness.ts'

const jobsUrl = new URL('../../dist/testing/thread-pool/worker-jobs.js', import.meta.url).href
const nativeUrl = new URL('../fixtures/workers/native.mjs', import.meta.url).href

/** What a task does, and the codes with which it may end; '' is an end without error. */
const behaviours: readonly {
  readonly job: string
  readonly url?: string
  readonly abort: boolean
  readonly codes: readonly string[]
}[] = [
  { job: 'count', abort: false, codes: [''] },
  { job: 'report', abort: false, codes: [''] },
  { job: 'fail', abort: false, codes: ['thrown'] },
  { job: 'exit', abort: false, codes: ['ERR_WORKER_FAILED'] },
  { job: 'escape', abort: false, codes: ['ERR_WORKER_FAILED'] },
  { job: 'obey', abort: true, codes: ['thrown', 'ERR_JOB_INTERRUPTED'] },
  { job: 'ignore', abort: true, codes: ['ERR_JOB_INTERRUPTED'] },
  { job: 'sleep', url: nativeUrl, abort: true, codes: ['ERR_JOB_INTERRUPTED', ''] },
]

const tasks = Number(process.env['WORKER_CHAOS_TASKS'] ?? 60)

describe('worker jobs that fail in every way at random', () => {
  it.each([
    { seed: 1, maxThreads: 1, concurrentTasksPerWorker: 1 },
    { seed: 2, maxThreads: 3, concurrentTasksPerWorker: 1 },
    { seed: 3, maxThreads: 2, concurrentTasksPerWorker: 3 },
  ])('each end in their own way, and the pool lives: %j', async ({ seed, ...threads }) => {
    const test = await PoolUnderTest.start(piscinaThreadPool({ size: 6, ...threads }))
    const ids = seededIds(seed)
    const unexpected: string[] = []
    const runTask = async (index: number): Promise<void> => {
      const behaviour = behaviours[Math.floor(ids.random() * behaviours.length)] ?? expect.fail()
      const recorder = new Recorder()
      const task = workerTask(behaviour.url ?? jobsUrl, behaviour.job, { fireInstanceId: `firing-${index}` })
      const ended = test.pool.runInWorker(task, recorder).then(
        () => '',
        (error: unknown) => (error as { code?: string }).code ?? 'thrown',
      )
      if (behaviour.abort) {
        // Sometimes before it has started, sometimes after.
        if (ids.random() < 0.7) await Promise.race([recorder.started, ended])
        recorder.controller.abort(new Error('chaos'))
        await test.clock.advance(recorder.interruptGraceMs)
      }
      const code = await ended
      // Those on a shared thread go down with it.
      const allowed =
        threads.concurrentTasksPerWorker > 1 ? [...behaviour.codes, 'ERR_WORKER_FAILED'] : behaviour.codes
      if (!allowed.includes(code)) unexpected.push(`task ${index} ${behaviour.job}: '${code}'`)
    }
    for (let next = 0; next < tasks; ) {
      await test.pool.blockForAvailableThreads(new AbortController().signal)
      const index = next++
      expect(test.pool.runInThread({ run: () => runTask(index) })).toBe(true)
    }
    expect(await test.pool.shutdown({ waitForJobsToComplete: true })).toBe(0)
    expect(unexpected).toEqual([])
    expect(test.clock.timerCount).toBe(0)
  })
})
