import { stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  createScheduler,
  defineJob,
  JobExecutionError,
  SimpleScheduleBuilder,
  TriggerBuilder,
  triggerKey,
} from '../../src/index.ts'
import { detailOf, firing, jobOf, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

const otherTrigger = triggerKey('other')

function other(startMs: number) {
  return TriggerBuilder.newTrigger()
    .withIdentity(otherTrigger)
    .startAt(new Date(startMs + 60_000))
    .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever())
    .build()
}

describe('a job steers its triggers by what it throws', () => {
  const cases = [
    { flag: 'unscheduleFiringTrigger', firingState: 'COMPLETE', otherState: 'NORMAL' },
    { flag: 'unscheduleAllTriggers', firingState: 'COMPLETE', otherState: 'COMPLETE' },
  ] as const

  it.each(cases)(
    '$flag completes what it names and keeps the job',
    async ({ flag, firingState, otherState }) => {
      let runs = 0
      const job = jobOf(
        () => {
          runs++
          throw new JobExecutionError('enough', { [flag]: true })
        },
        { disallowConcurrentExecution: true },
      )
      const { clock, scheduler, errors, startMs } = await shellRig([job])
      await scheduler.scheduleJob(detailOf(job), [firing(startMs, 10), other(startMs)])
      await clock.advance(30_000)
      expect(runs).toBe(1)
      expect(await scheduler.getTriggerState(theTrigger)).toBe(firingState)
      expect(await scheduler.getTriggerState(otherTrigger)).toBe(otherState)
      expect(await scheduler.checkExists(theJob)).toBe(true)
      expect(errors).toEqual([])
      await clock.advance(60_000)
      expect(runs).toBe(flag === 'unscheduleFiringTrigger' ? 2 : 1)
      await scheduler.shutdown()
    },
  )

  it('and a one-shot job that unschedules its trigger stays stored', async () => {
    const job = jobOf(() => {
      throw new JobExecutionError('enough', { unscheduleFiringTrigger: true })
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(10)
    expect(await scheduler.getTriggerState(theTrigger)).toBe('COMPLETE')
    expect(await scheduler.checkExists(theJob)).toBe(true)
    await scheduler.shutdown()
  })

  it('and a refire counts before the other flags', async () => {
    let runs = 0
    const job = jobOf(() => {
      runs++
      if (runs === 1) {
        throw new JobExecutionError('again', { refireImmediately: true, unscheduleAllTriggers: true })
      }
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 3))
    await clock.advance(10)
    expect(runs).toBe(2)
    expect(await scheduler.getTriggerState(theTrigger)).toBe('NORMAL')
    await scheduler.shutdown()
  })

  it('and an interrupted job still steers', async () => {
    const job = jobOf(async ({ signal }) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve()
        })
      })
      throw new JobExecutionError('stop', { unscheduleFiringTrigger: true })
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 3))
    await clock.advance(10)
    await scheduler.interrupt(theJob)
    await clock.settle()
    expect(await scheduler.getTriggerState(theTrigger)).toBe('COMPLETE')
    await scheduler.shutdown({ waitForJobsToComplete: true })
  })
})

describe('a time limit', () => {
  it('interrupts the job and makes a failure of it', async () => {
    let reason: unknown
    const job = jobOf(
      async ({ signal }) => {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            resolve()
          })
        })
        signal.throwIfAborted()
      },
      { timeoutMs: 500 },
    )
    const { clock, scheduler, startMs } = await shellRig([job])
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 2))
    await clock.advance(499)
    expect(scheduler.getCurrentlyExecutingJobs()).toHaveLength(1)
    await clock.advance(1)
    const { context, error } = await ended
    expect(reason).toMatchObject({ code: 'ERR_JOB_TIMEOUT' })
    expect(error).toMatchObject({ name: 'JobExecutionError', code: 'ERR_JOB_TIMEOUT', cause: reason })
    expect(error?.message).toBe('Job DEFAULT.job ran longer than its timeoutMs of 500 and was interrupted.')
    expect(context.jobRunTimeMs).toBe(500)
    expect(await scheduler.getTriggerState(theTrigger)).toBe('NORMAL')
    await scheduler.shutdown()
    expect(clock.timerCount).toBe(0)
  })

  it('makes a failure also of a job that then returns as if nothing had happened', async () => {
    let finish: () => void = () => {}
    const job = jobOf(() => new Promise<void>((resolve) => (finish = resolve)), { timeoutMs: 500 })
    const { clock, scheduler, startMs } = await shellRig([job])
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(700)
    expect(scheduler.getCurrentlyExecutingJobs()).toHaveLength(1)
    finish()
    expect((await ended).error).toMatchObject({ code: 'ERR_JOB_TIMEOUT' })
    await scheduler.shutdown({ waitForJobsToComplete: true })
    expect(clock.timerCount).toBe(0)
  })

  it('does not end a job whose answer came while another job blocked the event loop', async () => {
    const reading = defineJob('reading', () => stat('.'), { timeoutMs: 100 })
    const blocking = defineJob('blocking', () => {
      const endMs = performance.now() + 300
      while (performance.now() < endMs);
    })
    await using scheduler = await createScheduler({ jobs: [reading, blocking], logger: false })
    const ended = scheduler.events.next(
      'jobWasExecuted',
      ({ context }) => context.jobDetail.jobType === 'reading',
    )
    for (const [job, priority] of [
      [reading, 2],
      [blocking, 1],
    ] as const) {
      await scheduler.schedule(job, { at: new Date(0), priority })
    }
    await scheduler.start()
    expect((await ended).error).toBeNull()
  })

  it('is no matter for a job that ends in time, and leaves no timer behind', async () => {
    const job = jobOf(() => {}, { timeoutMs: 500 })
    const { clock, scheduler, startMs } = await shellRig([job])
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(1)
    expect((await ended).error).toBeNull()
    await scheduler.standby()
    await scheduler.shutdown()
    expect(clock.timerCount).toBe(0)
  })

  it('of the job detail goes before that of the definition', async () => {
    let finish: () => void = () => {}
    const job = jobOf(() => new Promise<void>((resolve) => (finish = resolve)), { timeoutMs: 500 })
    const { clock, scheduler, startMs } = await shellRig([job])
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(
      detailOf(job, (builder) => builder.withTimeout(5000)),
      firing(startMs),
    )
    await clock.advance(4000)
    finish()
    expect((await ended).error).toBeNull()
    await scheduler.shutdown({ waitForJobsToComplete: true })
  })
})

