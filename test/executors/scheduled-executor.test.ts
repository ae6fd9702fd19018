import { describe, expect, it } from 'vitest'
import type { Logger } from '../../src/core/logger.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import type { ScheduledExecutorOptions } from '../../src/executors/scheduled-executor-options.ts'
import type { TaskContext } from '../../src/executors/task.ts'
import { defineWorkerJob } from '../../src/jobs/define-worker-job.ts'
import { Door, endOf, engines, executorOn, pause, TickingClock } from './executor-fixture.ts'

const cancelledError: unknown = expect.objectContaining({ code: 'ERR_TASK_CANCELLED' })
const hundredYearsMs = 100 * 365.25 * 86_400_000

describe.each(engines)('ScheduledExecutor on a %s', (_name, engine) => {
  const setUp = (options: ScheduledExecutorOptions = {}) => executorOn({ ...engine, ...options })

  it('E1: schedule runs a task once its delay has passed, and its future tells what came of it', async () => {
    const { clock, executor } = setUp()
    const value = executor.schedule(() => 42, 1000)
    const promised = executor.schedule(async () => 'later', 1000)
    const failing = executor.schedule(() => Promise.reject(new Error('planted')), 1000)
    const waiting = failing.get()
    expect([value.isDone, value.isPeriodic, value.getDelay()]).toEqual([false, false, 1000])
    await clock.advance(990)
    expect([value.isDone, value.getDelay()]).toEqual([false, 10])
    await Promise.all([expect(waiting).rejects.toThrow('planted'), clock.advance(10)])
    expect([value.isDone, value.isCancelled, value.getDelay()]).toEqual([true, false, 0])
    expect([await value, await promised.get()]).toEqual([42, 'later'])
    await expect(failing).rejects.toThrow('planted')
    expect(clock.timerCount).toBe(0)
  })

  it('E1: execute and submit run a task soon, in the order in which they came', async () => {
    const { clock, executor } = setUp()
    const ran: string[] = []
    executor.execute(() => ran.push('executed'))
    const submitted = executor.submit(() => ran.push('submitted'))
    executor.schedule(() => ran.push('negative'), -5)
    expect(ran).toEqual([])
    await clock.settle()
    expect(ran).toEqual(['executed', 'submitted', 'negative'])
    expect(await submitted).toBe(2)
  })

  it('E2, E3: starts what is due at one time in the order of scheduling, also a task that repeats', async () => {
    const { clock, executor } = setUp()
    const ran: string[] = []
    executor.scheduleAtFixedRate(() => ran.push('periodic'), 10, 10)
    for (const name of ['a', 'b']) executor.schedule(() => ran.push(name), 20)
    await clock.advance(20)
    expect(ran).toEqual(['periodic', 'periodic', 'a', 'b'])
  })

  it('E4, E5: fixed rate keeps the plan, fixed delay counts from the end, neither overlaps itself', async () => {
    const { clock, executor } = setUp({ corePoolSize: 5 })
    const starts = { rate: [] as number[], delay: [] as number[] }
    let now = 0
    let most = 0
    const slow = (kind: 'rate' | 'delay') => async (): Promise<void> => {
      starts[kind].push(clock.elapsedMs())
      if (kind === 'rate') most = Math.max(most, ++now)
      await pause(clock, starts[kind].length === 1 ? 250 : 10)
      if (kind === 'rate') now--
    }
    executor.scheduleAtFixedRate(slow('rate'), 100, 100)
    executor.scheduleWithFixedDelay(slow('delay'), 100, 100)
    await clock.advance(600)
    expect(starts.rate).toEqual([100, 350, 360, 400, 500, 600])
    expect(starts.delay).toEqual([100, 450, 560])
    expect(most).toBe(1)
  })

  it('E6: a periodic task that throws stops, its future rejects and an event tells', async () => {
    const { clock, executor } = setUp()
    const error = new Error('planted')
    const told = executor.events.next('taskFailed')
    let runs = 0
    const future = executor.scheduleAtFixedRate(
      () => {
        runs++
        throw error
      },
      10,
      10,
    )
    await clock.advance(100)
    expect(runs).toBe(1)
    expect(future.isDone).toBe(true)
    await expect(future).rejects.toBe(error)
    expect(await told).toEqual({ future, error, runsAgain: false })
    expect(executor.queueSize).toBe(0)
  })

  it("E6: a heartbeat that throws once is not lost with onError: 'continue'", async () => {
    const { clock, executor } = setUp({ onError: 'continue' })
    const failures: unknown[] = []
    executor.events.on('taskFailed', ({ error, runsAgain }) => failures.push([error, runsAgain]))
    const beats: number[] = []
    const heartbeat = executor.scheduleWithFixedDelay(
      async () => {
        beats.push(clock.elapsedMs())
        if (beats.length === 2) throw new Error('the database was away')
      },
      100,
      100,
    )
    await clock.advance(500)
    expect(beats).toEqual([100, 200, 300, 400, 500])
    expect(failures).toEqual([[new Error('the database was away'), true]])
    expect(heartbeat.isDone).toBe(false)
  })

  it('E7: the future of a periodic task ends by its cancellation', async () => {
    const { clock, executor } = setUp()
    const future = executor.scheduleAtFixedRate(() => undefined, 10, 10)
    const end = endOf(future)
    await clock.advance(50)
    expect(future.cancel()).toBe(true)
    expect([future.isDone, future.isCancelled, future.isPeriodic]).toEqual([true, true, true])
    expect(await end).toEqual(cancelledError)
    expect(future.cancel()).toBe(false)
    await expect(future.get()).rejects.toEqual(cancelledError)
  })

  it('E14: corePoolSize is the most that run at a time, and 0 counts as one', async () => {
    for (const [corePoolSize, most] of [
      [0, 1],
      [1, 1],
      [3, 3],
    ] as const) {
      const { clock, executor } = setUp({ corePoolSize })
      const door = new Door()
      for (let task = 0; task < 5; task++) executor.execute(() => door.opened)
      await clock.settle()
      expect([executor.activeCount, executor.queueSize]).toEqual([most, 5 - most])
      door.open()
      await clock.settle()
      expect([executor.activeCount, executor.queueSize]).toEqual([0, 0])
    }
  })

  it('tells of every task that had to wait for a slot, once', async () => {
    const { clock, executor } = setUp()
    const told: unknown[] = []
    executor.events.on('taskWaiting', ({ future, lateMs }) => told.push([names.get(future), lateMs]))
    const long = executor.schedule(() => pause(clock, 100), 10)
    const first = executor.schedule(() => undefined, 50)
    const second = executor.schedule(() => undefined, 80)
    const late = executor.schedule(() => undefined, 200)
    const names = new Map<unknown, string>([
      [long, 'long'],
      [first, 'first'],
      [second, 'second'],
      [late, 'late'],
    ])
    await clock.advance(60)
    expect(told).toEqual([['first', 0]])
    await clock.advance(240)
    expect(told).toEqual([
      ['first', 0],
      ['second', 30],
    ])
    expect(late.isDone).toBe(true)
  })

  it('cancels a task that waits: it never runs, and leaves the queue at its time', async () => {
    const { clock, executor } = setUp()
    const ran: string[] = []
    const future = executor.schedule(() => ran.push('cancelled'), 100)
    expect(future.cancel()).toBe(true)
    expect(executor.queueSize).toBe(1)
    await clock.advance(100)
    expect([ran, executor.queueSize]).toEqual([[], 0])
    await expect(future).rejects.toEqual(cancelledError)
  })

  it('takes a cancelled task out at once with removeOnCancel, and by purge without', async () => {
    const { clock, executor } = setUp({ removeOnCancel: true })
    executor.schedule(() => undefined, 100).cancel()
    expect([executor.queueSize, clock.timerCount]).toEqual([0, 0])
    executor.reconfigure({ removeOnCancel: false })
    const kept = executor.schedule(() => undefined, 100)
    executor.schedule(() => undefined, 100).cancel()
    expect(executor.queueSize).toBe(2)
    expect(executor.purge()).toBe(1)
    expect(executor.queueSize).toBe(1)
    kept.cancel()
  })

  it('cancels a running task without interrupting it, or with', async () => {
    const { clock, executor } = setUp({ corePoolSize: 2 })
    const contexts: TaskContext[] = []
    const door = new Door()
    const run = (context: TaskContext): Promise<void> => {
      contexts.push(context)
      return door.opened
    }
    const [gentle, hard] = [executor.submit(run), executor.submit(run)]
    await clock.settle()
    expect([gentle.cancel(), hard.cancel({ mayInterrupt: true })]).toEqual([true, true])
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, true])
    expect(contexts[1]?.signal.reason).toEqual(cancelledError)
    // A slot is taken until its task has really ended.
    expect(executor.activeCount).toBe(2)
    door.open()
    await clock.settle()
    expect(executor.activeCount).toBe(0)
    expect([await endOf(gentle), await endOf(hard)]).toEqual([cancelledError, cancelledError])
  })

  it('lets a periodic task end itself', async () => {
    const { clock, executor } = setUp()
    let runs = 0
    executor.scheduleAtFixedRate(
      ({ future }) => {
        if (++runs === 3) future.cancel()
      },
      10,
      10,
    )
    await clock.advance(100)
    expect([runs, executor.queueSize]).toEqual([3, 0])
  })

  it('E18: a periodic task whose run ends after the shutdown is not queued again', async () => {
    const { clock, executor } = setUp()
    const door = new Door()
    const future = executor.scheduleWithFixedDelay(() => door.opened, 10, 10)
    await clock.advance(10)
    executor.shutdown()
    expect([future.isDone, executor.isTerminated]).toEqual([false, false])
    door.open()
    await clock.settle()
    expect([future.isCancelled, executor.queueSize, executor.isTerminated]).toEqual([true, 0, true])
  })

  it('E19, E22: delays of a hundred years are kept, in order, and the wall clock changes nothing', async () => {
    const { clock, executor } = setUp()
    const ran: [string, number][] = []
    const record = (name: string) => (): void => void ran.push([name, clock.elapsedMs()])
    executor.schedule(record('a hundred years'), hundredYearsMs)
    executor.schedule(record('2^31 ms'), 2 ** 31 + 352)
    executor.schedule(record('before'), -1)
    executor.scheduleAtFixedRate(record('rate'), 3_600_000, hundredYearsMs)
    await clock.settle()
    clock.jump(3_600_000)
    await clock.advance(1_800_000)
    clock.jump(-7_200_000)
    await clock.advance(2 ** 31)
    expect(ran).toEqual([
      ['before', 0],
      ['rate', 3_600_000],
      ['2^31 ms', 2 ** 31 + 352],
    ])
    await clock.advance(hundredYearsMs - 2 ** 31 - 1_800_000)
    expect(ran.slice(3)).toEqual([['a hundred years', hundredYearsMs]])
  })

  it('invokeAll resolves when each task is done, invokeAny with the first success', async () => {
    const { clock, executor } = setUp({ corePoolSize: 3 })
    const aborted: string[] = []
    const after = (ms: number, name: string) => async (context: TaskContext) => {
      context.signal.addEventListener('abort', () => aborted.push(name))
      await pause(clock, ms)
      if (name.startsWith('bad')) throw new Error(name)
      return name
    }
    const all = executor.invokeAll([after(20, 'slow'), after(10, 'bad'), after(0, 'quick')])
    await clock.advance(20)
    const futures = await all
    expect(futures.map(({ isDone }) => isDone)).toEqual([true, true, true])
    expect(await Promise.all(futures.map(endOf))).toEqual(['slow', new Error('bad'), 'quick'])
    const any = executor.invokeAny([after(10, 'bad'), after(20, 'good'), after(1000, 'other')])
    await clock.advance(20)
    expect(await any).toBe('good')
    expect(aborted).toEqual(['other'])
  })

  it.each([
    ['end at once', (): unknown => null],
    ['are asynchronous', async (): Promise<unknown> => null],
  ])('gives the event loop a turn while many tasks are due that %s', async (_what, rest) => {
    const clock = new TickingClock()
    const executor = new ScheduledExecutor({ ...engine, clock })
    const done = Array.from({ length: 10 }, () =>
      executor.submit(() => {
        clock.ticks(2)
        return rest()
      }),
    )
    const turns: number[] = []
    while (done.some(({ isDone }) => !isDone)) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      turns.push(done.filter(({ isDone }) => isDone).length)
    }
    expect(turns.length).toBeGreaterThanOrEqual(4)
    expect(turns[0]).toBe(3)
  })

  it('gives the event loop a turn after each run of a task that takes longer than its period', async () => {
    const clock = new TickingClock()
    const executor = new ScheduledExecutor({ ...engine, clock })
    let runs = 0
    const future = executor.scheduleAtFixedRate(
      async () => {
        clock.ticks(12)
        if (++runs === 100) future.cancel()
      },
      0,
      10,
    )
    const turns: number[] = []
    while (turns.length < 6) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      turns.push(runs)
    }
    future.cancel()
    expect(Math.max(...turns.map((count, turn) => count - (turns[turn - 1] ?? 0)))).toBe(1)
  })
})

