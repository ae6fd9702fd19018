import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { piscinaThreadPool } from 'quartz-ts'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { PoolUnderTest, Recorder, workerTask } from '../../src/testing/thread-pool/harness.ts'
import { type PiscinaThreadPoolOptions, resolvePiscinaOptions } from '../../src/threadpool/piscina-options.ts'
import type { WorkerTask, WorkerTaskResult } from '../../src/threadpool/wire.ts'
import * as Threads from '../../src/threadpool/worker-threads.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const fixture = (name: string): string => new URL(`../fixtures/workers/${name}`, import.meta.url).href
const fixturePath = (name: string): string => fileURLToPath(fixture(name))

const started: PoolUnderTest[] = []

async function startPool(options: PiscinaThreadPoolOptions): Promise<PoolUnderTest> {
  const test = await PoolUnderTest.start(piscinaThreadPool(options))
  started.push(test)
  return test
}

afterEach(async () => {
  for (const test of started.splice(0)) await test.stop()
})

function run(
  { pool }: PoolUnderTest,
  [module, exportName]: readonly [string, string],
  recorder: Recorder = new Recorder(),
  fields: Partial<WorkerTask> = {},
): Promise<WorkerTaskResult> {
  return pool.runInWorker(workerTask(fixture(module), exportName, fields), recorder)
}

async function threadOf(
  test: PoolUnderTest,
): Promise<{ threadId: number; marker?: string; execArgv: string[] }> {
  const { result } = await run(test, ['thread.mjs', 'describeThread'])
  return result as { threadId: number; marker?: string; execArgv: string[] }
}

/** An execution that waits in its thread until its recorder's controller aborts. */
async function waiting(
  test: PoolUnderTest,
  exportName: 'obey' | 'ignore',
  name: string,
): Promise<{ recorder: Recorder; failure: Promise<unknown> }> {
  const recorder = new Recorder()
  const ended = run(test, ['wait.mjs', exportName], recorder, { job: { name, group: 'jobs' } })
  const failure = ended.then(
    () => null,
    (error: unknown) => error,
  )
  await Promise.race([recorder.started, failure])
  return { recorder, failure }
}

