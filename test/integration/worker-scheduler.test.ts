import { join } from 'node:path'
import {
  createScheduler,
  defineJob,
  defineWorkerJob,
  JobBuilder,
  type JobExecutionContext,
  JobExecutionError,
  jobKey,
  type Logger,
  type Scheduler,
  type SchedulerOptions,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from 'quartz-ts'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const moduleUrl = new URL('../fixtures/workers/scheduled.mjs', import.meta.url)
const { leave } = (await import(moduleUrl.href)) as {
  readonly leave: (context: JobExecutionContext) => void
}
const define = (exportName: string, options: object = {}): ReturnType<typeof defineWorkerJob> =>
  defineWorkerJob(exportName, moduleUrl, { exportName, ...options })

const schedulers: Scheduler[] = []

async function start(options: SchedulerOptions): Promise<Scheduler> {
  const scheduler = await createScheduler({ logger: false, threadPool: { size: 2 }, ...options })
  schedulers.push(scheduler)
  await scheduler.start()
  return scheduler
}

afterEach(async () => {
  for (const scheduler of schedulers.splice(0)) await scheduler.shutdown({ waitForJobsToComplete: true })
})

const once = (name: string): ReturnType<TriggerBuilder['build']> =>
  TriggerBuilder.newTrigger().withIdentity(name).build()

describe('worker jobs of a scheduler', () => {
  it('report, log, return, and keep their data from firing to firing', async () => {
    const lines: unknown[] = []
    const ignore = (): void => {}
    const logger: Logger = {
      debug: ignore,
      warn: ignore,
      error: ignore,
      info: (fields, message) => lines.push({ ...fields, message }),
    }
    const count = define('count', { disallowConcurrentExecution: true, persistJobDataAfterExecution: true })
    const scheduler = await start({ jobs: [count], logger })
    const progress: unknown[] = []
    const results: unknown[] = []
    scheduler.events.on('jobProgress', ({ value }) => progress.push(value))
    scheduler.events.on('jobWasExecuted', ({ context }) => results.push(context.result))
    const third = scheduler.events.next('triggerFinalized')
    await scheduler.scheduleJob(
      JobBuilder.newJob(count).withIdentity('count').usingJobData({ prefix: '#' }).storeDurably().build(),
      TriggerBuilder.newTrigger()
        .withIdentity('thrice')
        .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(5).withRepeatCount(2))
        .build(),
    )
    await third
    await scheduler.shutdown({ waitForJobsToComplete: true })
    expect(progress).toEqual([1, 2, 3])
    expect(results).toEqual(['#1', '#2', '#3'])
    expect(lines.filter((line) => (line as { message: string }).message === 'counted')).toMatchObject([
      { count: 1 },
      { count: 2 },
      { count: 3 },
    ])
  })

  it('log with the same fields after their end', async () => {
    const lines: Record<string, unknown>[] = []
    const ignore = (): void => {}
    const logger: Logger = {
      debug: ignore,
      warn: ignore,
      error: ignore,
      info: (fields, message) => lines.push({ ...fields, message }),
    }
    const logTwice = define('logTwice')
    const scheduler = await start({ jobs: [logTwice], logger })
    const executed = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(JobBuilder.newJob(logTwice).withIdentity('twice').build(), once('twice'))
    const ofJob = (): unknown[] => lines.filter(({ from }) => from === 'job')
    await vi.waitFor(
      () => {
        expect(ofJob()).toHaveLength(2)
      },
      { timeout: 30_000 },
    )
    const { fireInstanceId } = (await executed).context
    const same = { jobKey: 'DEFAULT.twice', jobType: 'logTwice', fireInstanceId, from: 'job' }
    expect(ofJob()).toEqual([
      { ...same, message: 'in time' },
      { ...same, message: 'late' },
    ])
  })

  it('steer their triggers with the errors that they throw', async () => {
    const giveUp = define('giveUp')
    const scheduler = await start({ jobs: [giveUp] })
    const complete = scheduler.events.next('triggerComplete')
    const executed = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(
      JobBuilder.newJob(giveUp).withIdentity('hopeless').build(),
      TriggerBuilder.newTrigger()
        .withIdentity('always')
        .withSchedule(SimpleScheduleBuilder.repeatHourlyForever())
        .build(),
    )
    const { error } = await executed
    expect(error).toBeInstanceOf(JobExecutionError)
    expect(error).toMatchObject({ message: 'no use', unscheduleFiringTrigger: true })
    expect(error?.cause).toBeInstanceOf(RangeError)
    expect(await complete).toMatchObject({ instruction: 'setTriggerComplete' })
  })

  it('keep what they changed in their data also when they fail, from refire to refire', async () => {
    const failing = define('countFailures', { persistJobDataAfterExecution: true })
    const scheduler = await start({ jobs: [failing] })
    const complete = scheduler.events.next('triggerFinalized')
    await scheduler.scheduleJob(
      JobBuilder.newJob(failing).withIdentity('failing').storeDurably().build(),
      once('now'),
    )
    await complete
    await scheduler.idle()
    expect((await scheduler.getJobDetail(jobKey('failing')))?.jobDataMap).toEqual({ count: 3 })
  })

  it.each([
    ['symbol', false, /'jobDataMap\.inner' holds the key Symbol\(hidden\)/],
    ['symbol', true, /'jobDataMap\.inner' holds the key Symbol\(hidden\)/],
    ['prototype', false, /'jobDataMap\.__proto__' holds another object as prototype/],
    ['prototype', true, /'jobDataMap\.__proto__' holds another object as prototype/],
    ['class', false, /'jobDataMap\.price' holds an instance of Money/],
    ['function', true, /'jobDataMap\.run' holds a value of type function/],
  ])(
    'say as jobs on the event loop what of their data cannot be stored: %s (fails: %j)',
    async (what, fails, text) => {
      const persisting = { persistJobDataAfterExecution: true }
      const jobs = [define('leave', persisting), defineJob('inline', leave, persisting)]
      const scheduler = await start({ jobs })
      const errors: unknown[] = []
      scheduler.events.on('schedulerError', ({ error: { code, message } }) => errors.push({ code, message }))
      for (const job of jobs) {
        const { jobType } = job
        const finalized = scheduler.events.next('triggerFinalized')
        await scheduler.scheduleJob(
          JobBuilder.newJob(job)
            .withIdentity('job', jobType)
            .usingJobData({ count: 1 })
            .storeDurably()
            .build(),
          once(jobType).getTriggerBuilder().usingJobData({ what, fails }).build(),
        )
        await finalized
        await scheduler.idle()
        expect((await scheduler.getJobDetail(jobKey('job', jobType)))?.jobDataMap).toEqual({ count: 1 })
      }
      const said = (group: string): unknown => ({
        code: 'ERR_INVALID_JOB_DATA',
        message: expect.stringMatching(
          new RegExp(`job ${group}\\.job cannot be stored: ${text.source}`),
        ) as string,
      })
      expect(errors).toEqual([said('leave'), said('inline')])
    },
  )

  it('that ran again after data that cannot be stored keep what they leave then', async () => {
    const better = define('leaveBetter', { persistJobDataAfterExecution: true })
    const scheduler = await start({ jobs: [better] })
    const errors: unknown[] = []
    scheduler.events.on('schedulerError', (error) => errors.push(error))
    const finalized = scheduler.events.next('triggerFinalized')
    await scheduler.scheduleJob(
      JobBuilder.newJob(better).withIdentity('better').storeDurably().build(),
      once('now'),
    )
    await finalized
    await scheduler.idle()
    expect(errors).toEqual([])
    expect((await scheduler.getJobDetail(jobKey('better')))?.jobDataMap).toEqual({ count: 1 })
  })

  it('are repeated when their thread dies and they may be', async () => {
    const dieOnce = define('dieOnce', {
      retry: { attempts: 2, backoff: { type: 'fixed', initialMs: 1, jitter: 0 } },
    })
    const scheduler = await start({ jobs: [dieOnce] })
    const errors: (string | null)[] = []
    scheduler.events.on('jobWasExecuted', ({ error }) => errors.push(error?.code ?? null))
    const succeeded = scheduler.events.next('jobWasExecuted', ({ error }) => error === null)
    await scheduler.scheduleJob(JobBuilder.newJob(dieOnce).build(), once('now'))
    expect((await succeeded).context.result).toBe('attempt 2')
    expect(errors).toEqual(['ERR_WORKER_FAILED', null])
  })

  it('are interrupted, and those that do not stop are ended', async () => {
    const [stop, block] = [define('stop'), define('block')]
    const scheduler = await start({ jobs: [stop, block], interruptGraceMs: 20 })
    for (const definition of [stop, block]) {
      const running = scheduler.events.next('jobProgress')
      const executed = scheduler.events.next('jobWasExecuted')
      const job = JobBuilder.newJob(definition).withIdentity(definition.jobType).build()
      await scheduler.scheduleJob(job, once(definition.jobType))
      await running
      expect(await scheduler.interrupt(jobKey(definition.jobType))).toBe(true)
      expect((await executed).error).toMatchObject({ code: 'ERR_JOB_INTERRUPTED' })
    }
  })

  it('that ignore a shutdown are ended before it has ended, and stored as interrupted', async () => {
    const filename = join(temporaryFolder('deaf-'), 'jobs.db')
    const block = define('block')
    const options = { jobs: [block], logger: false, interruptGraceMs: 50 } as const
    const scheduler = await createScheduler({ ...options, jobStore: sqliteJobStore({ filename }) })
    const errors: unknown[] = []
    scheduler.events.on('schedulerError', (error) => errors.push(error))
    const running = scheduler.events.next('jobProgress')
    await scheduler.start()
    await scheduler.scheduleJob(JobBuilder.newJob(block).withIdentity('deaf').build(), once('t'))
    await running
    await scheduler.shutdown({ waitForJobsToComplete: true, interruptAfterMs: 0 })
    expect(errors).toEqual([])
    await using next = await createScheduler({ ...options, jobStore: sqliteJobStore({ filename }) })
    expect(await next.queryExecutions({})).toMatchObject({
      items: [{ jobKey: jobKey('deaf'), outcome: 'interrupted' }],
    })
  })

  it('that take too long fail with their limit, also when they block their thread', async () => {
    const block = define('block', { timeoutMs: 20 })
    const scheduler = await start({ jobs: [block], interruptGraceMs: 0 })
    const executed = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(JobBuilder.newJob(block).build(), once('now'))
    expect((await executed).error).toMatchObject({ code: 'ERR_JOB_TIMEOUT' })
  })

  it('that are TypeScript are stored or refused when they are scheduled, as Node can load them', async () => {
    const typed = defineWorkerJob('typed', new URL('../fixtures/workers/typed.ts', import.meta.url))
    const scheduler = await start({ jobs: [typed], threadPool: { size: 1, execArgv: [] } })
    const stripsTypes = Boolean(Reflect.get(process.features, 'typescript'))
    const scheduled = await Promise.allSettled([
      scheduler.scheduleJob(
        JobBuilder.newJob(typed).withIdentity('typed').storeDurably().build(),
        once('now'),
      ),
    ])
    expect(scheduled).toMatchObject([
      stripsTypes ? { status: 'fulfilled' } : { reason: { code: 'ERR_WORKER_MODULE' } },
    ])
    expect(await scheduler.checkExists(jobKey('typed'))).toBe(stripsTypes)
  })
})