describe('ScheduledExecutor', () => {
  it('fails invokeAny when all tasks fail, with the errors in the cause, and without tasks', async () => {
    const { clock, executor } = executorOn({})
    const error = executor
      .invokeAny([() => Promise.reject(new Error('one')), () => Promise.reject(new Error('two'))])
      .catch((thrown: unknown) => thrown)
    await clock.settle()
    expect(await error).toMatchObject({
      code: 'ERR_NO_TASK_SUCCEEDED',
      cause: { errors: [new Error('one'), new Error('two')] },
    })
    await expect(executor.invokeAny([])).rejects.toMatchObject({ field: 'tasks' })
  })

  it('E21: refuses tasks after the shutdown, and tells', async () => {
    const { executor } = executorOn({})
    executor.shutdown()
    const rejected: unknown[] = []
    executor.events.on('taskRejected', (payload) => rejected.push(payload.task))
    const task = (): undefined => undefined
    const refusal: unknown = expect.objectContaining({
      name: 'RejectedExecutionError',
      code: 'ERR_REJECTED_EXECUTION',
    })
    expect(() => executor.schedule(task, 1)).toThrow(refusal)
    expect(() => executor.scheduleAtFixedRate(task, 1, 1)).toThrow(refusal)
    expect(() => {
      executor.execute(task)
    }).toThrow(refusal)
    await expect(executor.invokeAll([task])).rejects.toEqual(refusal)
    expect(rejected).toEqual([task, task, task, task])
  })

  it('logs a failure that nobody waits for or observes, and lets the process live', async () => {
    const logged: [unknown, string][] = []
    const logger: Logger = { ...silentLogger, error: (fields, message) => logged.push([fields, message]) }
    const { clock, executor } = executorOn({ logger })
    let thrown: unknown = null
    executor.execute(function sweep() {
      throw new Error('planted')
    })
    executor.execute(() => {
      thrown = Promise.reject(new Error('a promise as an error'))
      throw thrown
    })
    const cancelled = executor.schedule(async function nightly() {
      cancelled.cancel()
      throw new Error('after all')
    }, 0)
    await clock.settle()
    expect(logged).toEqual([
      [{ err: new Error('planted'), task: 'sweep', runsAgain: false }, 'A scheduled task failed'],
      [{ err: thrown, runsAgain: false }, 'A scheduled task failed'],
      [{ err: new Error('after all'), task: 'nightly', runsAgain: false }, 'A scheduled task failed'],
    ])
  })

  it('survives a task whose answer cannot even be looked at', async () => {
    const { clock, executor } = executorOn({})
    const spiteful = executor.submit(() =>
      Object.defineProperty({}, 'then', {
        get: () => {
          throw new Error('do not look')
        },
      }),
    )
    const next = executor.submit(() => 'next')
    await clock.settle()
    expect(await endOf(spiteful)).toEqual(new Error('do not look'))
    expect(await next).toBe('next')
  })

  it('runs what decorateTask makes of a task', async () => {
    const seen: boolean[] = []
    const { clock, executor } = executorOn({
      decorateTask: (task, future) => (context) => {
        seen.push(future === context.future, future.isPeriodic)
        return task(context)
      },
    })
    const future = executor.submit(() => 'decorated')
    await clock.settle()
    expect(await future).toBe('decorated')
    expect(seen).toEqual([true, false])
    const broken = executorOn({ decorateTask: () => 5 as never })
    expect(() => broken.executor.submit(() => 1)).toThrow(/'decorateTask' must return a function, got 5/)
    expect(broken.executor.queueSize).toBe(0)
  })

  it.each([{ kind: 'worker' }, defineWorkerJob('thumbs', import.meta.url)])(
    'refuses what only looks like a worker task',
    (task) => {
      const { executor } = executorOn({})
      expect(() => executor.submit(task as never)).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_ARGUMENT',
          field: 'task',
          message: expect.stringContaining('defineWorkerTask') as string,
        }),
      )
      expect(executor.queueSize).toBe(0)
    },
  )

  it('uses more slots as soon as there are more', async () => {
    const { clock, executor } = executorOn({})
    const door = new Door()
    for (let task = 0; task < 3; task++) executor.execute(() => door.opened)
    await clock.settle()
    expect(executor.activeCount).toBe(1)
    executor.reconfigure({ corePoolSize: 3 })
    // No task runs within the call.
    expect([executor.activeCount, executor.policies.corePoolSize]).toEqual([1, 3])
    await clock.settle()
    expect(executor.activeCount).toBe(3)
    door.open()
  })

  it.each<[object, string]>([
    [{ corePoolSize: -1 }, 'corePoolSize'],
    [{ corePoolSize: 1.5 }, 'corePoolSize'],
    [{ onError: 'ignore' }, 'onError'],
    [{ engine: 'list' }, 'engine'],
    [{ tickMs: 10 }, 'tickMs'],
    [{ engine: 'wheel', tickMs: 0 }, 'tickMs'],
    [{ ref: 1 }, 'ref'],
    [{ removeOnCancel: 'yes' }, 'removeOnCancel'],
    [{ decorateTask: {} }, 'decorateTask'],
    [{ interruptGraceMs: -1 }, 'interruptGraceMs'],
    [{ threadPool: 4 }, 'threadPool'],
    [{ threadPool: { size: 4 } }, 'threadPool.size'],
    [{ threadPool: { minThreads: 2 } }, 'threadPool.minThreads'],
    [{ threadPool: { maxThreads: 4 }, corePoolSize: 3 }, 'threadPool.maxThreads'],
    [{ threadPool: { concurrentTasksPerWorker: 4 }, corePoolSize: 3 }, 'threadPool.concurrentTasksPerWorker'],
    [{ threadPool: { minThreads: 2, maxThreads: 1 }, corePoolSize: 3 }, 'minThreads'],
    [{ threadPool: { maxThread: 4 } }, 'maxThread'],
    [{ corePoolsize: 4 }, 'corePoolsize'],
  ])('refuses the options %j', (options, field) => {
    expect(() => new ScheduledExecutor(options)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field }),
    )
  })

  it('refuses tasks, delays and periods that are none', () => {
    const { executor } = executorOn({})
    const task = (): undefined => undefined
    const refusal = (field: string): unknown =>
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field })
    expect(() => executor.schedule('task' as never, 1)).toThrow(refusal('task'))
    expect(() => executor.schedule(task, Number.NaN)).toThrow(refusal('delayMs'))
    expect(() => executor.schedule(task, '5' as never)).toThrow(refusal('delayMs'))
    expect(() => executor.scheduleAtFixedRate(task, Number.POSITIVE_INFINITY, 1)).toThrow(
      refusal('initialDelayMs'),
    )
    expect(() => executor.scheduleAtFixedRate(task, 0, 0)).toThrow(refusal('periodMs'))
    expect(() => executor.scheduleWithFixedDelay(task, 0, -1)).toThrow(refusal('delayMs'))
    expect(() => {
      executor.reconfigure({ engine: 'wheel' } as object)
    }).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'engine' }))
  })
})