/** A module that does not load until what it needs comes back. */
async function lateModule({ pool }: PoolUnderTest): Promise<{
  readonly late: () => Promise<WorkerTaskResult>
  readonly comeBack: () => Promise<void>
}> {
  const directory = await mkdtemp(join(tmpdir(), 'quartz-ts-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const module = join(directory, 'late.mjs')
  await writeFile(
    module,
    "import { existsSync } from 'node:fs'\n" +
      "if (existsSync(new URL('./away', import.meta.url))) throw new Error('away')\n" +
      "export default () => 'loaded'\n",
  )
  await writeFile(join(directory, 'away'), '')
  return {
    late: () => pool.runInWorker(workerTask(pathToFileURL(module).href, 'default'), new Recorder()),
    comeBack: () => rm(join(directory, 'away')),
  }
}

describe('threads', () => {
  it('are kept for the next task and get flags and environment of the pool', async () => {
    const flags = ['--no-warnings', '--no-deprecation']
    const test = await startPool({ size: 1, execArgv: flags, env: { QUARTZ_TEST_MARKER: 'set' } })
    const first = await threadOf(test)
    expect(first).toMatchObject({ marker: 'set', execArgv: flags })
    expect(await threadOf(test)).toEqual(first)
  })

  it('end when they have been idle for long enough', async () => {
    const test = await startPool({ size: 1, idleTimeoutMs: 0 })
    const { threadId } = await threadOf(test)
    await vi.waitFor(
      async () => {
        expect((await threadOf(test)).threadId).not.toBe(threadId)
      },
      { timeout: 30_000 },
    )
  })

  it('are no more than maxThreads; further tasks wait for one', async () => {
    const test = await startPool({ size: 4, maxThreads: 1 })
    const first = await waiting(test, 'obey', 'first')
    const second = threadOf(test)
    const third = threadOf(test)
    first.recorder.controller.abort(new Error('make room'))
    expect(await first.failure).toMatchObject({ message: 'make room' })
    expect((await second).threadId).toBe((await third).threadId)
  })

  it('let what a job left in the background go on between tasks', async () => {
    const test = await startPool({ size: 1 })
    const tick = async (): Promise<unknown> => (await run(test, ['thread.mjs', 'tick'])).result
    expect(await tick()).toBe(1)
    await vi.waitFor(
      async () => {
        expect(await tick()).toBeGreaterThan(1)
      },
      { timeout: 30_000 },
    )
  })

  it.each([
    ['count', { jobKey: 'jobs.job', jobType: 'count', fireInstanceId: 'firing-1', late: true }],
    // A task that is no job's has no such fields in time either.
    [null, { late: true }],
  ])(
    'pass log lines that come after the end of a task to the log of the pool, of type %j',
    async (jobType, fields) => {
      const test = await startPool({ size: 1 })
      const warn = vi.spyOn(test.logger, 'warn')
      const recorder = new Recorder()
      await run(test, ['thread.mjs', 'logLater'], recorder, { jobType })
      await vi.waitFor(
        () => {
          expect(warn).toHaveBeenCalledWith(fields, 'afterwards')
        },
        { timeout: 30_000 },
      )
      expect(recorder.reports).toEqual([])
    },
  )
})

describe('log lines', () => {
  it('need no fields, and take an error in their place', async () => {
    const test = await startPool({ size: 1 })
    const recorder = new Recorder()
    await run(test, ['thread.mjs', 'logBare'], recorder)
    expect(recorder.reports).toEqual([
      { level: 'info', fields: {}, message: 'only text' },
      { level: 'info', fields: { a: 1 }, message: '' },
      { level: 'info', fields: {}, message: '5' },
      { level: 'error', fields: { err: new RangeError('too far') }, message: 'failed' },
      { level: 'error', fields: { err: new RangeError('too far') }, message: 'too far' },
    ])
  })
})

describe('threads that die', () => {
  it('of memory fail their job and are replaced', async () => {
    const test = await startPool({ size: 1, resourceLimits: { maxOldGenerationSizeMb: 16 } })
    await expect(run(test, ['thread.mjs', 'exhaust'])).rejects.toMatchObject({
      code: 'ERR_WORKER_FAILED',
      message: expect.stringMatching(/'jobs\.job' ran out of memory; raise its resourceLimits/) as string,
      cause: { code: 'ERR_WORKER_OUT_OF_MEMORY' },
    })
    expect(await threadOf(test)).toBeDefined()
  })

  it.each([0, 3, -1])('by process.exit(%i) fail their job with that code', async (code) => {
    const test = await startPool({ size: 1 })
    const exited = run(test, ['thread.mjs', 'exit'], new Recorder(), { mergedJobDataMap: { code } })
    await expect(exited).rejects.toMatchObject({
      code: 'ERR_WORKER_FAILED',
      message: expect.stringContaining(`exited with code ${code}, as after process.exit(${code})`) as string,
    })
  })

  it('while they run nothing are logged and replaced', async () => {
    const test = await startPool({ size: 1 })
    const { threadId } = await threadOf(test)
    await run(test, ['thread.mjs', 'failLater'])
    await vi.waitFor(
      () => {
        expect(test.errors).toMatchObject([{ fields: { err: { message: 'afterwards' } } }])
      },
      { timeout: 30_000 },
    )
    expect((await threadOf(test)).threadId).not.toBe(threadId)
  })

  it('make room for the tasks that waited for them', async () => {
    const test = await startPool({ size: 3, maxThreads: 1 })
    const first = await waiting(test, 'ignore', 'first')
    const second = threadOf(test)
    const third = threadOf(test)
    first.recorder.controller.abort()
    await test.clock.advance(first.recorder.interruptGraceMs)
    expect(await first.failure).toMatchObject({ code: 'ERR_JOB_INTERRUPTED' })
    expect((await second).threadId).toBe((await third).threadId)
  })
})

describe('threads that do not come up', () => {
  it.each([
    ['a preloaded module that is missing', ['--import', './nowhere-to-be-found.mjs'], /nowhere-to-be-found/],
    ['a preloaded module that exits', ['--import', fixturePath('exit-at-start.mjs')], /it exited/],
    ['a flag that threads do not take', ['--title=thread'], /execArgv/],
  ])('fail their tasks: %s', async (_what, execArgv, reason) => {
    const test = await startPool({ size: 2, execArgv })
    const failed = {
      code: 'ERR_WORKER_FAILED',
      message: expect.stringMatching(
        new RegExp(`No worker thread could be started for job 'jobs.job': .*${reason.source}`),
      ) as string,
    }
    // Again and again: nothing hangs, and nothing is remembered.
    for (let round = 0; round < 2; round++) {
      const tasks = [run(test, ['echo.mjs', 'echo']), run(test, ['echo.mjs', 'echo'])]
      for (const task of tasks) await expect(task).rejects.toMatchObject(failed)
    }
  })

  it.each([1, 2, 3, 4, 5, 6])('do no harm as long as others do: round %i', async () => {
    const test = await startPool({
      size: 9,
      maxThreads: 3,
      execArgv: ['--import', fixture('even-threads-exit.mjs')],
    })
    const first = await Promise.allSettled(Array.from({ length: 9 }, () => threadOf(test)))
    const threadIds = first.map((each) => (each.status === 'fulfilled' ? each.value.threadId : 0))
    expect(threadIds.filter((id) => id % 2 === 0)).toEqual([])
    expect(await Promise.all(Array.from({ length: 9 }, () => threadOf(test)))).toHaveLength(9)
  })

  it.each([
    ['a preloaded module that is missing', ['--import', './nowhere.mjs'], 'nowhere\\.mjs'],
    ['a flag that threads do not take', ['--title=thread'], '--title'],
  ])('fail the initialization of a pool that starts them in advance: %s', async (_what, execArgv, reason) => {
    const pool = piscinaThreadPool({ size: 1, minThreads: 1, execArgv })
    await expect(PoolUnderTest.start(pool)).rejects.toMatchObject({
      code: 'ERR_WORKER_FAILED',
      message: expect.stringMatching(`could be started for the warm start: .*${reason}`) as string,
    })
    expect(await pool.shutdown({ waitForJobsToComplete: true })).toBe(0)
  })
})

describe('interrupts', () => {
  it('end a task that still waits for a thread', async () => {
    const test = await startPool({ size: 2, maxThreads: 1 })
    const first = await waiting(test, 'obey', 'first')
    const recorder = new Recorder()
    const second = run(test, ['echo.mjs', 'echo'], recorder)
    recorder.controller.abort(new Error('not needed any more'))
    await expect(second).rejects.toMatchObject({
      code: 'ERR_JOB_INTERRUPTED',
      message: expect.stringMatching(/before a worker thread took it/) as string,
      cause: { message: 'not needed any more' },
    })
    first.recorder.controller.abort(new Error('enough'))
    await first.failure
    expect(test.clock.timerCount).toBe(0)
  })

  it('end a task whose thread is still starting, and the thread is of use to the next', async () => {
    const test = await startPool({ size: 1 })
    const recorder = new Recorder()
    const task = run(test, ['wait.mjs', 'obey'], recorder)
    await test.clock.settle()
    recorder.controller.abort(new Error('at once'))
    const failure: unknown = await task.catch((error: unknown) => error)
    // Should the thread have been quick, then it is the job that says so.
    expect([(failure as Error).message, String((failure as Error).cause)]).toContainEqual(
      expect.stringContaining('at once'),
    )
    expect(await threadOf(test)).toBeDefined()
  })

  it('that end a shared thread fail the other jobs on it, by name', async () => {
    const test = await startPool({ size: 2, concurrentTasksPerWorker: 2 })
    const [stubborn, neighbour] = [
      await waiting(test, 'ignore', 'stubborn'),
      await waiting(test, 'obey', 'neighbour'),
    ]
    stubborn.recorder.controller.abort()
    await test.clock.advance(stubborn.recorder.interruptGraceMs)
    expect(await stubborn.failure).toMatchObject({ code: 'ERR_JOB_INTERRUPTED' })
    expect(await neighbour.failure).toMatchObject({
      code: 'ERR_WORKER_FAILED',
      message: expect.stringMatching(
        /'jobs\.neighbour' was terminated, because job 'jobs\.stubborn'.*concurrentTasksPerWorker: 1/,
      ) as string,
    })
    expect(await threadOf(test)).toBeDefined()
  })

  it('that are obeyed on a shared thread leave the other jobs on it alone', async () => {
    const test = await startPool({ size: 2, concurrentTasksPerWorker: 2 })
    const [first, second] = [await waiting(test, 'obey', 'first'), await waiting(test, 'obey', 'second')]
    first.recorder.controller.abort(new Error('first'))
    expect(await first.failure).toMatchObject({ message: 'first' })
    await test.clock.advance(first.recorder.interruptGraceMs)
    second.recorder.controller.abort(new Error('second'))
    expect(await second.failure).toMatchObject({ message: 'second' })
  })
})

describe('modules', () => {
  it('may be CommonJS', async () => {
    const test = await startPool({ size: 1 })
    expect(await run(test, ['common.cjs', 'named'])).toMatchObject({ result: 'named of CommonJS' })
  })

  it('that throw while they load are named, with the error as cause', async () => {
    const test = await startPool({ size: 1 })
    await expect(run(test, ['broken.mjs', 'default'])).rejects.toMatchObject({
      code: 'ERR_WORKER_MODULE',
      message: `The worker module '${fixturePath('broken.mjs')}' cannot be loaded: broken on purpose`,
      cause: { message: 'broken on purpose' },
    })
  })

  it('that did not load once are loaded by the next thread; the one before goes on with jobs of others', async () => {
    const test = await startPool({ size: 2, maxThreads: 1, concurrentTasksPerWorker: 2 })
    const { late, comeBack } = await lateModule(test)
    const other = await waiting(test, 'obey', 'other')
    await expect(late()).rejects.toMatchObject({ code: 'ERR_WORKER_MODULE', cause: { message: 'away' } })
    await comeBack()
    const { threadId } = await threadOf(test)
    await expect(late()).rejects.toMatchObject({ code: 'ERR_WORKER_MODULE', cause: { message: 'away' } })
    expect(await threadOf(test)).toMatchObject({ threadId })
    other.recorder.controller.abort(new Error('enough'))
    expect(await other.failure).toMatchObject({ message: 'enough' })
    expect(await late()).toMatchObject({ result: 'loaded' })
    expect(test.errors).toEqual([])
  })

  it('that did not load in a thread that has other jobs are loaded by another thread', async () => {
    const test = await startPool({ size: 4, maxThreads: 2, concurrentTasksPerWorker: 2 })
    const { late, comeBack } = await lateModule(test)
    // Each has a thread, and both have room for one more.
    const [first, second] = [await waiting(test, 'obey', 'first'), await waiting(test, 'obey', 'second')]
    await expect(late()).rejects.toMatchObject({ code: 'ERR_WORKER_MODULE' })
    await comeBack()
    expect(await late()).toMatchObject({ result: 'loaded' })
    for (const { recorder, failure } of [first, second]) {
      recorder.controller.abort(new Error('enough'))
      expect(await failure).toMatchObject({ message: 'enough' })
    }
    expect(test.errors).toEqual([])
  })

  it('may be TypeScript where the threads have a loader', async () => {
    const test = await startPool({ size: 1, execArgv: ['--import', fixture('ts-loader.mjs')] })
    test.pool.checkWorkerModule(fixture('typed.ts'))
    expect(await run(test, ['typed.ts', 'default'])).toMatchObject({ result: { answer: 42 } })
  })

  it('that are TypeScript run or are refused, as Node can', async () => {
    const test = await startPool({ size: 1, execArgv: [] })
    const task = run(test, ['typed.ts', 'default'])
    if (Boolean(Reflect.get(process.features, 'typescript'))) {
      expect(await task).toMatchObject({ result: { answer: 42 } })
    } else {
      await expect(task).rejects.toMatchObject({
        code: 'ERR_WORKER_MODULE',
        message: expect.stringMatching(/typed\.ts' is TypeScript/) as string,
      })
    }
  })
})

describe('data', () => {
  it('that cannot cross into the thread fail the task by name', async () => {
    const test = await startPool({ size: 1 })
    const mergedJobDataMap = { callback: () => undefined }
    await expect(run(test, ['echo.mjs', 'echo'], new Recorder(), { mergedJobDataMap })).rejects.toMatchObject(
      {
        code: 'ERR_WORKER_DATA',
        message: expect.stringMatching(
          /The data of job 'jobs\.job' cannot cross into a worker thread/,
        ) as string,
      },
    )
    expect(await threadOf(test)).toBeDefined()
  })

  it.each([true, false])('that cannot be looked at (revoked: %s) fail the task alone', async (revoked) => {
    const test = await startPool({ size: 2, maxThreads: 1, concurrentTasksPerWorker: 2 })
    const neighbour = await waiting(test, 'obey', 'neighbour')
    const fields = { mergedJobDataMap: { revoked } }
    await expect(run(test, ['echo.mjs', 'unreadable'], new Recorder(), fields)).rejects.toMatchObject({
      code: 'ERR_WORKER_DATA',
      message: expect.stringContaining(`'result.draft' throws when it is read`) as string,
    })
    neighbour.recorder.controller.abort(new Error('enough'))
    expect(await neighbour.failure).toMatchObject({ message: 'enough' })
  })

  it.each([1, 2])(
    'of a task that reports in a loop leave the turns to others (%d tasks a thread)',
    async (tasks) => {
      const test = await startPool({ size: 2, maxThreads: 1, concurrentTasksPerWorker: tasks })
      const reports = 50_000
      const recorder = new Recorder()
      let before = 0
      let mostInOneTurn = 0
      let isOver = false
      const turn = (): void => {
        mostInOneTurn = Math.max(mostInOneTurn, recorder.reports.length - before)
        before = recorder.reports.length
        if (!isOver) setImmediate(turn)
      }
      turn()
      const { result } = await run(test, ['echo.mjs', 'flood'], recorder, { mergedJobDataMap: { reports } })
      isOver = true
      expect(result).toBe(reports)
      expect(recorder.reports).toHaveLength(reports)
      expect(mostInOneTurn).toBeLessThan(5000)
    },
  )

  it('of any cloneable kind come back', async () => {
    const test = await startPool({ size: 1 })
    for (const value of [null, undefined, 0, '', 1n, new Date(5), new Map([[1, new Set([2])]]), [], {}]) {
      const fields = { mergedJobDataMap: { value } }
      const { result } = await run(test, ['echo.mjs', 'value'], new Recorder(), fields)
      expect(result).toEqual(value)
    }
  })
})

describe('threads that do not answer', () => {
  /** The threads of a pool with a clock of their own, as only a test has them. */
  async function open(clock: ManualClock, underTest: PoolUnderTest): Promise<Threads.WorkerThreads> {
    const dist = new URL('../../dist/internal-for-tests.js', import.meta.url).href
    const { WorkerThreads } = (await import(dist)) as typeof Threads
    const { logger } = underTest
    const context = { schedulerName: 'blocked', clock: underTest.clock, logger }
    return WorkerThreads.open(resolvePiscinaOptions({ size: 1 }), context, clock)
  }

  it('are terminated and replaced, so that the next task runs', async () => {
    const test = await startPool({ size: 1 })
    const clock = new ManualClock()
    const threads = await open(clock, test)
    const job = (exportName: string): WorkerTask => workerTask(fixture('thread.mjs'), exportName)
    await threads.run(job('blockLater'), new Recorder())
    // The lease has no work and is to end, but the thread does not hear it.
    await clock.advance(2 * Threads.sweepIntervalMs)
    await clock.advance(Threads.answerTimeoutMs)
    expect(test.errors).toMatchObject([{ message: expect.stringMatching(/does not answer/) as string }])
    const { result } = await threads.run(job('describeThread'), new Recorder())
    expect(result).toMatchObject({ threadId: expect.any(Number) as number })
    await threads.close()
    expect(clock.timerCount).toBe(0)
  })
})
