import { describe, expect, onTestFinished, test } from 'vitest'
import { enableScheduling } from '../../src/annotations/enable-scheduling.ts'
import { scheduled } from '../../src/annotations/scheduled.ts'
import type { ScheduledOptions } from '../../src/annotations/scheduled-options.ts'
import type { TriggerSummary } from '../../src/jobstore/queries.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'
import { type Application, Recorder, restart, startApplication } from '../support/scheduled-application.ts'

describe('the jobs of methods whose schedules have changed', () => {
  /** What the only trigger of the methods is like. */
  const onlyTrigger = async ({ scheduler }: Application): Promise<TriggerSummary> => {
    const { items } = await scheduler.queryTriggers()
    expect(items).toHaveLength(1)
    return items[0] ?? expect.fail('no trigger')
  }

  test.each<[string, ScheduledOptions, ScheduledOptions]>([
    ['cron', { cron: '*/4 * * * * *' }, { cron: '*/5 * * * * *' }],
    ['a rate', { fixedRate: '4s' }, { fixedRate: '5s' }],
    ['a delay', { fixedDelay: '4s' }, { fixedDelay: '5s' }],
    ['another kind', { cron: '*/4 * * * * *' }, { fixedRate: '5s' }],
  ])('that were paused stay paused when %s has changed', async (_kind, before, after) => {
    const { clock, recorder, store } = restart()
    const first = await startApplication(clock, store(), [recorder.task('task', before)])
    await clock.advance(100)
    const { jobKey } = await onlyTrigger(first)
    await first.scheduler.pauseJob(jobKey, { reason: 'the printer is broken', by: 'ann' })
    await first.stop()
    recorder.runs.length = 0
    const second = await startApplication(clock, store(), [recorder.task('task', after)])
    await clock.advance(8000)
    expect(await onlyTrigger(second)).toMatchObject({
      state: 'PAUSED',
      pause: { reason: 'the printer is broken', by: 'ann' },
    })
    expect(recorder.runs).toEqual([])
    const [task] = second.scheduling.tasks()
    await second.scheduler.resumeTrigger(task?.triggerKey ?? expect.fail('no task'), { withoutMissed: true })
    await clock.advance(8000)
    expect(recorder.runs.length).toBeGreaterThan(0)
  })

  test('run what was due while nothing ran as the policy of the changed schedule says', async () => {
    const { clock, recorder, store } = restart()
    const minute = 60_000
    const tasks = (cron: string): object[] => [
      recorder.task('once', { cron, zone: 'UTC' }),
      recorder.task('skips', { cron, zone: 'UTC', misfireInstruction: 'doNothing' }),
      recorder.task('makes up', { cron, zone: 'UTC', misfireInstruction: 'ignore' }),
    ]
    const first = await startApplication(clock, store(), tasks('0 10 * * * *'))
    const [due] = await Promise.all(first.scheduling.tasks().map((task) => task.nextExecution()))
    await first.stop()
    clock.jump(15 * minute)
    const startedMs = 15 * minute
    const second = await startApplication(clock, store(), tasks('0 5 * * * *'))
    await clock.advance(100)
    expect(recorder.runs.toSorted()).toEqual([`makes up ${startedMs}`, `once ${startedMs}`])
    const next = await Promise.all(second.scheduling.tasks().map((task) => task.nextExecution()))
    expect(next.map((time) => (time?.getTime() ?? 0) - (due?.getTime() ?? 0))).toEqual(
      Array.from({ length: 3 }, () => 55 * minute),
    )
  })

  test('count a changed interval from the last run, however often it changes', async () => {
    const { clock, recorder, store } = restart()
    for (const [rate, waitMs] of [
      ['10s', 14_000],
      ['20s', 4000],
      ['30s', 4000],
      ['15s', 4000],
    ] as const) {
      const application = await startApplication(clock, store(), [
        recorder.task('rate', { fixedRate: rate }),
        recorder.task('delay', { fixedDelay: rate }),
      ])
      await clock.advance(waitMs)
      await application.stop()
    }
    expect(recorder.runs.toSorted()).toEqual(
      ['delay 0', 'delay 10000', 'delay 25000', 'rate 0', 'rate 10000', 'rate 25000'].toSorted(),
    )
  })

  test('move a fixed delay that changed during a run by the new one', async () => {
    const { clock, recorder, store } = restart()
    const shared = store()
    const { scheduler } = await startApplication(clock, shared, [
      recorder.task('delay', { fixedDelay: '10s' }, 1000),
    ])
    await clock.advance(500)
    const [trigger] = (await scheduler.queryTriggers()).items
    const key = trigger?.key ?? expect.fail('no trigger')
    const slower = SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(20_000).repeatForever()
    const changed = TriggerBuilder.newTrigger({ clock })
      .withIdentity(key)
      .withSchedule(slower)
      .usingJobData({ fixedDelayMs: '20000' })
    await scheduler.rescheduleJob(key, changed.build(), { goesOnFrom: 'lastFire' })
    await clock.advance(30_000)
    expect(recorder.runs).toEqual(['delay 0', 'delay 21000'])
  })

  test('know a schedule that comes back beside the one that took its place', async () => {
    const { clock, recorder, store } = restart()
    const crons = ['0 0 7 * * *', '0 0 8 * * *', '0 0 9 * * *'] as const
    const methodAt = (...hours: readonly string[]): object => {
      const run = hours.reduceRight<() => void>(
        (next, cron) => scheduled({ name: 'task', cron, zone: 'UTC' }, next),
        () => {
          recorder.note('task')
        },
      )
      return { run }
    }
    const startWith = async (...hours: readonly string[]): Promise<(Date | null)[]> => {
      const application = await startApplication(clock, store(), [methodAt(...hours)])
      const next = await Promise.all(application.scheduling.tasks().map((task) => task.nextExecution()))
      await application.stop()
      return next
    }
    const [seven, eight, nine] = crons
    await startWith(seven)
    await startWith(eight)
    const both = await startWith(seven, eight)
    expect(both.map((time) => time?.getUTCHours())).toEqual([7, 8])
    expect(await startWith(seven, eight)).toEqual(both)
    expect((await startWith(seven, eight, nine)).map((time) => time?.getUTCHours())).toEqual([7, 8, 9])
    expect((await startWith(nine)).map((time) => time?.getUTCHours())).toEqual([9])
  })
})

