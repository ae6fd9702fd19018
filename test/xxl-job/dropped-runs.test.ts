import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { XxlJobContext, XxlJobExecutor, XxlJobExecutorOptions } from '../../src/xxl-job.ts'
import { triggerBody } from '../support/xxl-job-admin.ts'
import { type Rig, startedAdmin, startRig, temporaryFolder } from './executor-fixture.ts'

const waitingRuns = 1000
const waitingIds = Array.from({ length: waitingRuns }, (_, index) => index + 2)
const dropped = (reason: string): object => ({
  code: 500,
  msg: `${reason} [job not executed, in the job queue, killed.]`,
})
const killReason = 'scheduling center kill job.'

/** Ends when it is asked to, or as run 5000 and above at once. */
const demo = ({ logId, signal }: XxlJobContext): Promise<void> | undefined => {
  if (logId >= 5000) return undefined
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error)
    })
  })
}

/** Asks without a network, so that little else happens in the turns that it takes. */
async function ask(executor: XxlJobExecutor, path: string, body: object): Promise<unknown> {
  const request = new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) })
  return (await executor.fetch(request)).json()
}

/** The most runs that ended in one turn of the event loop. */
function mostInOneTurn(executor: XxlJobExecutor): () => number {
  let [most, now] = [0, 0]
  executor.events.on('runEnded', () => {
    if (now++ === 0) {
      setImmediate(() => {
        now = 0
      })
    }
    most = Math.max(most, now)
  })
  return () => most
}

/** Run 1 runs, and a thousand wait behind it. */
async function startFull(options: Partial<XxlJobExecutorOptions> = {}, admin?: Rig['admin']) {
  const rig = await startRig({ handlers: { demo }, ...options }, admin)
  const { executor } = rig
  for (const logId of [1, ...waitingIds]) await ask(executor, '/run', triggerBody(logId))
  const ended: number[] = []
  executor.events.on('runEnded', ({ logId }) => {
    ended.push(logId)
  })
  const most = mostInOneTurn(executor)
  const allEnded = async (count: number): Promise<void> => {
    while (ended.length < count) await executor.events.next('runEnded')
  }
  return { ...rig, ended, most, allEnded }
}

const folderOf = (logPath: string): string => join(logPath, 'callbacklogs', 'app-demo-executor')

/** How many results are on disk. */
function keptIn(logPath: string): number {
  const texts = readdirSync(folderOf(logPath)).map((name) =>
    readFileSync(join(folderOf(logPath), name), 'utf8'),
  )
  return texts.flatMap((text): unknown => JSON.parse(text)).length
}

