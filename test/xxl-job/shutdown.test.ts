import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import type { XxlJobContext } from '../../src/xxl-job.ts'
import { latch } from '../support/latch.ts'
import { advanceUntil, startRig } from './executor-fixture.ts'

describe('close', () => {
  test('takes the executor off the list, runs what it has, and sends the results', async () => {
    const { promise, open } = latch()
    const { run, call, admin, executor } = await startRig({ handlers: { demo: () => promise } })
    await run(1)
    await run(2)
    const closed = executor.close()
    await admin.until(({ requests }) => requests.some(({ path }) => path.endsWith('/registryRemove')))
    expect(executor.status().state).toBe('closing')
    for (const [path, body] of [
      ['/beat', ''],
      ['/idleBeat', { jobId: 5 }],
    ] as const) {
      expect(await call(path, body)).toMatchObject({ code: 500, msg: 'the executor shuts down.' })
    }
    expect(await run(3)).toMatchObject({ code: 500, msg: 'the executor shuts down.' })
    expect(await call('/log', { logId: 1, logDateTim: 1_790_000_000_123 })).toMatchObject({ code: 200 })
    open()
    await closed
    expect(admin.results.map(({ logId, code }) => [logId, code])).toEqual([
      [1, 200],
      [2, 200],
    ])
    expect(executor.status()).toMatchObject({ state: 'closed', waitingResults: 0 })
  })

  test('kills at its deadline what takes too long, and waits no longer for what ignores that', async () => {
    const clock = new ManualClock()
    const ignored = latch()
    const handlers = {
      obedient: ({ signal }: XxlJobContext) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
        }),
      deaf: () => ignored.promise,
    }
    const { run, admin, executor } = await startRig({ handlers, clock })
    await run(1, { jobId: 1, executorHandler: 'obedient' })
    await run(2, { jobId: 1, executorHandler: 'obedient' })
    await run(3, { jobId: 3, executorHandler: 'deaf' })
    const closed = executor.close({ timeoutMs: 20_000 })
    await admin.until(({ requests }) => requests.some(({ path }) => path.endsWith('/registryRemove')))
    await clock.advance(19_999)
    expect(admin.results).toEqual([])
    const sent = executor.events.next('resultsSent', ({ logIds }) => logIds.includes(1))
    await clock.advance(1)
    await sent
    const reason = 'web container destroy and kill the job.'
    expect((await admin.resultOf(1)).msg).toBe(`${reason} [job running, killed]`)
    expect((await admin.resultOf(2)).msg).toBe(`${reason} [job not executed, in the job queue, killed.]`)
    await clock.advance(5000)
    await closed
    expect(await admin.resultOf(3)).toMatchObject({ code: 500, msg: `${reason} [job running, killed]` })
    ignored.open()
    await clock.settle()
    expect(admin.results).toHaveLength(3)
  })

  test('ends soon while no admin is there; the results stay on disk', async () => {
    const { run, admin, executor } = await startRig({ handlers: { demo: () => {} } })
    await admin.until(({ beats }) => beats.length === 1)
    await admin.stop()
    const waiting = executor.events.next('resultsWaiting')
    await run(1)
    await waiting
    await executor.close()
    expect(executor.status()).toMatchObject({ state: 'closed', waitingResults: 1 })
  })

  test('may be called again and before the start; after it there is no start', async () => {
    const { executor } = await startRig()
    await expect(executor.start()).rejects.toMatchObject({ code: 'ERR_XXL_JOB_EXECUTOR' })
    await Promise.all([executor.close(), executor.close()])
    await executor.close()
    await expect(executor.start()).rejects.toMatchObject({ code: 'ERR_XXL_JOB_EXECUTOR' })
  })

  test('waits two seconds for a request that does not come in to its end', async () => {
    const clock = new ManualClock()
    const { admin, executor } = await startRig({ clock })
    await admin.until(({ beats }) => beats.length === 1)
    const { hostname, port } = new URL(executor.status().address ?? '')
    const half = connect(Number(port), hostname)
    onTestFinished(() => {
      half.destroy()
    })
    half.write('POST /beat HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\n')
    // That the executor goes on with it says that it has begun.
    await once(half, 'data')
    const ended = once(half, 'close')
    const closed = executor.close()
    await advanceUntil(clock, () => half.closed)
    await ended
    await closed
    expect(executor.status().state).toBe('closed')
    expect(clock.timerCount).toBe(0)
  })

  test('leaves no timer', async () => {
    const clock = new ManualClock()
    const { runToEnd, executor } = await startRig({ handlers: { demo: () => {} }, clock })
    await runToEnd(1)
    await executor.close()
    expect(clock.timerCount).toBe(0)
  })
})