test('methods that the store failed to take are taken by another call, which brings its own objects', async () => {
  const clock = new ManualClock()
  const recorder = new Recorder(clock)
  const jobStore = new FaultyJobStore(ramJobStore())
  const scheduler = await createScheduler({ logger: false, clock, jobStore })
  onTestFinished(() => scheduler.shutdown())
  const enable = (call: string) => {
    const methods = {
      first: scheduled({ name: 'first', fixedRate: 1000 }, () => {
        recorder.note(`first ${call}`)
      }),
      second: scheduled({ name: 'second', fixedRate: 1000, initialDelay: 500 }, () => {
        recorder.note(`second ${call}`)
      }),
    }
    return enableScheduling({ cluster: scheduler, instances: [methods] })
  }
  // In the first call the first job is stored, and the second is not.
  jobStore.failOn({ operation: 'addJob', nth: 2, times: 2 })
  await expect(enable('of call 1')).rejects.toMatchObject({ code: 'ERR_JOB_PERSISTENCE' })
  await expect(enable('of call 2')).rejects.toMatchObject({ code: 'ERR_JOB_PERSISTENCE' })
  await enable('of call 3')
  await expect(enable('of call 4')).rejects.toThrow(/'annotations.first' is registered already/)
  await scheduler.start()
  await clock.advance(1500)
  expect(recorder.runs).toEqual([
    'first of call 3 0',
    'second of call 3 500',
    'first of call 3 1000',
    'second of call 3 1500',
  ])
})
