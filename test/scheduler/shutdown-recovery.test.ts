import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import type { JobExecutionContext } from '../../src/jobs/job-definition.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { temporaryFolder } from '../support/sqlite.ts'

interface Case {
  readonly requestRecovery?: boolean
  readonly attempts?: number
  /** What the job does when it has been interrupted. Default: it throws. */
  readonly obey?: (context: JobExecutionContext) => void
  readonly onEnd?: (context: JobExecutionContext) => void
}

/** What the job saw in each of its runs: in the first one it goes on until the shutdown interrupts it. */
async function runsAround(
  store: () => JobStore,
  {
    requestRecovery = true,
    attempts,
    obey = ({ signal }) => {
      signal.throwIfAborted()
    },
    onEnd = () => {},
  }: Case = {},
): Promise<string[]> {
  const runs: string[] = []
  let begin: () => void = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const job = defineJob(
    'mail',
    async (context) => {
      const { attempt, mergedJobDataMap, originalTriggerKey, recovering } = context
      const how = recovering ? 'recovering' : 'as planned'
      runs.push(
        `${how}, attempt ${attempt} for ${originalTriggerKey.name} to ${String(mergedJobDataMap['to'])}`,
      )
      if (runs.length > 1) return
      begin()
      await new Promise((resolve) => {
        context.signal.addEventListener('abort', resolve)
      })
      obey(context)
    },
    attempts === undefined ? {} : { retry: { attempts, backoff: { initialMs: 0 } } },
  )
  const open = async (): Promise<Scheduler> => {
    const options = { jobs: [job], jobStore: store(), logger: false, interruptJobsOnShutdown: true } as const
    const scheduler = await createScheduler(options)
    scheduler.listenerManager.addJobListener({ name: 'ends', jobWasExecuted: onEnd })
    return scheduler
  }
  const first = await open()
  await first.schedule(job, { key: 'daily', in: 0, requestRecovery, data: { to: 'a' } })
  await first.start()
  await begun
  await first.shutdown()
  const second = await open()
  await second.start()
  await second.idle()
  await second.shutdown()
  return runs
}

const onFile = (): (() => JobStore) => {
  const filename = join(temporaryFolder(), 'jobs.db')
  return () => sqliteJobStore({ filename })
}
const planned = 'as planned, attempt 1 for daily to a'
const recovered = 'recovering, attempt 1 for daily to a'

describe('a job that the shutdown interrupts', () => {
  it('runs again at the next start when it requests recovery, as after a crash', async () => {
    expect(await runsAround(onFile())).toEqual([planned, recovered])
  })

  it('does so whether or not attempts are left, and uses none', async () => {
    for (const attempts of [2, 1]) {
      expect(await runsAround(onFile(), { attempts })).toEqual([planned, recovered])
    }
  })

  it('does not when it has ended all the same, or requests no recovery', async () => {
    expect(await runsAround(onFile(), { obey: () => {} })).toEqual([planned])
    expect(await runsAround(onFile(), { requestRecovery: false })).toEqual([planned])
  })

  it('is tried again by its retry policy when it requests no recovery', async () => {
    expect(await runsAround(onFile(), { requestRecovery: false, attempts: 2 })).toEqual([
      planned,
      'as planned, attempt 2 for daily to a',
    ])
  })

  it('leaves nothing in memory', async () => {
    const store = ramJobStore()
    expect(await runsAround(() => store)).toEqual([planned])
  })

  it('is told to listeners as one that runs again', async () => {
    const ends: boolean[] = []
    await runsAround(onFile(), {
      onEnd: ({ runsAgain }) => {
        ends.push(runsAgain)
      },
    })
    expect(ends).toEqual([true, false])
  })
})

it('a job that failed before the shutdown, whose listeners it meets, is not run again', async () => {
  const store = onFile()
  let runs = 0
  const job = defineJob('mail', () => {
    runs++
    throw new Error('no such address')
  })
  const open = (): Promise<Scheduler> =>
    createScheduler({ jobs: [job], jobStore: store(), logger: false, interruptJobsOnShutdown: true })
  const first = await open()
  let release: () => void = () => {}
  const told = new Promise<void>((resolve) => {
    first.listenerManager.addJobListener({
      name: 'slow',
      jobWasExecuted: () => {
        resolve()
        return new Promise<void>((ended) => (release = ended))
      },
    })
  })
  await first.schedule(job, { key: 'daily', in: 0, requestRecovery: true })
  await first.start()
  await told
  const interrupted = first.events.next('jobInterrupted')
  const ending = first.shutdown()
  await interrupted
  release()
  await ending
  const second = await open()
  await second.start()
  await second.idle()
  await second.shutdown()
  expect(runs).toBe(1)
})

it('a job that ends after the shutdown is told in one line, and is recovered by the next start', async () => {
  const store = onFile()
  const [lines, runs]: [string[], string[]] = [[], []]
  const note = (_fields: object, message: string): void => {
    lines.push(message)
  }
  const logger = { debug: () => {}, info: () => {}, warn: note, error: note }
  let begin: () => void = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const deaf = defineJob('deaf', async ({ recovering }) => {
    runs.push(recovering ? 'recovering' : 'as planned')
    begin()
    await ended
  })
  const first = await createScheduler({ jobs: [deaf], jobStore: store(), logger })
  const executed = first.events.next('jobWasExecuted')
  await first.schedule(deaf, { key: 'deaf', in: 0, requestRecovery: true })
  await first.start()
  await begun
  await first.shutdown()
  lines.length = 0
  end()
  await executed
  await new Promise((resolve) => setImmediate(resolve))
  expect(lines).toEqual([
    expect.stringMatching(/^An execution ended after the shutdown, so its end is not stored/),
  ])
  const second = await createScheduler({ jobs: [deaf], jobStore: store(), logger: false })
  await second.start()
  await second.idle()
  await second.shutdown()
  expect(runs).toEqual(['as planned', 'recovering'])
})

it.each([
  { change: 'deleted', isOther: false },
  { change: 'replaced', isOther: true },
])('says of a job that was $change in its run that it does not run again', async ({ isOther }) => {
  const warnings: string[] = []
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) }
  const mail = defineJob('mail', async ({ signal }) => {
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
    })
    signal.throwIfAborted()
  })
  const other = defineJob('other', () => {})
  const jobStore = onFile()()
  const options = { jobs: [mail, other], jobStore, logger, interruptJobsOnShutdown: true }
  const scheduler = await createScheduler(options)
  const ends: unknown[] = []
  scheduler.events.on('jobWasExecuted', ({ context }) => ends.push(context.runsAgain))
  scheduler.events.on('retriesExhausted', ({ jobKey: key }) => ends.push(key))
  const begun = scheduler.events.next('jobToBeExecuted')
  await scheduler.schedule(mail, { key: 'daily', in: 0, requestRecovery: true })
  await scheduler.start()
  await begun
  if (isOther) await scheduler.schedule(other, { key: 'daily', in: '1d' })
  else await scheduler.deleteJob(jobKey('daily'))
  warnings.length = 0
  await scheduler.shutdown()
  expect(ends).toEqual([false])
  expect(warnings).toEqual([
    'Job DEFAULT.daily was interrupted and does not run again: it was deleted or replaced.',
  ])
})