describe('a thousand runs that are dropped', () => {
  test('by a kill end some at a time, after it is answered; what comes meanwhile runs, once', async () => {
    const { executor, admin, call, ended, most } = await startFull()
    expect(await ask(executor, '/kill', { jobId: 17 })).toMatchObject({ code: 200, msg: 'Success' })
    expect(ended.length).toBeLessThan(waitingRuns / 2)
    expect(await ask(executor, '/kill', { jobId: 17 })).toMatchObject({ msg: 'job thread already killed.' })
    expect(await ask(executor, '/idleBeat', { jobId: 17 })).toMatchObject({ code: 200 })
    expect(await ask(executor, '/run', triggerBody(waitingRuns))).toMatchObject({
      code: 500,
      msg: `repeat trigger job, logId:${waitingRuns}`,
    })
    for (const logId of [5000, 5001]) {
      expect(await ask(executor, '/run', triggerBody(logId))).toMatchObject({ code: 200 })
    }
    expect(ended.length).toBeLessThan(waitingRuns)
    await admin.until(({ results }) => results.length >= waitingRuns + 3)
    expect(most()).toBeLessThanOrEqual(50)
    expect(admin.results).toHaveLength(waitingRuns + 3)
    const resultOf = new Map(admin.results.map(({ logId, code, msg }) => [logId, { code, msg }]))
    for (const logId of waitingIds) expect(resultOf.get(logId)).toEqual(dropped(killReason))
    expect(resultOf.get(1)).toEqual({ code: 500, msg: `${killReason} [job running, killed]` })
    for (const logId of [5000, 5001]) expect(resultOf.get(logId)).toMatchObject({ code: 200 })
    const inOrder = admin.results.map(({ logId }) => logId).filter((logId) => waitingIds.includes(logId))
    expect(inOrder).toEqual(waitingIds)
    const log = await call('/log', { logId: waitingRuns, logDateTim: 1_790_000_000_123, fromLineNum: 1 })
    expect(JSON.stringify(log.data)).toContain('the run does not begin')
  })

  test('by COVER_EARLY hold up neither the answer nor the run that covers them', async () => {
    const { executor, admin, ended, most } = await startFull()
    const cover = triggerBody(5000, { executorBlockStrategy: 'COVER_EARLY' })
    const begins = executor.events.next('runStarted')
    expect(await ask(executor, '/run', cover)).toMatchObject({ code: 200 })
    await begins
    expect(ended.length).toBeLessThan(waitingRuns / 2)
    await admin.until(({ results }) => results.length >= waitingRuns + 2)
    expect(most()).toBeLessThanOrEqual(50)
    expect(admin.results).toHaveLength(waitingRuns + 2)
    const covered = admin.results.filter(({ msg }) => msg.includes('not executed'))
    expect(covered.map(({ logId }) => logId)).toEqual(waitingIds)
    expect(await admin.resultOf(5000)).toMatchObject({ code: 200 })
  })

  test('by a close have their results when it is over; the disk keeps those that no admin takes', async () => {
    const [admin, logPath] = [await startedAdmin(), temporaryFolder()]
    const first = await startFull({ logPath }, admin)
    await admin.stop()
    await first.executor.close({ timeoutMs: 0 })
    expect(first.most()).toBeLessThanOrEqual(50)
    expect(first.ended.toSorted((a, b) => a - b)).toEqual([1, ...waitingIds])
    expect(first.executor.status().waitingResults).toBe(waitingRuns + 1)
    // One write to the disk for many of them.
    expect(readdirSync(folderOf(logPath)).length).toBeLessThan(waitingRuns / 20)
    await admin.start()
    const { executor } = await startRig({ handlers: { demo }, logPath }, admin)
    while (executor.status().waitingResults > 0) await executor.events.next('resultsSent')
    expect(admin.results.map(({ logId }) => logId).toSorted((a, b) => a - b)).toEqual([1, ...waitingIds])
    expect(readdirSync(folderOf(logPath))).toEqual([])
  })

  test('are on disk when a listener hears of their ends, and count as results that wait', async () => {
    const [admin, logPath] = [await startedAdmin(), temporaryFolder()]
    const { executor, allEnded } = await startFull({ logPath, maxResults: waitingRuns }, admin)
    await admin.stop()
    const kept: number[] = []
    let ends = 0
    executor.events.on('runEnded', () => {
      if (ends++ % 100 === 0) kept.push(keptIn(logPath) - ends)
    })
    await ask(executor, '/kill', { jobId: 17 })
    expect(await ask(executor, '/run', triggerBody(5000))).toMatchObject({
      code: 500,
      msg: expect.stringContaining('(maxResults)') as string,
    })
    await allEnded(waitingRuns + 1)
    expect(Math.min(...kept)).toBeGreaterThanOrEqual(0)
  })

  test('while the disk takes no results share files when it takes them again', async () => {
    const [admin, logPath] = [await startedAdmin(), temporaryFolder()]
    const first = await startFull({ logPath }, admin)
    await admin.stop()
    // A file where the folder was: nothing can be written into it.
    rmSync(folderOf(logPath), { recursive: true })
    writeFileSync(folderOf(logPath), '')
    await ask(first.executor, '/kill', { jobId: 17 })
    await first.allEnded(waitingRuns + 1)
    rmSync(folderOf(logPath))
    mkdirSync(folderOf(logPath))
    await first.executor.close({ timeoutMs: 0 })
    expect(keptIn(logPath)).toBe(waitingRuns + 1)
    expect(readdirSync(folderOf(logPath)).length).toBeLessThan(waitingRuns / 20)
    await admin.start()
    const { executor } = await startRig({ handlers: { demo }, logPath }, admin)
    while (executor.status().waitingResults > 0) await executor.events.next('resultsSent')
    expect(admin.results.map(({ logId }) => logId).toSorted((a, b) => a - b)).toEqual([1, ...waitingIds])
    expect(readdirSync(folderOf(logPath))).toEqual([])
  })
})
