import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type JobExecutionContext, JobExecutionError } from '../../src/index.ts'
import { detailOf, firing, jobOf, shellRig, theJob } from '../support/shell-rig.ts'

describe('the result of an execution', () => {
  const setting: Readonly<Record<string, Parameters<typeof jobOf>[0]>> = {
    'a function': (context) => {
      context.result = 'set'
    },
    'an async function': async (context) => {
      context.result = 'set'
      await Promise.resolve()
    },
    'a job that returns something else': (context) => {
      context.result = 'overwritten'
      return 'set'
    },
    'a refire, and not by the run that failed': (context) => {
      if (context.refireCount === 1) context.result = 'set'
      else {
        context.result = 'of the run that failed'
        throw new JobExecutionError('again', { refireImmediately: true })
      }
    },
  }
  describe.each(Object.entries(setting))('keeps the result that is set by %s', (_, execute) => {
    it.each([
      ['as it is', {}],
      ['with a schema', { schema: z.object({}) }],
      ['with a time limit', { timeoutMs: 1000 }],
    ])('%s', async (__, options) => {
      const job = jobOf(execute, options)
      const { clock, scheduler, startMs } = await shellRig([job])
      const ended = scheduler.events.next('jobWasExecuted')
      await scheduler.scheduleJob(detailOf(job), firing(startMs))
      await clock.advance(1)
      expect((await ended).context.result).toBe('set')
      await scheduler.shutdown()
    })
  })

  it('has no result of a job that failed or ran out of time', async () => {
    const results: unknown[] = []
    let finish: () => void = () => {}
    const execute = async (context: JobExecutionContext): Promise<void> => {
      context.result = 'set'
      if (context.triggerKey.name !== 'late') throw new Error('no')
      await new Promise<void>((resolve) => (finish = resolve))
    }
    const job = jobOf(execute, { timeoutMs: 1000 })
    const { clock, scheduler, startMs } = await shellRig([job])
    scheduler.events.on('jobWasExecuted', ({ context, error }) => results.push(error?.code, context.result))
    const late = firing(startMs).getTriggerBuilder().withIdentity('late').forJob(theJob).build()
    await scheduler.scheduleJob(
      detailOf(job, (builder) => builder.storeDurably()),
      firing(startMs),
    )
    await clock.advance(1)
    await scheduler.scheduleJob(late)
    await clock.advance(2000)
    finish()
    await clock.settle()
    expect(results).toEqual(['ERR_JOB_EXECUTION', undefined, 'ERR_JOB_TIMEOUT', undefined])
    await scheduler.shutdown()
  })
})
