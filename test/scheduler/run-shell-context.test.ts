import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type JobExecutionContext,
  JobExecutionError,
  recoveringJobsGroup,
  TriggerBuilder,
  triggerKey,
} from '../../src/index.ts'
import { detailOf, firing, jobOf, type ShellRig, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

const iso = (date: Date | null | undefined): string | null => date?.toISOString().slice(17, 23) ?? null

async function dataOf({ scheduler }: ShellRig): Promise<unknown> {
  return (await scheduler.getJobDetail(theJob))?.jobDataMap
}

describe('the context of an execution', () => {
  it('says when it was planned, when it runs, and what lies before and after', async () => {
    const seen: unknown[] = []
    const job = jobOf((context) => {
      const { fireTime, scheduledFireTime, previousFireTime, nextFireTime, trigger } = context
      seen.push([fireTime, scheduledFireTime, previousFireTime, nextFireTime, trigger.nextFireTime].map(iso))
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs + 2000, 3))
    await clock.advance(10_000)
    expect(seen).toEqual([
      ['02.000', '02.000', null, '03.000', '03.000'],
      ['03.000', '03.000', '02.000', '04.000', '04.000'],
      ['04.000', '04.000', '03.000', null, null],
    ])
    await scheduler.shutdown()
  })

  it('keeps the planned time of a firing that a misfire policy moved', async () => {
    const seen: unknown[] = []
    const job = jobOf(({ fireTime, scheduledFireTime }) => {
      seen.push(fireTime.getTime(), scheduledFireTime.getTime())
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    await scheduler.standby()
    await scheduler.scheduleJob(detailOf(job), firing(startMs + 1000))
    await clock.advance(500_000)
    await scheduler.start()
    await clock.advance(10)
    expect(seen).toEqual([startMs + 500_000, startMs + 1000])
    await scheduler.shutdown()
  })

  it('names the job, the trigger and the firing, and says that nothing is recovered or repeated', async () => {
    const contexts: JobExecutionContext[] = []
    const job = jobOf((context) => {
      contexts.push(context)
      expect(context.jobRunTimeMs).toBe(-1)
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 2))
    await clock.advance(5000)
    const [first, second] = contexts
    expect(first).toMatchObject({
      jobKey: theJob,
      triggerKey: theTrigger,
      originalTriggerKey: theTrigger,
      recovering: false,
      recoveringTriggerKey: null,
      refireCount: 0,
      attempt: 1,
      calendar: null,
      jobInstance: null,
      jobRunTimeMs: 0,
    })
    expect(first?.fireInstanceId).not.toBe(second?.fireInstanceId)
    expect(first?.jobDetail.key).toBe(theJob)
    await scheduler.shutdown()
  })

  it('says what is recovered when it runs under a recovery trigger', async () => {
    const seen: unknown[] = []
    const job = jobOf(({ recovering, recoveringTriggerKey, originalTriggerKey, mergedJobDataMap }) => {
      seen.push([
        recovering,
        recoveringTriggerKey?.toString(),
        originalTriggerKey.toString(),
        mergedJobDataMap,
      ])
    })
    const { clock, scheduler, store, startMs } = await shellRig([job])
    const detail = detailOf(job)
    const recovery = TriggerBuilder.newTrigger()
      .withIdentity('recover_1', recoveringJobsGroup)
      .forJob(detail)
      .startAt(new Date(startMs))
      .usingJobData({
        kept: true,
        QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME: 'night',
        QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP: 'reports',
      })
      .build()
      .computeFirstFireTime(null)
    await store.scheduleJobs([{ job: detail, triggers: [recovery] }], { replace: false })
    await scheduler.pauseTrigger(triggerKey('wake the loop'))
    await clock.advance(10)
    expect(seen).toEqual([[true, 'reports.night', 'reports.night', { kept: true }]])
    await scheduler.shutdown()
  })

  it('counts on when it recovers a retry, and names the trigger that planned the first attempt', async () => {
    const seen: unknown[] = []
    const job = jobOf((context) => {
      seen.push([context.attempt, context.recovering, context.originalTriggerKey.toString()])
      seen.push([context.scheduledFireTime.getTime(), context.recoveringTriggerKey?.toString()])
    })
    const { clock, scheduler, store, startMs } = await shellRig([job])
    const detail = detailOf(job)
    const recovery = TriggerBuilder.newTrigger()
      .withIdentity('recover_2', recoveringJobsGroup)
      .forJob(detail)
      .startAt(new Date(startMs))
      .usingJobData({
        QRTZ_RETRY_ATTEMPT: '2',
        QRTZ_RETRY_ORIG_TRIGGER_NAME: 'night',
        QRTZ_RETRY_ORIG_TRIGGER_GROUP: 'reports',
        QRTZ_RETRY_ORIG_SCHEDULED_FIRETIME_IN_MILLISECONDS: '86400000',
        QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME: 'RT_1_2',
        QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP: 'RETRYING_JOBS',
      })
      .build()
      .computeFirstFireTime(null)
    await store.scheduleJobs([{ job: detail, triggers: [recovery] }], { replace: false })
    await scheduler.pauseTrigger(triggerKey('wake the loop'))
    await clock.advance(10)
    expect(seen).toEqual([
      [2, true, 'reports.night'],
      [86_400_000, 'RETRYING_JOBS.RT_1_2'],
    ])
    await scheduler.shutdown()
  })

  it('carries notes, the result and the run time to the listeners', async () => {
    let finish: () => void = () => {}
    const job = jobOf(async (context) => {
      context.put('own', 1)
      await new Promise<void>((resolve) => (finish = resolve))
      return { rows: context.get('from listener') }
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    const seen: unknown[] = []
    scheduler.listenerManager.addJobListener({
      name: 'notes',
      jobToBeExecuted: (context) => {
        context.put('from listener', 17)
      },
      jobWasExecuted: (context) => {
        seen.push(context.get('own'), context.get('unset'), context.result, context.jobRunTimeMs)
      },
    })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(250)
    finish()
    await clock.settle()
    expect(seen).toEqual([1, undefined, { rows: 17 }, 250])
    await scheduler.shutdown()
  })

  it('is among the executions while its job runs, and counts once for each run', async () => {
    const seen: string[] = []
    const job = jobOf((context) => {
      note('run')
      if (context.refireCount === 0) throw new JobExecutionError('again', { refireImmediately: true })
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    const note = (where: string): void => {
      const { numberOfJobsExecuted } = scheduler.getMetaData()
      seen.push(`${where} ${scheduler.getCurrentlyExecutingJobs().length} ${numberOfJobsExecuted}`)
    }
    const { listenerManager } = scheduler
    listenerManager.addJobListener({
      name: 'job',
      jobToBeExecuted: () => {
        note('toBeExecuted')
      },
      jobExecutionVetoed: () => {
        note('vetoed')
      },
      jobWasExecuted: () => {
        note('wasExecuted')
      },
    })
    listenerManager.addTriggerListener({
      name: 'trigger',
      // As Quartz users leave out a firing while the last one runs.
      vetoJobExecution: () => scheduler.getCurrentlyExecutingJobs().length > 0,
      triggerComplete: () => {
        note('complete')
      },
    })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(1)
    expect(seen).toEqual([
      'toBeExecuted 0 0',
      'run 1 1',
      'wasExecuted 1 1',
      'complete 0 1',
      'toBeExecuted 0 1',
      'run 1 2',
      'wasExecuted 1 2',
      'complete 0 2',
    ])
    await scheduler.shutdown()
  })

  it('reports progress as an event', async () => {
    const job = jobOf((context) => {
      context.progress({ percent: 50 })
    })
    const { clock, scheduler, startMs } = await shellRig([job])
    const progress = scheduler.events.next('jobProgress')
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(1)
    expect((await progress).value).toEqual({ percent: 50 })
    await scheduler.shutdown()
  })

  it('lets a job use its scheduler: read, schedule, trigger and unschedule', async () => {
    const runs: string[] = []
    const job = jobOf(async ({ scheduler, triggerKey: key, nextFireTime }) => {
      runs.push(key.name)
      if (key.name !== 'trigger') return
      expect(await scheduler.checkExists(theJob)).toBe(true)
      expect((await scheduler.getTrigger(theTrigger))?.nextFireTime).toEqual(nextFireTime)
      scheduler.context.set('shared', 1)
      await scheduler.scheduleJob(
        TriggerBuilder.newTrigger()
          .withIdentity('follow-up')
          .forJob(theJob)
          .startAt(new Date(nextFireTime ?? 0))
          .build(),
      )
      await scheduler.triggerJob(theJob)
      await scheduler.unscheduleJob(theTrigger)
    })
    const { clock, scheduler, errors, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 5))
    await clock.advance(10_000)
    expect(runs).toHaveLength(3)
    expect(runs[0]).toBe('trigger')
    expect(runs[1]).toMatch(/^MT_/)
    expect(runs[2]).toBe('follow-up')
    expect(scheduler.context.get('shared')).toBe(1)
    expect(errors).toEqual([])
    await scheduler.shutdown()
  })

  it('lets a job delete itself while it runs', async () => {
    const job = jobOf(({ scheduler }) => scheduler.deleteJob(theJob), { persistJobDataAfterExecution: true })
    const { clock, scheduler, errors, startMs } = await shellRig([job])
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 5))
    await clock.advance(10_000)
    expect(await scheduler.checkExists(theJob)).toBe(false)
    expect(await scheduler.checkExists(theTrigger)).toBe(false)
    expect(errors).toEqual([])
    await scheduler.shutdown()
  })
})

describe('job data', () => {
  it('are those of the job with those of the trigger over them, as copies that lead nowhere back', async () => {
    const seen: unknown[] = []
    const job = jobOf((context) => {
      seen.push(structuredClone(context.mergedJobDataMap))
      const merged = context.mergedJobDataMap as { list: number[]; nested: { deep: unknown } }
      merged.list.push(99)
      merged.nested.deep = 'changed'
      context.jobDataMap['list'] = 'changed'
    })
    const rig = await shellRig([job])
    const { clock, scheduler, startMs } = rig
    const data = { list: [1], nested: { deep: true }, who: 'job' }
    await scheduler.scheduleJob(
      detailOf(job, (builder) => builder.usingJobData(data)),
      firing(startMs, 2).getTriggerBuilder().usingJobData({ who: 'trigger' }).build(),
    )
    await clock.advance(500)
    expect(await dataOf(rig)).toEqual(data)
    await clock.advance(5000)
    expect(seen).toEqual([
      { list: [1], nested: { deep: true }, who: 'trigger' },
      { list: [1], nested: { deep: true }, who: 'trigger' },
    ])
    await scheduler.shutdown()
  })

  it('are not written back without persistJobDataAfterExecution', async () => {
    const job = jobOf(({ jobDetail }) => {
      jobDetail.jobDataMap['n'] = 1
    })
    const rig = await shellRig([job])
    await rig.scheduler.scheduleJob(
      detailOf(job, (builder) => builder.usingJobData({ n: 0 })),
      firing(rig.startMs, 3),
    )
    await rig.clock.advance(1500)
    expect(await dataOf(rig)).toEqual({ n: 0 })
    await rig.scheduler.shutdown()
  })

  it.each(['well', 'badly'])(
    'are written back with it when the job ends %s, without those of the trigger',
    async (end) => {
      const job = jobOf(
        (context) => {
          context.jobDataMap['n'] = Number(context.jobDataMap['n']) + 1
          context.mergedJobDataMap['stray'] = true
          if (end === 'badly') throw new Error('failed')
        },
        { persistJobDataAfterExecution: true, disallowConcurrentExecution: true },
      )
      const rig = await shellRig([job])
      const { clock, scheduler, startMs } = rig
      await scheduler.scheduleJob(
        detailOf(job, (builder) => builder.usingJobData({ n: 0 }).storeDurably()),
        firing(startMs, 3).getTriggerBuilder().usingJobData({ own: 'of the trigger' }).build(),
      )
      await clock.advance(10_000)
      expect(await dataOf(rig)).toEqual({ n: 3 })
      await scheduler.shutdown()
    },
  )

  it.each([
    [
      'only logs',
      ({ log }: JobExecutionContext) => {
        log.info('runs')
      },
    ],
    ['only reads them', ({ jobDataMap }: JobExecutionContext) => jobDataMap['n']],
  ])('stay as a caller replaced them while a job ran that %s', async (_, look) => {
    let end = (): void => {}
    const job = jobOf(
      async (context) => {
        look(context)
        await new Promise<void>((resolve) => (end = resolve))
      },
      { persistJobDataAfterExecution: true, disallowConcurrentExecution: true },
    )
    const rig = await shellRig([job])
    const { clock, scheduler, startMs } = rig
    const withData = (n: number) => detailOf(job, (builder) => builder.usingJobData({ n }).storeDurably())
    await scheduler.scheduleJob(withData(1), firing(startMs))
    await clock.advance(10)
    await scheduler.addJob(withData(2), { replace: true })
    end()
    await scheduler.idle()
    expect(await dataOf(rig)).toEqual({ n: 2 })
    await scheduler.shutdown()
  })

  it('are written back once after refires, which see what the run before left', async () => {
    const seen: unknown[] = []
    const job = jobOf(
      (context) => {
        seen.push(context.jobDataMap['n'])
        context.jobDataMap['n'] = Number(context.jobDataMap['n']) + 1
        if (context.refireCount < 2) throw new JobExecutionError('again', { refireImmediately: true })
      },
      { persistJobDataAfterExecution: true },
    )
    const rig = await shellRig([job])
    await rig.scheduler.scheduleJob(
      detailOf(job, (builder) => builder.usingJobData({ n: 0 }).storeDurably()),
      firing(rig.startMs),
    )
    await rig.clock.advance(10)
    expect(seen).toEqual([0, 1, 2])
    expect(await dataOf(rig)).toEqual({ n: 3 })
    expect(rig.store.callsOf('triggeredJobsComplete')).toBe(1)
    await rig.scheduler.shutdown()
  })

  it.each([
    { what: 'a function', value: () => {}, code: 'ERR_INVALID_JOB_DATA' },
    { what: 'a date', value: new Date(0), code: 'ERR_INVALID_JOB_DATA' },
    { what: 'too much', value: 'x'.repeat(200), code: 'ERR_JOB_DATA_TOO_LARGE' },
  ])('that cannot be stored ($what) are reported and those before them kept', async ({ value, code }) => {
    let runs = 0
    const job = jobOf(
      ({ jobDataMap }) => {
        runs++
        jobDataMap['bad'] = value
      },
      { persistJobDataAfterExecution: true, disallowConcurrentExecution: true },
    )
    const rig = await shellRig([job], { maxJobDataBytes: 100 })
    const { clock, scheduler, errors, startMs } = rig
    await scheduler.scheduleJob(
      detailOf(job, (builder) => builder.usingJobData({ good: 1 }).storeDurably()),
      firing(startMs, 2),
    )
    await clock.advance(5000)
    expect(runs).toBe(2)
    expect(errors.map((error) => error.code)).toEqual([code, code])
    expect(await dataOf(rig)).toEqual({ good: 1 })
    await scheduler.shutdown()
  })

  it('are what the schema made of them, in a refire too', async () => {
    const seen: unknown[] = []
    const schema = z.object({ n: z.string().transform(Number), mode: z.string().default('fast') })
    const job = jobOf(
      ({ mergedJobDataMap, refireCount }) => {
        seen.push({ ...mergedJobDataMap })
        if (refireCount === 0) throw new JobExecutionError('again', { refireImmediately: true })
      },
      { schema: schema },
    )
    const { clock, scheduler, startMs } = await shellRig([job])
    const ends: unknown[] = []
    scheduler.events.on('jobWasExecuted', ({ error }) => ends.push(error?.message ?? 'well'))
    await scheduler.scheduleJob(
      detailOf(job, (builder) => builder.setJobData({ n: '42' })),
      firing(startMs),
    )
    await clock.advance(10)
    expect(seen).toEqual([
      { n: 42, mode: 'fast' },
      { n: 42, mode: 'fast' },
    ])
    expect(ends).toEqual(['again', 'well'])
    await scheduler.shutdown()
  })

  it('that no longer fit the schema when the trigger fires fail that execution', async () => {
    const schema = z.object({ n: z.number() })
    const job = jobOf(() => {}, { schema: schema })
    const { clock, scheduler, store, startMs } = await shellRig([job])
    const detail = detailOf(job, (builder) => builder.setJobData({ n: 1 }))
    await scheduler.scheduleJob(detail, firing(startMs + 1000))
    await store.addJob(
      detailOf(job, (builder) => builder.setJobData({ n: 'one' })),
      { replace: true },
    )
    const ended = scheduler.events.next('jobWasExecuted')
    await clock.advance(2000)
    expect((await ended).error).toMatchObject({ code: 'ERR_JOB_DATA_SCHEMA' })
    await scheduler.shutdown()
  })
})
