import { describe, expect, it } from 'vitest'
import {
  createScheduler,
  type Job,
  type JobClass,
  type JobExecutionContext,
  JobExecutionError,
  type JobFactory,
} from '../../src/index.ts'
import { detailOf, firing, jobOf, shellRig, theJob } from '../support/shell-rig.ts'

class Mailer {
  readonly sent: string[] = []
}

class MailJob implements Job {
  readonly mailer: Mailer

  constructor(mailer: Mailer) {
    this.mailer = mailer
  }

  execute({ mergedJobDataMap }: JobExecutionContext): string {
    this.mailer.sent.push(String(mergedJobDataMap['to']))
    return 'sent'
  }
}

class BareJob implements Job {
  execute(): string {
    return 'bare'
  }
}

/** What came of one execution after the other, as its event said. */
async function run(
  jobFactory: JobFactory,
  { times = 1, jobClass = MailJob }: { readonly times?: number; readonly jobClass?: JobClass } = {},
): Promise<{
  readonly ends: readonly (readonly [result: unknown, code: string | null, message: string | null])[]
  readonly state: string
}> {
  const ends: [unknown, string | null, string | null][] = []
  const { clock, scheduler, startMs } = await shellRig([jobClass], { jobFactory })
  scheduler.events.on('jobWasExecuted', ({ context, error }) => {
    ends.push([context.result, error?.code ?? null, error?.message ?? null])
  })
  const job = detailOf(jobClass, (builder) => {
    builder.usingJobData({ to: 'ann' }).storeDurably()
  })
  const trigger = firing(startMs, times + 1)
  await scheduler.scheduleJob(job, trigger)
  await clock.advance(times * 1000 - 1)
  const state = await scheduler.getTriggerState(trigger.key)
  await scheduler.shutdown({ waitForJobsToComplete: true })
  return { ends, state }
}

describe('jobFactory', () => {
  it('makes the object of each execution, with what its constructor takes', async () => {
    const mailer = new Mailer()
    const made: unknown[] = []
    const { ends } = await run(
      (jobClass, context) => {
        made.push([jobClass, context.jobKey, context.jobInstance])
        return new jobClass(mailer)
      },
      { times: 2 },
    )
    expect(made).toEqual([
      [MailJob, theJob, null],
      [MailJob, theJob, null],
    ])
    expect(ends).toEqual([
      ['sent', null, null],
      ['sent', null, null],
    ])
    expect(mailer.sent).toEqual(['ann', 'ann'])
  })

  it('may take its time, and answer one object for all executions', async () => {
    const one = new MailJob(new Mailer())
    const seen: unknown[] = []
    const factory: JobFactory = async (_, context) => {
      await Promise.resolve()
      seen.push(context.fireInstanceId)
      return one
    }
    const { ends } = await run(factory, { times: 2 })
    expect(ends.map(([result]) => result)).toEqual(['sent', 'sent'])
    expect(new Set(seen).size).toBe(2)
    expect(one.mailer.sent).toHaveLength(2)
  })

  it('makes one object for an execution that refires itself, which listeners see afterwards', async () => {
    let made = 0
    class Twice implements Job {
      execute(context: JobExecutionContext): void {
        if (context.refireCount === 0) throw new JobExecutionError('again', { refireImmediately: true })
      }
    }
    const instances: unknown[] = []
    const { clock, scheduler, startMs } = await shellRig([Twice], {
      jobFactory: (jobClass) => {
        made++
        return new jobClass()
      },
    })
    scheduler.events.on('jobToBeExecuted', ({ context }) => instances.push(context.jobInstance))
    scheduler.events.on('jobWasExecuted', ({ context }) => instances.push(context.jobInstance))
    await scheduler.scheduleJob(detailOf(Twice), firing(startMs))
    await clock.advance(10)
    expect(made).toBe(1)
    expect(instances).toEqual([null, expect.any(Twice), expect.any(Twice), expect.any(Twice)])
    await scheduler.shutdown()
  })

  it('is not asked for functions', async () => {
    let asked = 0
    const job = jobOf(() => 'function')
    const { clock, scheduler, startMs } = await shellRig([job], {
      jobFactory: () => {
        asked++
        return new BareJob()
      },
    })
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(10)
    expect((await ended).context.result).toBe('function')
    expect(asked).toBe(0)
    await scheduler.shutdown()
  })

  const broken: readonly (readonly [string, JobFactory, RegExp])[] = [
    ['throws', () => fail('no mailer'), /class 'MailJob' of job DEFAULT\.job threw: no mailer$/],
    ['rejects', () => Promise.reject(new Error('no mailer')), /threw: no mailer$/],
    ['answers nothing', () => undefined as never, /answered undefined, which has no method 'execute/],
    ['resolves to no job', () => Promise.resolve({} as never), /which has no method 'execute\(context\)'\.$/],
  ]

  it.each(broken)('that %s fails the job, whose schedule goes on', async (_, factory, message) => {
    const { ends, state } = await run(factory, { times: 2 })
    expect(ends).toEqual([
      [undefined, 'ERR_JOB_FACTORY', expect.stringMatching(message)],
      [undefined, 'ERR_JOB_FACTORY', expect.stringMatching(message)],
    ])
    expect(state).toBe('NORMAL')
  })

  it('that fails is asked again by the retries of the job', async () => {
    let asked = 0
    const { clock, scheduler, startMs } = await shellRig([MailJob], {
      jobFactory: (jobClass) => (++asked < 3 ? fail('not yet') : new jobClass(new Mailer())),
    })
    const ended = scheduler.events.next('jobWasExecuted', ({ error }) => error === null)
    const job = detailOf(MailJob, (builder) => {
      builder.withRetry({ attempts: 3, backoff: { type: 'fixed', initialMs: 100, jitter: 0 } })
    })
    await scheduler.scheduleJob(job, firing(startMs))
    await clock.advance(1000)
    expect((await ended).context.attempt).toBe(3)
    await scheduler.shutdown()
  })

  it('counts towards the time limit of the job', async () => {
    const { clock, scheduler, startMs } = await shellRig([MailJob], {
      jobFactory: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('too slow'))
          })
        }),
    })
    const ended = scheduler.events.next('jobWasExecuted')
    const job = detailOf(MailJob, (builder) => {
      builder.withTimeout(500)
    })
    await scheduler.scheduleJob(job, firing(startMs))
    await clock.advance(1000)
    expect((await ended).error?.code).toBe('ERR_JOB_TIMEOUT')
    await scheduler.shutdown()
  })
})

describe('without a jobFactory', () => {
  it('classes are made by their constructors', async () => {
    const { clock, scheduler, startMs } = await shellRig([BareJob])
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(detailOf(BareJob), firing(startMs))
    await clock.advance(10)
    expect((await ended).context.jobInstance).toBeInstanceOf(BareJob)
    await scheduler.shutdown()
  })

  it('a class whose constructor takes something is refused before anything runs', async () => {
    await expect(createScheduler({ jobs: [MailJob] })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message:
        "Job class 'MailJob' has a constructor that takes 1 argument. Give 'jobFactory', which makes its objects.",
    })
  })

  it('only a function is one', async () => {
    await expect(createScheduler({ jobFactory: {} as never })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      message: expect.stringContaining("'jobFactory' must be a function") as string,
    })
  })
})

function fail(message: string): never {
  throw new Error(message)
}
