import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createScheduler, JobBuilder, jobKey } from '../../src/index.ts'
import { ManualClock } from '../../src/testing.ts'
import { createXxlJobAdmin, type XxlJobRunOptions, xxlJob } from '../../src/xxl-job.ts'

/** An executor that answers all it is asked, or nothing, and tells who was asked for what. */
async function executor(asked: (path: string) => void, answers: boolean): Promise<string> {
  const server = createServer((request, response) => {
    asked(request.url ?? '')
    request.resume()
    if (answers) response.end('{"code":200,"msg":null}')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** An admin whose first executors are silent, and whose others answer. */
async function open(silent: number, answering: number) {
  const clock = new ManualClock()
  const asked: string[] = []
  let wake = (): void => {}
  const executors = await Promise.all(
    Array.from({ length: silent + answering }, (_, at) =>
      executor((path) => {
        asked.push(`${at}${path}`)
        wake()
      }, at >= silent),
    ),
  )
  const admin = createXxlJobAdmin({
    accessToken: null,
    logger: false,
    clock,
    executors: { billing: executors },
  })
  onTestFinished(() => admin.close())
  const untilAsked = async (count: number): Promise<void> => {
    while (asked.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { admin, clock, asked, executors, untilAsked }
}

describe.each([
  ['FAILOVER', '/beat'],
  ['BUSYOVER', '/idleBeat'],
] as const)('executors that do not answer, asked by %s', (route, path) => {
  const job: XxlJobRunOptions = {
    appName: 'billing',
    jobId: 17,
    handler: 'demo',
    route,
    resultTimeoutMs: 2000,
  }

  test('take no more time than the run has, and are named', async () => {
    const { admin, clock, asked, executors, untilAsked } = await open(3, 0)
    const refused = expect(admin.run(job)).rejects.toMatchObject({
      code: 'ERR_XXL_JOB_RUN',
      message: expect.stringMatching(
        new RegExp(`within 2000 ms .*; 1 were asked. Without an answer: ${executors[0]}.$`),
      ) as string,
    })
    await untilAsked(1)
    await clock.advance(2000)
    await refused
    expect(asked).toEqual([`0${path}`])
  })

  test('are asked last for 30 seconds, and the time that they took is part of that of the run', async () => {
    const { admin, clock, asked, untilAsked } = await open(1, 1)
    const longer = admin.run({ ...job, resultTimeoutMs: 5000 })
    const ended = expect(longer).rejects.toMatchObject({ code: 'ERR_XXL_JOB_NO_RESULT' })
    await untilAsked(1)
    await clock.advance(3000)
    await untilAsked(3)
    expect(asked).toEqual([`0${path}`, `1${path}`, '1/run'])
    await clock.advance(2000)
    await ended
    // The one that answers is asked first.
    const second = expect(admin.run(job)).rejects.toMatchObject({ code: 'ERR_XXL_JOB_NO_RESULT' })
    await untilAsked(5)
    expect(asked.slice(3)).toEqual([`1${path}`, '1/run'])
    await clock.advance(2000)
    await second
    await clock.advance(30_000)
    const third = expect(admin.run(job)).rejects.toMatchObject({ code: 'ERR_XXL_JOB_RUN' })
    await untilAsked(6)
    expect(asked.slice(5)).toEqual([`0${path}`])
    await clock.advance(2000)
    await third
  })

  test('take their time from that of a stored run as well', async () => {
    const { admin, clock, asked, untilAsked } = await open(1, 1)
    const stored = xxlJob('stored', {
      admin,
      appName: 'billing',
      jobId: 17,
      handler: 'demo',
      route,
      resultTimeoutMs: 5000,
    })
    const key = jobKey('stored')
    const scheduler = await createScheduler({ clock, logger: false, jobs: [stored] })
    onTestFinished(() => scheduler.shutdown())
    const told: string[] = []
    scheduler.events.on('jobWasExecuted', ({ error }) => told.push(error?.code ?? 'succeeded'))
    await scheduler.start()
    await scheduler.addJob(JobBuilder.newJob(stored).withIdentity(key).storeDurably().build())
    await scheduler.triggerJob(key)
    await untilAsked(1)
    await clock.advance(3000)
    await untilAsked(3)
    expect(asked).toEqual([`0${path}`, `1${path}`, '1/run'])
    await clock.advance(1999)
    expect(told).toEqual([])
    await clock.advance(1)
    await scheduler.idle()
    expect(told).toEqual(['ERR_JOB_TIMEOUT'])
  })
})
