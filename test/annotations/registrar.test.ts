import { describe, expect, test } from 'vitest'
import { CronTaskTrigger } from '../../src/annotations/cron-task-trigger.ts'
import { ScheduledTaskRegistrar } from '../../src/annotations/scheduled-task-registrar.ts'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { ScheduledExecutor } from '../../src/executors/scheduled-executor.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

describe('S5: ScheduledTaskRegistrar', () => {
  test('keeps tasks of every kind until there is a scheduler', async () => {
    const clock = new ManualClock()
    const startMs = clock.now()
    const runs: string[] = []
    const note = (name: string) => () => runs.push(`${name} ${clock.now() - startMs}`)
    const registrar = new ScheduledTaskRegistrar()
    registrar.addTriggerTask(note('trigger'), new CronTaskTrigger('*/2 * * * * *'))
    registrar.addCronTask(note('cron'), '*/3 * * * * *', { zone: 'UTC' })
    registrar.addFixedRateTask(note('rate'), '2s', { initialDelay: 500 })
    registrar.addFixedDelayTask(note('delay'), '1s')
    registrar.addOneTimeTask(note('once'), '1500ms')
    expect(registrar.getScheduledTasks().map(({ kind }) => kind)).toEqual([
      'trigger',
      'cron',
      'fixedRate',
      'fixedDelay',
      'oneTime',
    ])
    expect(registrar.getScheduledTasks('cron')).toHaveLength(1)
    registrar.schedule()
    await clock.advance(1000)
    expect(runs).toEqual([])
    expect(registrar.scheduler).toBeNull()
    expect(registrar.getScheduledTasks().some(({ isScheduled }) => isScheduled)).toBe(false)
    const scheduler = new ThreadPoolTaskScheduler({ clock })
    registrar.setTaskScheduler(scheduler)
    await clock.advance(2000)
    expect(runs).toEqual([
      'delay 1000',
      'rate 1500',
      'trigger 2000',
      'delay 2000',
      'once 2500',
      'cron 3000',
      'delay 3000',
    ])
    registrar.addOneTimeTask(note('late'), 0)
    await clock.settle()
    expect(runs.at(-1)).toBe('late 3000')
    registrar.destroy()
    await clock.advance(5000)
    expect(runs.at(-1)).toBe('late 3000')
    await scheduler.close()
  })

  test('schedules no task twice', async () => {
    const clock = new ManualClock()
    await using scheduler = new ThreadPoolTaskScheduler({ clock })
    const registrar = new ScheduledTaskRegistrar()
    let runs = 0
    registrar.addOneTimeTask(() => {
      runs += 1
    }, 0)
    registrar.setTaskScheduler(scheduler)
    registrar.schedule()
    registrar.schedule()
    registrar.setTaskScheduler(scheduler)
    await clock.advance(100)
    expect(runs).toBe(1)
  })

  test('forgets tasks that have run or were cancelled, and takes no task after its end', async () => {
    const clock = new ManualClock()
    await using scheduler = new ThreadPoolTaskScheduler({ clock })
    const registrar = new ScheduledTaskRegistrar()
    registrar.setTaskScheduler(scheduler)
    registrar.schedule()
    const rate = registrar.addFixedRateTask(() => {}, '1h')
    const later = registrar.addOneTimeTask(() => {}, '2h')
    for (let count = 0; count < 100; count++) registrar.addOneTimeTask(() => {}, 0)
    for (const early of [
      registrar.addCronTask(() => {}, '@hourly'),
      registrar.addFixedDelayTask(() => {}, '1h'),
    ])
      early.cancel()
    await clock.advance(100)
    expect(registrar.getScheduledTasks()).toEqual([rate, later])
    registrar.destroy()
    let runs = 0
    expect(() => registrar.addFixedRateTask(() => runs++, 100)).toThrow(
      expect.objectContaining({ code: 'ERR_TASK_REJECTED' }),
    )
    await clock.advance(1000)
    expect(runs).toBe(0)
  })

  test('refuses an executor, and says how to wrap it', async () => {
    await using executor = new ScheduledExecutor()
    expect(() => {
      new ScheduledTaskRegistrar().setTaskScheduler(executor as never)
    }).toThrow(/'scheduler' must be a TaskScheduler, got a ScheduledExecutor\. .*ConcurrentTaskScheduler/)
  })

  test('refuses a task that cannot be scheduled before there is a scheduler', () => {
    const registrar = new ScheduledTaskRegistrar()
    const task = (): void => {}
    expect(() => registrar.addFixedRateTask(task, 0)).toThrow(/'period' must be a duration, at least 1 ms/)
    expect(() => registrar.addFixedDelayTask(task, '1x')).toThrow(/'delay'/)
    expect(() => registrar.addOneTimeTask(task, -1)).toThrow(/'initialDelay'/)
    expect(() => registrar.addCronTask(task, '* * *')).toThrow(/needed are 6/)
    expect(registrar.getScheduledTasks()).toEqual([])
  })
})

describe('S14: ScheduledTask', () => {
  test('tells when it runs next, and cancels', async () => {
    const clock = new ManualClock()
    await using scheduler = new ThreadPoolTaskScheduler({ clock })
    const registrar = new ScheduledTaskRegistrar()
    function report(): void {}
    const rate = registrar.addFixedRateTask(report, '2s', { initialDelay: '1s' })
    const cron = registrar.addCronTask(report, '@hourly', { zone: 'UTC' })
    const never = registrar.addTriggerTask(report, { nextExecution: () => null })
    const early = registrar.addOneTimeTask(report, '1s')
    expect([rate.name, rate.isScheduled, rate.isDone, rate.nextExecution()]).toEqual([
      'report',
      false,
      false,
      null,
    ])
    expect(early.cancel()).toBe(true)
    registrar.setTaskScheduler(scheduler)
    registrar.schedule()
    expect(rate.nextExecution()).toEqual(new Date(clock.now() + 1000))
    expect(cron.nextExecution()).toEqual(new Date(clock.now() + 3_600_000))
    expect([never.isScheduled, never.isDone, never.nextExecution()]).toEqual([true, true, null])
    expect([early.isScheduled, early.isCancelled, early.isDone, early.cancel()]).toEqual([
      false,
      true,
      true,
      false,
    ])
    await clock.advance(1500)
    expect(rate.nextExecution()).toEqual(new Date(clock.now() + 1500))
    expect([rate.cancel(), rate.cancel(), rate.isCancelled, rate.nextExecution()]).toEqual([
      true,
      false,
      true,
      null,
    ])
    expect(cron.isCancelled).toBe(false)
  })
})
