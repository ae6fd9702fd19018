import { describe, expect, it } from 'vitest'
import type { JobExecutionContext } from '../../src/index.ts'
import { detailOf, firing, jobOf, type ShellRig, shellRig, theJob } from '../support/shell-rig.ts'

/** Runs a job once, which persists its data, over data that were stored before. */
async function rigAfterRun(
  before: Record<string, unknown>,
  execute: (context: JobExecutionContext) => void,
): Promise<ShellRig & { readonly kept: unknown }> {
  const job = jobOf(execute, { persistJobDataAfterExecution: true })
  const rig = await shellRig([job])
  const { clock, scheduler, startMs, store } = rig
  await scheduler.scheduleJob(
    detailOf(job, (builder) => builder.storeDurably()),
    firing(startMs + 1000),
  )
  // Past the checks of the scheduler, as an earlier version or Java may have stored them.
  await store.addJob(
    detailOf(job, (builder) => builder.usingJobData(before).storeDurably()),
    { replace: true },
  )
  await clock.advance(2000)
  const kept = (await scheduler.getJobDetail(theJob))?.jobDataMap
  await scheduler.shutdown()
  return { ...rig, kept }
}

describe('keys in the data that a job leaves which no data can have', () => {
  it.each<[string, (data: Record<string, unknown>) => void, string]>([
    [
      '__proto__',
      (data) => {
        data['__proto__'] = { admin: true }
      },
      "'jobDataMap.__proto__' holds another object as prototype",
    ],
    [
      '__proto__ within',
      (data) => {
        data['inner'] = Object.assign({}, JSON.parse('{"__proto__":{"admin":true}}'))
      },
      "'jobDataMap.inner.__proto__' holds another object as prototype",
    ],
    [
      'a symbol',
      (data) => {
        Reflect.set(data, Symbol('hidden'), 1)
      },
      "'jobDataMap' holds the key Symbol(hidden)",
    ],
  ])('are named, and the data before them kept: %s', async (_, set, text) => {
    const { errors, kept } = await rigAfterRun({ n: 1 }, ({ jobDataMap }) => {
      jobDataMap['n'] = 2
      set(jobDataMap)
    })
    expect(errors).toMatchObject([
      {
        code: 'ERR_INVALID_JOB_DATA',
        message: expect.stringContaining(`job ${theJob.toString()} cannot be stored: ${text}`) as string,
      },
    ])
    expect(kept).toEqual({ n: 1 })
  })
})

describe('keys of the scheduler in the data that a job leaves', () => {
  it.each([
    ['a new key', { n: 1 }],
    ['a stored key with another value', { n: 1, QRTZ_NOTE: 'old' }],
  ])('are reported, and the data before them kept: %s', async (_, before) => {
    const { errors, kept } = await rigAfterRun(before, ({ jobDataMap }) => {
      jobDataMap['n'] = 2
      jobDataMap['QRTZ_NOTE'] = 'mine'
    })
    expect(errors).toMatchObject([
      {
        code: 'ERR_INVALID_JOB_DATA',
        message: expect.stringContaining(`${theJob.toString()}: 'QRTZ_NOTE' begins with 'QRTZ_'`) as string,
      },
    ])
    expect(kept).toEqual(before)
  })

  it('may stand there as they were, or be deleted', async () => {
    const before = { n: 1, QRTZ_NOTE: { old: [1] }, QRTZ_OTHER: 'old' }
    const { errors, kept } = await rigAfterRun(before, ({ jobDataMap }) => {
      jobDataMap['n'] = 2
      delete jobDataMap['QRTZ_OTHER']
    })
    expect(errors).toEqual([])
    expect(kept).toEqual({ n: 2, QRTZ_NOTE: { old: [1] } })
  })
})
