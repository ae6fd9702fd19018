import { describe, expect, it, onTestFinished } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { defineRemoteJob } from '../../src/jobs/define-remote-job.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const hourMs = 3_600_000
const history = { record: 'all' } as const
const stores = [
  ['in memory', () => ramJobStore({ history })],
  ['in a file', () => sqliteJobStore({ filename: ':memory:', history })],
] as const

describe.each([hourMs, -2 * hourMs])('where the clock is set by %d ms while a job runs', (stepMs) => {
  it.each(stores)('the history and the status %s say how long it took', async (_what, jobStore) => {
    const clock = new ManualClock()
    const work = defineJob('work', async () => {
      await clock.advance(300)
      clock.jump(stepMs)
      await clock.advance(400)
    })
    const scheduler = await createScheduler({ logger: false, jobs: [work], clock, jobStore: jobStore() })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.start()
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.schedule(work, { key: 'work', in: '5h' })
    await scheduler.triggerJob(new JobKey('work'))
    await clock.advance(0)
    const { context } = await ended
    expect(context.jobRunTimeMs).toBe(700)
    await scheduler.idle()
    await clock.advance(2000)
    const [execution] = (await scheduler.queryExecutions({})).items
    const { beganTimeMs, fireTimeMs, finishedTimeMs } = execution ?? {}
    expect([Number(finishedTimeMs) - Number(beganTimeMs), Number(beganTimeMs) - Number(fireTimeMs)]).toEqual([
      700, 0,
    ])
    const [status] = (await scheduler.queryJobStatus({ days: 2 })).items
    expect(status?.days.map(({ runTimeMs }) => runTimeMs)).toEqual([700])
    expect((await scheduler.queryExecutions({ tookLongerThanMs: 700 })).items).toEqual([])
    expect((await scheduler.queryExecutions({ tookLongerThanMs: 699 })).items).toHaveLength(1)
  })

  it.each(stores)(
    'the status %s says by the clock as it is then that it ended well or failed',
    async (_what, jobStore) => {
      const clock = new ManualClock()
      let isBroken = false
      const work = defineJob('work', async () => {
        await clock.advance(300)
        if (isBroken) throw new Error('no disk')
        clock.jump(stepMs)
        await clock.advance(400)
      })
      const scheduler = await createScheduler({ logger: false, jobs: [work], clock, jobStore: jobStore() })
      onTestFinished(() => scheduler.shutdown())
      await scheduler.start()
      await scheduler.schedule(work, { key: 'work', in: '5d' })
      const endMs: number[] = []
      for (isBroken of [false, true]) {
        await scheduler.triggerJob(new JobKey('work'))
        await clock.advance(0)
        await scheduler.idle()
        endMs.push(clock.now())
        await clock.advance(2000)
      }
      const [status] = (await scheduler.queryJobStatus({})).items
      expect([status?.lastSuccessTimeMs, status?.lastFailureTimeMs]).toEqual(endMs)
      expect(status?.consecutiveFailures).toBe(1)
    },
  )

  it.each(stores)('one whose result is awaited %s has not ended before it began', async (_what, jobStore) => {
    const clock = new ManualClock()
    const send = defineRemoteJob('send', (context) =>
      context.awaitResult({ reference: 'sent', timeoutMs: 3 * hourMs }),
    )
    const scheduler = await createScheduler({ logger: false, jobs: [send], clock, jobStore: jobStore() })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.start()
    await scheduler.schedule(send, { key: 'send', in: '5h' })
    await scheduler.triggerJob(new JobKey('send'))
    await clock.advance(0)
    await scheduler.idle()
    clock.jump(stepMs)
    expect(await scheduler.reportResult('sent')).toBe(true)
    await scheduler.idle()
    const [execution] = (await scheduler.queryExecutions({})).items
    expect(Number(execution?.finishedTimeMs) - Number(execution?.beganTimeMs)).toBe(Math.max(0, stepMs))
  })
})
