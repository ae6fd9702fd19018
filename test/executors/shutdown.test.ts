import { describe, expect, it } from 'vitest'
import { Executors } from '../../src/executors/executors.ts'
import type { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import { Door, endOf, engines, executorOn, pause } from './executor-fixture.ts'

const flags = [false, true]
const matrix = flags.flatMap((removeOnCancel) =>
  flags.flatMap((executeExistingDelayedTasksAfterShutdown) =>
    flags.map((continueExistingPeriodicTasksAfterShutdown) => ({
      removeOnCancel,
      executeExistingDelayedTasksAfterShutdown,
      continueExistingPeriodicTasksAfterShutdown,
    })),
  ),
)
const cancelledError: unknown = expect.objectContaining({ code: 'ERR_TASK_CANCELLED' })

describe.each(engines)('shutdown on a %s', (_name, engine) => {
  it.each(matrix)('E15, E16: keeps and cancels what the policies say: %j', async (policies) => {
    const { clock, executor } = executorOn({ ...engine, ...policies })
    const delayedRuns = policies.executeExistingDelayedTasksAfterShutdown
    const periodicRuns = policies.continueExistingPeriodicTasksAfterShutdown
    const ran: string[] = []
    const delayed = executor.schedule(() => ran.push('delayed'), 100)
    const periodic = executor.scheduleAtFixedRate(() => ran.push('periodic'), 60, 60)
    const withdrawn = executor.schedule(() => ran.push('withdrawn'), 100)
    withdrawn.cancel()
    expect(executor.queueSize).toBe(policies.removeOnCancel ? 2 : 3)

    executor.shutdown()
    expect(executor.queueSize).toBe(Number(delayedRuns) + Number(periodicRuns))
    expect([delayed.isCancelled, periodic.isCancelled]).toEqual([!delayedRuns, !periodicRuns])
    expect(executor.isTerminated).toBe(!delayedRuns && !periodicRuns)

    await clock.advance(120)
    const periodicRan = periodicRuns ? ['periodic', 'periodic'] : []
    expect(ran.toSorted()).toEqual([...(delayedRuns ? ['delayed'] : []), ...periodicRan])
    expect(executor.isTerminated).toBe(!periodicRuns)

    // A cancelled task does not hold up the end, whether removeOnCancel or not.
    periodic.cancel()
    expect(executor.isTerminated).toBe(true)
    expect(clock.timerCount).toBe(0)
  })

  it('E15: runs what is due and has no slot whatever the policy says, but no periodic task', async () => {
    // As ScheduledThreadPoolExecutor of JDK 17 does.
    const { clock, executor } = executorOn({
      ...engine,
      removeOnCancel: true,
      executeExistingDelayedTasksAfterShutdown: false,
    })
    const door = new Door()
    executor.execute(() => door.opened)
    await clock.settle()
    const ran: string[] = []
    const due = executor.schedule(() => ran.push('due'), 100)
    const periodic = executor.scheduleAtFixedRate(() => ran.push('periodic'), 100, 1000)
    const later = executor.schedule(() => ran.push('later'), 300)
    await clock.advance(200)
    const submitted = executor.submit(() => ran.push('submitted'))
    executor.shutdown()
    const futures = [due, submitted, periodic, later]
    expect(futures.map(({ isCancelled }) => isCancelled)).toEqual([false, false, true, true])
    expect([executor.queueSize, executor.isTerminated]).toEqual([2, false])
    door.open()
    await clock.advance(10)
    expect([ran, executor.isTerminated]).toEqual([['due', 'submitted'], true])
    expect(clock.timerCount).toBe(0)
  })

  it('E17: shutdownNow interrupts what runs and answers what never ran, in order', async () => {
    const { clock, executor } = executorOn(engine)
    const door = new Door()
    const signals: AbortSignal[] = []
    const running = executor.submit(({ signal }) => {
      signals.push(signal)
      return door.opened
    })
    await clock.settle()
    const later = executor.schedule(() => undefined, 200)
    const sooner = executor.schedule(() => undefined, 100)
    const queued = executor.submit(() => undefined)
    executor.schedule(() => undefined, 150).cancel()
    const periodic = executor.scheduleAtFixedRate(() => undefined, 300, 10)
    expect(executor.shutdownNow()).toEqual([queued, sooner, later, periodic])
    expect(await endOf(sooner)).toEqual(cancelledError)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect([executor.isShutdown, executor.isTerminated, running.isDone]).toEqual([true, false, false])
    door.open()
    await running
    expect(executor.isTerminated).toBe(true)
    expect(executor.shutdownNow()).toEqual([])
  })

  it.each([
    ['at once', (executor: ScheduledExecutor) => executor.shutdownNow()],
    [
      'after a shutdown',
      (executor: ScheduledExecutor) => {
        executor.shutdown()
        return executor.shutdownNow()
      },
    ],
  ])('E17: shutdownNow %s ends a periodic task that runs, whatever the policies say', async (_when, stop) => {
    for (const onError of ['stop', 'continue'] as const) {
      const { clock, executor } = executorOn({
        ...engine,
        onError,
        continueExistingPeriodicTasksAfterShutdown: true,
      })
      const door = new Door()
      let runs = 0
      const periodic = executor.scheduleAtFixedRate(
        () => {
          runs++
          return door.opened
        },
        0,
        10,
      )
      await clock.settle()
      expect(stop(executor)).toEqual([])
      expect([periodic.isDone, executor.isTerminated]).toEqual([false, false])
      door.open()
      await clock.advance(100)
      expect([runs, periodic.isCancelled, executor.isTerminated]).toEqual([1, true, true])
      expect(clock.timerCount).toBe(0)
    }
  })

  it('E17: shutdown lets what runs and waits go on to its end', async () => {
    const { clock, executor } = executorOn(engine)
    const running = executor.submit(({ signal }) => pause(clock, 50).then(() => signal.aborted))
    await clock.settle()
    const waiting = executor.schedule(() => 'ran', 100)
    executor.shutdown()
    const [early, inTime] = [executor.awaitTermination(50), executor.awaitTermination(200)]
    const forever = executor.awaitTermination()
    await clock.advance(100)
    expect([await running, await waiting]).toEqual([false, 'ran'])
    expect([await early, await inTime, await forever]).toEqual([false, true, true])
    expect(await executor.awaitTermination(0)).toBe(true)
    expect(clock.timerCount).toBe(0)
  })
})

describe('shutdown', () => {
  it('E15: withdraws what waits when the policy changes afterwards', () => {
    const { executor } = executorOn({})
    const future = executor.schedule(() => undefined, 100)
    executor.shutdown()
    expect(future.isDone).toBe(false)
    executor.reconfigure({ executeExistingDelayedTasksAfterShutdown: false })
    expect([future.isCancelled, executor.isTerminated]).toEqual([true, true])
  })

  it('a scope waits for what it scheduled', async () => {
    const { clock, executor } = executorOn({})
    const ran: string[] = []
    const scope = async (): Promise<void> => {
      await using scoped = executor
      scoped.schedule(() => ran.push('ran'), 100)
    }
    const left = scope()
    await clock.advance(100)
    await left
    expect([ran, executor.isTerminated]).toEqual([['ran'], true])
  })
})

describe('Executors', () => {
  it('E20: newSingleThreadScheduledExecutor runs one task at a time and cannot be reconfigured', async () => {
    const { clock } = executorOn({})
    const executor = Executors.newSingleThreadScheduledExecutor({ clock })
    // @ts-expect-error the type has no way to reconfigure
    expect(executor.reconfigure).toBeUndefined()
    expect(() => {
      Object.assign(executor, { reconfigure: () => undefined })
    }).toThrow(TypeError)
    expect(Object.keys(executor)).toEqual([])
    const door = new Door()
    const [first, second] = [executor.submit(() => door.opened), executor.submit(() => 'second')]
    const repeated = [
      executor.scheduleAtFixedRate(() => undefined, 10, 10),
      executor.scheduleWithFixedDelay(() => undefined, 10, 10),
    ]
    const [all, any] = [executor.invokeAll([() => 'all']), executor.invokeAny([() => 'any'])]
    executor.execute(() => undefined)
    await clock.settle()
    expect([executor.activeCount, executor.queueSize]).toEqual([1, 6])
    door.open()
    await first
    expect([await second, await (await all)[0], await any]).toEqual(['second', 'all', 'any'])
    expect(executor.unref().ref()).toBe(executor)
    await executor[Symbol.asyncDispose]()
    expect([executor.isShutdown, executor.isTerminated]).toEqual([true, true])
    expect(repeated.map(({ isCancelled }) => isCancelled)).toEqual([true, true])
    expect(executor.shutdownNow()).toEqual([])
    expect(() => executor.schedule(() => undefined, 1)).toThrow(
      expect.objectContaining({ code: 'ERR_REJECTED_EXECUTION' }),
    )
  })

  it('E20: runs one task at a time, and refuses another size among the options', async () => {
    const { clock } = executorOn({})
    const refused: unknown = expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'corePoolSize' })
    const options = { clock, corePoolSize: 5 } as object
    expect(() => Executors.newSingleThreadScheduledExecutor(options)).toThrow(refused)
    expect(() => Executors.newScheduledThreadPool(2, options)).toThrow(refused)
    // What is undefined counts as left out.
    const executor = Executors.newSingleThreadScheduledExecutor({ clock, corePoolSize: undefined } as object)
    const door = new Door()
    for (let task = 0; task < 3; task++) executor.execute(() => door.opened)
    await clock.settle()
    expect(executor.activeCount).toBe(1)
    door.open()
  })

  it('E14: newScheduledThreadPool runs n tasks at a time, and can be reconfigured', async () => {
    const { clock } = executorOn({})
    const executor = Executors.newScheduledThreadPool(2, { clock, corePoolSize: undefined } as object)
    const door = new Door()
    for (let task = 0; task < 4; task++) executor.execute(() => door.opened)
    await clock.settle()
    expect(executor.activeCount).toBe(2)
    executor.reconfigure({ corePoolSize: 4 })
    await clock.settle()
    expect(executor.activeCount).toBe(4)
    door.open()
  })
})
