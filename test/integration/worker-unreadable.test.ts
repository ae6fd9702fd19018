import { piscinaThreadPool } from 'quartz-ts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PoolUnderTest, Recorder, workerTask } from '../../src/testing/thread-pool/harness.ts'
import type { PiscinaThreadPoolOptions } from '../../src/threadpool/piscina-options.ts'

const fixture = (name: string): string => new URL(`../fixtures/workers/${name}`, import.meta.url).href

async function start(options: PiscinaThreadPoolOptions): Promise<PoolUnderTest> {
  const test = await PoolUnderTest.start(piscinaThreadPool(options))
  onTestFinished(() => test.stop())
  return test
}

const echo = workerTask(fixture('echo.mjs'), 'value', { mergedJobDataMap: { value: 'read' } })

describe.each([1, 4])(
  'a worker job that sends what the main thread cannot read, %i in a thread',
  (shared) => {
    const options = { size: 4, maxThreads: 1, concurrentTasksPerWorker: shared }

    it.each(['result', 'data', 'failure'])(
      'fails where it is its %s, and its neighbours do not',
      async (name) => {
        const { pool } = await start(options)
        const deep = pool.runInWorker(workerTask(fixture('deep.mjs'), name), new Recorder())
        const beside = pool.runInWorker(echo, new Recorder())
        await expect(deep).rejects.toMatchObject({
          code: 'ERR_WORKER_DATA',
          message: expect.stringContaining("What job 'jobs.job' returned, threw or left") as string,
          cause: { name: 'RangeError' },
        })
        expect(await beside).toMatchObject({ result: 'read' })
      },
    )

    it.each(['result', 'data', 'failure'])(
      'fails where it is its %s, and those that end in the same turn do not',
      async (name) => {
        const { pool } = await start(options)
        const run = (exportName: string): Promise<unknown> =>
          pool.runInWorker(workerTask(fixture('deep.mjs'), exportName), new Recorder())
        // Once the module is loaded, all jobs of one message end in one turn.
        await run('flat')
        const [deep, ...others] = await Promise.allSettled([
          run(name),
          run('flat'),
          run('nested'),
          run('fails'),
        ])
        expect(deep).toMatchObject({ reason: { code: 'ERR_WORKER_DATA' } })
        expect(others).toMatchObject([
          { value: { result: { ok: true } } },
          { value: { result: { rows: [{ id: 1 }] } } },
          { reason: { message: 'no such row' } },
        ])
      },
    )

    it('is told of, and goes on, where it is its progress: also of more than may wait unread', async () => {
      const { pool, errors } = await start(options)
      const recorder = new Recorder()
      const ended = pool.runInWorker(workerTask(fixture('deep.mjs'), 'progress'), recorder)
      expect(await ended).toMatchObject({ result: 1500 })
      expect(recorder.reports).toEqual([{ progress: 'last' }])
      expect(errors.map(({ fields, message }) => [Reflect.get(fields, 'jobs') as unknown, message])).toEqual([
        [['jobs.job'], expect.stringContaining('nested too deep') as string],
      ])
      expect(await pool.runInWorker(echo, new Recorder())).toMatchObject({ result: 'read' })
    })
  },
)

it('a task that its thread cannot read fails, and says why', async () => {
  const { pool } = await start({ size: 1, resourceLimits: { stackSizeMb: 0.3 } })
  let value: object = {}
  for (let level = 0; level < 1500; level++) value = { value }
  const task = workerTask(fixture('echo.mjs'), 'echo', { mergedJobDataMap: { value } })
  await expect(pool.runInWorker(task, new Recorder())).rejects.toMatchObject({
    code: 'ERR_WORKER_FAILED',
    message: expect.stringContaining('A message to the thread cannot be read there') as string,
  })
})

it('a result that its thread cannot send, because it is nested too deep, is said to be that', async () => {
  const { pool } = await start({ size: 1 })
  await expect(
    pool.runInWorker(workerTask(fixture('deep.mjs'), 'tooDeep'), new Recorder()),
  ).rejects.toMatchObject({
    code: 'ERR_WORKER_DATA',
    message: expect.stringMatching(
      /thread: 'result(\.value){20}' is nested too deep, or holds what is not plain further inside\./,
    ) as string,
  })
})
