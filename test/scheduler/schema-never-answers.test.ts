import { expect, it } from 'vitest'
import { defineJob, type Scheduler } from '../../src/index.ts'
import { validateAgainstSchema } from '../../src/jobs/schema-validation.ts'
import type { ManualClock } from '../../src/time/manual-clock.ts'
import { detailOf, firing, shellRig } from '../support/shell-rig.ts'

interface Answer {
  readonly value: object
}

interface Check {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

interface Scheduled {
  readonly clock: ManualClock
  readonly scheduler: Scheduler
  /** What the job and the event of its end have told. */
  readonly ends: readonly unknown[]
  readonly check: Check | undefined
}

/** A job whose schema answers at once while it is scheduled, and only when told to when it fires. */
async function scheduled(options: { readonly timeoutMs?: number }): Promise<Scheduled> {
  const checks: Check[] = []
  const ends: unknown[] = []
  let answers = true
  const validate = (value: unknown): Answer | Promise<Answer> => {
    if (answers) return { value: value as object }
    return new Promise((resolve, reject) => {
      checks.push({ resolve, reject })
    })
  }
  const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const
  const job = defineJob('checked', () => void ends.push('ran'), { ...options, schema })
  const { clock, scheduler, startMs } = await shellRig([job])
  scheduler.events.on('jobWasExecuted', ({ error }) => ends.push(error?.code))
  await scheduler.scheduleJob(detailOf(job), firing(startMs))
  answers = false
  await clock.advance(1)
  expect(checks).toHaveLength(1)
  return { clock, scheduler, ends, check: checks[0] }
}

it('ends an execution whose schema never answers at its time limit', async () => {
  const { clock, scheduler, ends, check } = await scheduled({ timeoutMs: 1000 })
  await clock.advance(1000)
  expect(ends).toEqual(['ERR_JOB_TIMEOUT'])
  expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
  // A failure that comes late is no unhandled rejection, which would fail the test.
  check?.reject(new Error('late'))
  await clock.settle()
  expect(ends).toEqual(['ERR_JOB_TIMEOUT'])
})

it('ends an execution whose schema never answers when it is interrupted', async () => {
  const { clock, scheduler, ends, check } = await scheduled({})
  const [context] = scheduler.getCurrentlyExecutingJobs()
  expect(await scheduler.interrupt({ fireInstanceId: context?.fireInstanceId ?? '' })).toBe(true)
  await clock.settle()
  expect(ends).toEqual(['ERR_JOB_INTERRUPTED'])
  check?.resolve({ value: {} })
  await clock.settle()
  expect(ends).toEqual(['ERR_JOB_INTERRUPTED'])
})

it('takes the answer of a schema that answers at once without a promise, which costs each firing more', () => {
  const validate = (value: unknown): Answer => ({ value: value as object })
  const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const
  const job = defineJob('checked', () => {}, { schema })
  expect(validateAgainstSchema(job, { to: 'a' }, 'job')).toEqual({ to: 'a' })
})
