import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  createScheduler,
  defineJob,
  defineSchedule,
  defineWorkerJob,
  isExecutionOf,
  type Job,
  JobBuilder,
  type JobDetail,
  type JobExecutionContext,
  type JobKey,
  jobKey,
  type Scheduler,
  TriggerBuilder,
} from '../../src/index.ts'

interface Mail {
  to: string
  subject?: string
  parts?: { name: string; sizes: number[] }[]
}

interface Tree {
  label: string
  children: Tree[]
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

const mail = defineJob('mail', (context: JobExecutionContext<Mail>) => context.mergedJobDataMap.to.length)
const greeting = defineJob('greeting', async () => Promise.resolve('hello'))

class Visit implements Job<{ host: string }> {
  execute(context: JobExecutionContext<{ host: string }>): string {
    return context.mergedJobDataMap.host
  }
}

describe('data that a job needs', () => {
  it('may not be left out', () => {
    // @ts-expect-error 'to' is missing
    JobBuilder.newJob(mail).build()
    // @ts-expect-error 'to' is missing
    JobBuilder.newJob(mail).usingJobData({ subject: 'hi' }).withIdentity('a').build()
    // @ts-expect-error 'host' is missing
    JobBuilder.newJob(Visit).build()
    // @ts-expect-error 'to' was replaced
    JobBuilder.newJob(mail).usingJobData({ to: 'a' }).setJobData({ subject: 'hi' }).build()
    const part: Partial<Mail> = {}
    // @ts-expect-error 'to' may be missing
    JobBuilder.newJob(mail).usingJobData(part).build()
  })

  it('is enough in any order, one by one or together', () => {
    expect(JobBuilder.newJob(mail).usingJobData({ to: 'a' }).storeDurably().build().durable).toBe(true)
    JobBuilder.newJob(mail).storeDurably().usingJobData('to', 'a').usingJobData('subject', 'b').build()
    JobBuilder.newJob(mail)
      .setJobData({ to: 'a', parts: [{ name: 'x', sizes: [1] }] })
      .build()
    JobBuilder.newJob('mail').build()
    JobBuilder.newJob(greeting).build()
  })

  it('keep their type in a builder that was made from the job', () => {
    const job = JobBuilder.newJob(mail).usingJobData({ to: 'a' }).build()
    const changed = JobBuilder.from(job).usingJobData({ subject: 'b' }).build()
    expect(changed.jobDataMap).toEqual({ to: 'a', subject: 'b' })
    expectTypeOf(changed.key).toEqualTypeOf<JobKey<Mail>>()
    // @ts-expect-error a number is no text
    JobBuilder.from(job).usingJobData({ to: 1 })
    // @ts-expect-error 'too' is unknown
    JobBuilder.from(job).usingJobData({ too: 'a' })
    const untyped: JobDetail = job
    expect(JobBuilder.from(untyped).usingJobData({ anything: 1 }).build().jobDataMap).toEqual({
      to: 'a',
      anything: 1,
    })
  })

  it('are those of one member of a union', () => {
    const tell = defineJob<{ by: 'mail'; to: string } | { by: 'hook'; url: string }>('tell', () => {})
    const job = JobBuilder.newJob(tell).usingJobData({ by: 'mail', to: 'a' }).build()
    expect(job.jobDataMap).toEqual({ by: 'mail', to: 'a' })
    expect(JobBuilder.from(job).setJobData({ by: 'hook', url: 'b' }).build().jobDataMap).toEqual({
      by: 'hook',
      url: 'b',
    })
    // @ts-expect-error no member has it
    JobBuilder.newJob(tell).usingJobData({ by: 'mail', too: 'a' })
    // @ts-expect-error the field of all members is missing
    JobBuilder.newJob(tell).usingJobData({ to: 'a' }).build()
  })

  it('may come from triggers', () => {
    expect(JobBuilder.newJob(mail).restOfDataFromTriggers().build().jobDataMap).toEqual({})
  })
})

describe('data that cannot be stored', () => {
  it('does not compile, and the compiler says what to store', () => {
    // @ts-expect-error cannot be stored: a Date
    defineJob<{ at: Date }>('a', () => {})
    // @ts-expect-error cannot be stored: a Date inside of a list
    defineJob<{ list: { at: Date }[] }>('a', () => {})
    // @ts-expect-error cannot be stored: a Date in a pair
    defineJob<{ pair: [string, Date] }>('a', () => {})
    // @ts-expect-error cannot be stored: a Date that may be missing
    defineJob<{ at?: Date }>('a', () => {})
    // @ts-expect-error cannot be stored: a bigint
    defineJob<{ big: bigint }>('a', () => {})
    // @ts-expect-error cannot be stored: a function
    defineJob<{ run: () => void }>('a', () => {})
    // @ts-expect-error cannot be stored: a map
    defineJob<{ map: Map<string, string> }>('a', () => {})
    // @ts-expect-error cannot be stored: a Date, by the schema
    defineJob('a', () => {}, { schema: z.object({ at: z.date() }) })
    // @ts-expect-error cannot be stored: a Date
    expect(() => defineWorkerJob<{ at: Date }>('a', 'nowhere')).toThrow()
    class Later implements Job<{ at: Date }> {
      execute(context: JobExecutionContext<{ at: Date }>): Date {
        return context.mergedJobDataMap.at
      }
    }
    // @ts-expect-error cannot be stored: a Date
    expect(() => JobBuilder.newJob(Later).usingJobData({ at: new Date() }).build()).toThrow(/Date/)
    // @ts-expect-error cannot be stored: a Date
    const schedule = (): unknown => defineSchedule(Later, { key: 'a', every: '1m', data: { at: new Date() } })
    expect(schedule).not.toThrow()
  })

  it('is what a schema takes, and not what it answers', () => {
    const visit = defineJob('visit', ({ mergedJobDataMap: { at, times } }) => at.getTime() * times, {
      schema: z.object({
        at: z.iso.datetime().transform((text) => new Date(text)),
        times: z.number().default(1),
      }),
    })
    const job = JobBuilder.newJob(visit).usingJobData({ at: '2026-03-01T07:00:00Z' }).build()
    expect(job.jobDataMap).toEqual({ at: '2026-03-01T07:00:00Z' })
    // @ts-expect-error what is stored is text
    JobBuilder.newJob(visit).usingJobData('at', new Date())
    // @ts-expect-error 'at' is missing, 'times' has a default
    JobBuilder.newJob(visit).usingJobData({ times: 2 }).build()
  })

  it('is nothing else', () => {
    defineJob<Mail>('a', () => {})
    defineJob<Tree>('a', () => {})
    defineJob<{ any: Json; list: Json[] }>('a', () => {})
    defineJob('a', () => {}, { schema: z.object({ any: z.json() }) })
    defineJob<{ any: unknown; at: string | number | null; pair: readonly [string, number] }>('a', () => {})
    defineJob('a', () => {})
  })
})

describe('with a scheduler', () => {
  let scheduler: Scheduler

  beforeAll(async () => {
    scheduler = await createScheduler({ jobs: [mail, greeting, Visit] })
    await scheduler.start()
  })
  afterAll(() => scheduler.shutdown({ waitForJobsToComplete: true }))

  it('checks what triggerJob adds, where the key knows the type', async () => {
    const job = JobBuilder.newJob(mail).usingJobData({ to: 'a' }).withIdentity('m').storeDurably().build()
    expectTypeOf(job.key).toEqualTypeOf<JobKey<Mail>>()
    await scheduler.addJob(job)
    await scheduler.triggerJob(job.key, { subject: 'hi' })
    await scheduler.triggerJob(jobKey<Mail>('m'), { to: 'b' })
    await scheduler.triggerJob(jobKey('m'), { anything: 1 })
    const wrong = [
      // @ts-expect-error the address is a string
      () => scheduler.triggerJob(job.key, { to: 1 }),
      // @ts-expect-error there is no such field
      () => scheduler.triggerJob(jobKey<Mail>('m'), { too: 'a' }),
    ]
    expect(wrong).toHaveLength(2)
  })

  it('takes one member of a union of types, and no mixture of them', async () => {
    type Notice = { kind: 'mail'; to: string } | { kind: 'text'; phone: number }
    const ran: Notice[] = []
    const notice = defineJob<Notice>('notice', ({ mergedJobDataMap }) => void ran.push(mergedJobDataMap))
    await using notifying = await createScheduler({ jobs: [notice] })
    await notifying.start()
    await notifying.schedule(notice, { key: 'n', in: '1h', data: { kind: 'mail', to: 'a' } })
    const ended = notifying.events.next('jobWasExecuted')
    await notifying.runNow(jobKey<Notice>('n'), { kind: 'text', phone: 5 })
    await ended
    expect(ran).toEqual([{ kind: 'text', phone: 5, to: 'a' }])
    await notifying.triggerJob(jobKey<Notice>('n'), { to: 'b' })
    const wrong = [
      // @ts-expect-error a text has a number
      () => notifying.runNow(jobKey<Notice>('n'), { kind: 'text', phone: 'b' }),
      // @ts-expect-error there is no such kind
      () => notifying.triggerJob(jobKey<Notice>('n'), { kind: 'fax' }),
      // @ts-expect-error no member has such a field
      () => notifying.runNow(jobKey<Notice>('n'), { too: 'b' }),
    ]
    expect(wrong).toHaveLength(3)
  })

  it('knows what a job answered where its definition is known', async () => {
    const next = scheduler.events.next('jobWasExecuted', ({ context }) => isExecutionOf(context, greeting))
    await scheduler.scheduleJob(JobBuilder.newJob(greeting).build(), TriggerBuilder.newTrigger().build())
    const { context } = await next
    expectTypeOf(context.result).toBeUnknown()
    expect(isExecutionOf(context, mail)).toBe(false)
    expect(isExecutionOf(context, Visit)).toBe(false)
    if (!isExecutionOf(context, greeting)) throw new Error('It was the greeting.')
    expectTypeOf(context.result).toEqualTypeOf<string | undefined>()
    expect(context.result).toBe('hello')
  })

  it('knows the data of a class', () => {
    const check = (context: JobExecutionContext): void => {
      if (isExecutionOf(context, Visit)) expectTypeOf(context.mergedJobDataMap.host).toBeString()
      if (isExecutionOf(context, mail)) expectTypeOf(context.result).toEqualTypeOf<number | undefined>()
    }
    expect(() => {
      check({} as never)
    }).toThrow(/isExecutionOf: 'context' must be/)
  })
})