describe('an interrupt', () => {
  /** Two executions of one job at once, which end when they are interrupted. */
  async function twoRunning() {
    const job = jobOf(
      ({ signal }) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
        }),
    )
    const rig = await shellRig([job])
    const { clock, scheduler, startMs } = rig
    const ended: string[] = []
    const interrupted: unknown[] = []
    scheduler.events.on('jobWasExecuted', ({ context, error }) => {
      ended.push(`${context.triggerKey.name} ${error?.code ?? 'well'}`)
    })
    scheduler.events.on('jobInterrupted', (event) => {
      interrupted.push(event)
    })
    const second = firing(startMs).getTriggerBuilder().withIdentity(otherTrigger).build()
    await scheduler.scheduleJob(detailOf(job), [firing(startMs), second])
    await clock.advance(1)
    expect(scheduler.getCurrentlyExecutingJobs()).toHaveLength(2)
    return { ...rig, ended, interrupted }
  }

  it('by job key reaches every execution of the job', async () => {
    const { clock, scheduler, ended, interrupted } = await twoRunning()
    const contexts = scheduler.getCurrentlyExecutingJobs()
    expect(await scheduler.interrupt(theJob)).toBe(true)
    await clock.settle()
    expect(ended.toSorted()).toEqual(['other ERR_JOB_INTERRUPTED', 'trigger ERR_JOB_INTERRUPTED'])
    expect(interrupted).toEqual(
      contexts.map(({ fireInstanceId }) => ({ jobKey: theJob, fireInstanceId, reason: 'interrupt' })),
    )
    for (const { signal } of contexts) {
      expect(signal.reason).toMatchObject({ name: 'JobExecutionError', code: 'ERR_JOB_INTERRUPTED' })
    }
    await scheduler.shutdown()
  })

  it('by fire instance reaches that execution alone, and tells once', async () => {
    const { clock, scheduler, ended, interrupted } = await twoRunning()
    const context = scheduler.getCurrentlyExecutingJobs().find((each) => each.triggerKey.equals(otherTrigger))
    const fireInstanceId = context?.fireInstanceId ?? ''
    const twice = [scheduler.interrupt({ fireInstanceId }), scheduler.interrupt({ fireInstanceId })]
    expect(await Promise.all(twice)).toEqual([true, true])
    await clock.settle()
    expect(ended).toEqual(['other ERR_JOB_INTERRUPTED'])
    expect(interrupted).toHaveLength(1)
    expect(await scheduler.interrupt({ fireInstanceId })).toBe(false)
    await scheduler.interrupt(theJob)
    await scheduler.shutdown({ waitForJobsToComplete: true })
  })

  it('of what does not run answers false', async () => {
    const { clock, scheduler } = await shellRig([jobOf(() => {})])
    expect(await scheduler.interrupt(theJob)).toBe(false)
    expect(await scheduler.interrupt({ fireInstanceId: 'nobody' })).toBe(false)
    await clock.settle()
    await scheduler.shutdown()
  })

  it('that a job outlives is no failure', async () => {
    let finish: () => void = () => {}
    const job = jobOf(() => new Promise<void>((resolve) => (finish = resolve)))
    const { clock, scheduler, startMs } = await shellRig([job])
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(1)
    await scheduler.interrupt(theJob)
    finish()
    expect((await ended).error).toBeNull()
    await scheduler.shutdown()
  })

  it('by a timeout tells observers, and a job that then asks to be refired does not begin again', async () => {
    let runs = 0
    const job = jobOf(
      async ({ signal }) => {
        runs++
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve)
        })
        throw new JobExecutionError('again', { refireImmediately: true })
      },
      { timeoutMs: 500 },
    )
    const { clock, scheduler, startMs } = await shellRig([job])
    const interrupted = scheduler.events.next('jobInterrupted')
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(1000)
    expect(await interrupted).toMatchObject({ jobKey: theJob, reason: 'timeout' })
    expect(runs).toBe(1)
    expect(await scheduler.checkExists(theJob)).toBe(false)
    await scheduler.shutdown()
  })

  it.each([
    { option: 'interruptJobsOnShutdown', waitForJobsToComplete: false },
    { option: 'interruptJobsOnShutdownWithWait', waitForJobsToComplete: true },
  ])('comes with a shutdown when $option is set', async ({ option, waitForJobsToComplete }) => {
    const job = jobOf(
      ({ signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            resolve()
          })
        }),
    )
    const { clock, scheduler, startMs } = await shellRig([job], { [option]: true })
    const interrupted = scheduler.events.next('jobInterrupted')
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(1)
    await scheduler.shutdown({ waitForJobsToComplete })
    expect(await interrupted).toMatchObject({ jobKey: theJob, reason: 'shutdown' })
    expect(clock.timerCount).toBe(0)
  })
})
