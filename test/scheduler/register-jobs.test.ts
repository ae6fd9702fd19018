import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { defineRemoteJob } from '../../src/jobs/define-remote-job.ts'
import { defineWorkerJob } from '../../src/jobs/define-worker-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { inProcessThreadPool, zeroSizeThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

describe('registerJobs', () => {
  const late = defineJob('late', () => undefined)
  const later = defineJob('later', () => undefined)

  test('makes jobs known between createScheduler and start', async () => {
    const { scheduler, clock, once } = await schedulerFixture()
    scheduler.registerJobs([late, later])
    const ran = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(JobBuilder.newJob('late').build(), once('trigger', 10))
    await scheduler.start()
    await clock.advance(10)
    expect((await ran).context.jobDetail.jobType).toBe('late')
    expect((await scheduler.cluster.nodes())[0]?.jobTypes).toEqual(['note', 'late', 'later'])
    await scheduler.shutdown()
  })

  test('takes all or none', async () => {
    const { scheduler } = await schedulerFixture()
    expect(() => {
      scheduler.registerJobs([late, defineJob('note', () => 1)])
    }).toThrow(/'note' is registered already/)
    expect(() => {
      scheduler.registerJobs([late, later, defineJob('later', () => 1)])
    }).toThrow(/'later' is registered already/)
    expect((await scheduler.cluster.nodes())[0]?.jobTypes).toEqual(['note'])
    await scheduler.shutdown()
  })

  test('takes none when a remote job cannot connect, and all when it can', async () => {
    const { scheduler } = await schedulerFixture()
    const calls: string[] = []
    const remote = (jobType: string, connect: () => void) =>
      defineRemoteJob(jobType, () => {}, {
        connect: () => {
          calls.push(`connect ${jobType}`)
          connect()
          return () => calls.push(`end ${jobType}`)
        },
      })
    let isPortFree = false
    const jobs = [
      late,
      remote('first', () => {}),
      remote('second', () => {
        if (!isPortFree) throw new Error('port in use')
      }),
      remote('third', () => {}),
    ]
    expect(() => {
      scheduler.registerJobs(jobs)
    }).toThrow('port in use')
    expect(calls).toEqual(['connect first', 'connect second', 'end first'])
    expect((await scheduler.cluster.nodes())[0]?.jobTypes).toEqual(['note'])
    isPortFree = true
    scheduler.registerJobs(jobs)
    expect(calls.slice(3)).toEqual(['connect first', 'connect second', 'connect third'])
    await scheduler.shutdown()
    expect(calls.slice(6)).toEqual(['end first', 'end second', 'end third'])
  })

  test('takes no remote job whose connect is an async function, and outlives the end of one that rejects', async () => {
    const logged: string[] = []
    const error = (fields: object, message: string): void => {
      logged.push(`${message}: ${String(Reflect.get(fields, 'err'))}`)
    }
    const logger = { ...silentLogger, error }
    const connect = (() => Promise.reject(new Error('no port'))) as unknown as () => void
    const refused = { code: 'ERR_INVALID_OPTION', field: 'connect' }
    const eager = defineRemoteJob('eager', () => {}, { connect })
    await expect(createScheduler({ logger, jobs: [eager] })).rejects.toMatchObject(refused)
    const ending = defineRemoteJob('ending', () => {}, {
      connect: () => () => Promise.reject(new Error('port is stuck')),
    })
    const scheduler = await createScheduler({ logger, jobs: [ending] })
    await scheduler.shutdown()
    expect(logged).toEqual(['what the connect of a remote job returned failed: Error: port is stuck'])
  })

  test('is refused once a start has begun, and after a shutdown', async () => {
    const { scheduler } = await schedulerFixture()
    const register = (): void => {
      scheduler.registerJobs([late])
    }
    const started = scheduler.start()
    await Promise.resolve()
    await Promise.resolve()
    expect(register).toThrow(expect.objectContaining({ code: 'ERR_SCHEDULER_STATE' }))
    await started
    await scheduler.standby()
    expect(register).toThrow(/before the first start only/)
    await scheduler.shutdown()
    expect(register).toThrow(expect.objectContaining({ code: 'ERR_SCHEDULER_SHUTDOWN' }))
  })
})

describe('a worker job beside a pool without threads', () => {
  const worker = defineWorkerJob('worker', new URL('../fixtures/workers/thread.mjs', import.meta.url))
  const refused = {
    code: 'ERR_WORKER_UNAVAILABLE',
    message: expect.stringMatching(/^Job 'worker' is a worker job, and thread pool 'in-process'/) as string,
  }

  test('is refused by start, before listeners are called and the node takes anything', async () => {
    const { scheduler, store, told } = await schedulerFixture({
      jobs: [worker],
      threadPool: inProcessThreadPool(),
    })
    await expect(scheduler.start()).rejects.toMatchObject(refused)
    expect(scheduler.isInStandbyMode).toBe(true)
    expect(told).toEqual([])
    expect(store.calls).not.toContain('schedulerStarted')
    await scheduler.shutdown()
  })

  test('is refused as well when it was registered later', async () => {
    const { scheduler } = await schedulerFixture({ threadPool: inProcessThreadPool() })
    scheduler.registerJobs([worker])
    await expect(scheduler.start()).rejects.toMatchObject(refused)
    await scheduler.shutdown()
  })

  test('is no matter for a node that only schedules', async () => {
    const { scheduler } = await schedulerFixture({ jobs: [worker], threadPool: zeroSizeThreadPool() })
    await scheduler.start()
    expect(scheduler.isStarted).toBe(true)
    await scheduler.shutdown()
  })
})
