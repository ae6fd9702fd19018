import { fileURLToPath } from 'node:url'
import {
  defineWorkerTask,
  ScheduledExecutor,
  type ScheduledExecutorOptions,
  type ScheduledFuture,
  type WorkerTaskDefinition,
} from 'quartz-ts/executors'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { lateWorkerEntry } from '../support/late-worker-entry.ts'

const fixture = (name: string): URL => new URL(`../fixtures/workers/${name}`, import.meta.url)

const started: ScheduledExecutor[] = []

function start(options: ScheduledExecutorOptions = {}): ScheduledExecutor {
  const executor = new ScheduledExecutor(options)
  started.push(executor)
  return executor
}

afterEach(async () => {
  for (const executor of started.splice(0)) {
    executor.shutdownNow()
    await executor.awaitTermination()
  }
})

/** How many threads this process has. */
const workers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Worker').length

interface Thread {
  readonly threadId: number
}

const thread = defineWorkerTask<Thread>(fixture('thread.mjs'), { exportName: 'describeThread' })

describe('worker tasks', () => {
  it('start no thread once the executor was shut down', async () => {
    const executor = start({ corePoolSize: 2, threadPool: { minThreads: 2 } })
    executor.shutdown()
    const before = workers()
    expect(() => executor.submit(thread)).toThrow(expect.objectContaining({ code: 'ERR_REJECTED_EXECUTION' }))
    await executor.awaitTermination()
    expect(workers()).toBe(before)
  })

  it('run in a thread, with their data, and answer what the module does', async () => {
    const executor = start()
    const echo = defineWorkerTask<{ echoed: number }>(fixture('echo.mjs'), { data: { echoed: 5 } })
    expect(await executor.submit(echo)).toEqual({ echoed: 5 })
    const { threadId } = await executor.schedule(thread, 5)
    expect(threadId).toBeGreaterThan(0)
  })

  it('run periodically like functions', async () => {
    const executor = start({
      decorateTask: (task) => async (context) => {
        const answer = (await task(context)) as Thread
        seen.push(answer.threadId)
        if (seen.length === 3) context.future.cancel()
        return answer
      },
    })
    const seen: number[] = []
    await expect(executor.scheduleAtFixedRate(thread, 0, 5)).rejects.toMatchObject({
      code: 'ERR_TASK_CANCELLED',
    })
    expect(new Set(seen).size).toBe(1)
  })

  it('see their signal abort, and lose their thread when they go on', async () => {
    const executor = start({ corePoolSize: 2, interruptGraceMs: 50 })
    for (const exportName of ['obey', 'ignore']) {
      const running = executor.events.next('taskProgress')
      const future = executor.submit(defineWorkerTask(fixture('wait.mjs'), { exportName }))
      expect(await running).toEqual({ future, value: 'running' })
      future.cancel({ mayInterrupt: true })
      await vi.waitFor(
        () => {
          expect(executor.activeCount).toBe(0)
        },
        { timeout: 30_000 },
      )
    }
  })

  it('get as many threads as corePoolSize allows, also when it is raised while one runs', async () => {
    const executor = start()
    const obey = defineWorkerTask(fixture('wait.mjs'), { exportName: 'obey' })
    const running: ScheduledFuture<unknown>[] = []
    executor.events.on('taskProgress', ({ future }) => running.push(future))
    const next = (): Promise<unknown> => executor.events.next('taskProgress')
    const started = next()
    const first = executor.submit(obey)
    await started
    executor.reconfigure({ corePoolSize: 3 })
    const others: ScheduledFuture<unknown>[] = []
    for (let task = 0; task < 2; task++) {
      const other = next()
      others.push(executor.submit(obey))
      await other
    }
    expect(running).toEqual([first, ...others])
    expect(executor.activeCount).toBe(3)
    executor.reconfigure({ corePoolSize: 1 })
    executor.shutdownNow()
    expect(await executor.awaitTermination(30_000)).toBe(true)
    expect(workers()).toBe(0)
  })

  it('E13: leave no thread behind that has been idle for idleTimeoutMs', async () => {
    const executor = start({ threadPool: { idleTimeoutMs: 0 } })
    const { threadId } = await executor.submit(thread)
    await vi.waitFor(
      async () => {
        expect((await executor.submit(thread)).threadId).not.toBe(threadId)
      },
      { timeout: 30_000 },
    )
  })

  it('end with the executor, which waits for its threads', async () => {
    const executor = start()
    const future = executor.submit(thread)
    executor.shutdown()
    await future
    expect(await executor.awaitTermination(30_000)).toBe(true)
    expect(workers()).toBe(0)
  })

  it('run again once threads can start, after a warm start that failed', async () => {
    const { workerEntry, come } = lateWorkerEntry()
    const threadPool = { minThreads: 1, workerEntry }
    const executor = start({ corePoolSize: 2, threadPool, logger: false })
    for (let task = 0; task < 2; task++) {
      await expect(executor.submit(thread)).rejects.toMatchObject({ code: 'ERR_WORKER_FAILED' })
    }
    come()
    expect((await executor.submit(thread)).threadId).toBeGreaterThan(0)
    executor.shutdown()
    expect(await executor.awaitTermination(30_000)).toBe(true)
    expect(workers()).toBe(0)
  })

  it('are refused when there is no such module', () => {
    const refusal: unknown = expect.objectContaining({ code: 'ERR_WORKER_MODULE' })
    expect(() => defineWorkerTask(fixture('missing.mjs'))).toThrow(refusal)
    expect(() => defineWorkerTask('https://example.org/task.js')).toThrow(refusal)
    expect(() => defineWorkerTask('task.js')).toThrow(refusal)
    expect(() => defineWorkerTask('file://host/task.js')).toThrow(refusal)
    expect(() => defineWorkerTask('file:')).toThrow(refusal)
    for (const [options, field] of [
      [{ datas: {} }, 'datas'],
      [{ data: [5] }, 'data'],
      [{ exportName: '' }, 'exportName'],
    ] as const) {
      expect(() => defineWorkerTask(fixture('echo.mjs'), options as object)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION', field }),
      )
    }
  })

  it('report a module that breaks as their failure', async () => {
    const executor = start()
    const broken: WorkerTaskDefinition<unknown> = defineWorkerTask(fixture('broken.mjs'))
    expect(fileURLToPath(broken.moduleUrl)).toContain('broken.mjs')
    await expect(executor.submit(broken)).rejects.toMatchObject({ code: 'ERR_WORKER_MODULE' })
  })
})
