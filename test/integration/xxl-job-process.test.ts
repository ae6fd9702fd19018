import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createXxlJobExecutor, defineXxlJobWorker } from 'quartz-ts/xxl-job'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { lateWorkerEntry } from '../support/late-worker-entry.ts'
import { callExecutor, FakeAdmin, triggerBody } from '../support/xxl-job-admin.ts'

const script = fileURLToPath(new URL('../fixtures/xxl-job/process.mjs', import.meta.url))

interface Running {
  readonly child: ChildProcess
  readonly lines: AsyncIterator<string>
  readonly send: (logId: number, executorHandler: string, fields?: object) => Promise<unknown>
  readonly call: (target: string, body: object) => Promise<unknown>
}

async function startProcess(admin: FakeAdmin, logPath: string, more: object = {}): Promise<Running> {
  const options = JSON.stringify({ adminAddresses: admin.address, logPath, ...more })
  const child = spawn(process.execPath, [script, options], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const { value: address } = (await lines.next()) as { value: string }
  const call = async (target: string, body: object): Promise<unknown> => {
    return (await callExecutor(address, target, body)).json
  }
  const send = (logId: number, executorHandler: string, fields: object = {}): Promise<unknown> => {
    return call('/run', triggerBody(logId, { executorHandler, jobId: logId, ...fields }))
  }
  return { child, lines, call, send }
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'xxl-job-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

async function startAdmin(): Promise<FakeAdmin> {
  const admin = await new FakeAdmin().start()
  onTestFinished(() => admin.stop())
  return admin
}

describe('a process', () => {
  test('that is killed mid-run sends after its next start the results that it had', async () => {
    const [admin, logPath] = [await startAdmin(), temporaryFolder()]
    const first = await startProcess(admin, logPath)
    await admin.until(({ beats }) => beats.length > 0)
    admin.behaviour = (_request, response) => {
      response.destroy()
      return true
    }
    expect(await first.send(1, 'endless')).toMatchObject({ code: 200 })
    for (const logId of [2, 3]) expect(await first.send(logId, 'quick')).toMatchObject({ code: 200 })
    await admin.until(({ callbacks }) => callbacks.length > 0)
    const folder = join(logPath, 'callbacklogs', 'app-demo-executor')
    // The first result may be on its way while the second run still ends.
    const kept = (): readonly string[] => readdirSync(folder).filter((name) => name.endsWith('.json'))
    await vi.waitFor(
      () => {
        expect(kept().length).toBe(2)
      },
      { timeout: 30_000 },
    )
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    admin.behaviour = () => false
    await startProcess(admin, logPath)
    await admin.until(({ results }) => results.length === 2)
    expect(admin.results).toEqual([2, 3].map((logId) => ({ logId, code: 200, msg: 'done' })))
  })

  test('that is killed while it drops a queue has kept the result of each run whose end was told', async () => {
    const [admin, logPath] = [await startAdmin(), temporaryFolder()]
    const { child, call, send } = await startProcess(admin, logPath, { diesAtEnd: 120 })
    const exited = once(child, 'exit')
    await admin.until(({ beats }) => beats.length > 0)
    admin.behaviour = (_request, response) => {
      response.destroy()
      return true
    }
    const waiting = Array.from({ length: 300 }, (_, index) => index + 2)
    for (const logId of [1, ...waiting]) await send(logId, 'endless', { jobId: 1 })
    // The process may die before or after it has answered.
    await call('/kill', { jobId: 1 }).catch(() => {})
    await exited
    admin.behaviour = () => false
    await startProcess(admin, logPath)
    const folder = join(logPath, 'callbacklogs', 'app-demo-executor')
    await vi.waitFor(
      () => {
        expect(readdirSync(folder)).toEqual([])
      },
      { timeout: 30_000 },
    )
    const told = admin.results.map(({ logId }) => logId)
    expect(told.length).toBeGreaterThanOrEqual(120)
    expect(told).toEqual(waiting.slice(0, told.length))
  })

  test('that is asked to end has ended by its deadline, by itself, and every run has a result', async () => {
    const [admin, logPath] = [await startAdmin(), temporaryFolder()]
    const { child, lines, send } = await startProcess(admin, logPath)
    await send(1, 'endless')
    await send(2, 'endless', { jobId: 1 })
    await send(3, 'worker')
    await admin.resultOf(3)
    child.kill('SIGTERM')
    expect(await lines.next()).toMatchObject({ value: 'closed' })
    expect(await once(child, 'exit')).toEqual([0, null])
    const reason = 'web container destroy and kill the job.'
    expect((await admin.resultOf(1)).msg).toBe(`${reason} [job running, killed]`)
    expect((await admin.resultOf(2)).msg).toContain('[job not executed, in the job queue, killed.]')
    expect(admin.requests.some(({ path }) => path.endsWith('/registryRemove'))).toBe(true)
  })
})

test('a script that finds no file descriptors fails, and its executor goes on', async () => {
  const withoutDescriptors = fileURLToPath(new URL('../fixtures/xxl-job/no-descriptors.mjs', import.meta.url))
  // Few enough to be used up.
  const command = ['-c', 'ulimit -n 128 && exec "$@"', 'bash']
  const program = [process.execPath, withoutDescriptors, temporaryFolder()]
  const { stdout } = await promisify(execFile)('bash', [...command, ...program], { timeout: 60_000 })
  const failure = "500 the script was not started with 'bash': spawn bash EMFILE"
  expect(stdout.split('\n')).toEqual(['200 ', failure, '200 ', ''])
})

describe('handlers in worker modules (X24, X26)', () => {
  test('get the same context in their thread, log, and say how they end', async () => {
    const [admin, logPath] = [await startAdmin(), temporaryFolder()]
    const { send, call } = await startProcess(admin, logPath)
    await send(1, 'worker', { executorParams: 'a=1', broadcastIndex: 1, broadcastTotal: 3 })
    expect(await admin.resultOf(1)).toMatchObject({ code: 200, msg: 'a=1 2026-09-21T14:13:20.123Z' })
    const log = await call('/log', { logId: 1, logDateTim: 1_790_000_000_123, fromLineNum: 1 })
    expect(JSON.stringify(log)).toContain('in thread true: 1 of 3')
    await send(2, 'throws')
    expect(await admin.resultOf(2)).toMatchObject({ code: 500 })
    expect((await admin.resultOf(2)).msg).toMatch(/^RangeError: from the thread\n +at throws/)
  })

  test('that never end are ended by a timeout and a kill, and a thread that dies fails its run alone', async () => {
    const [admin, logPath] = [await startAdmin(), temporaryFolder()]
    const { send, call } = await startProcess(admin, logPath)
    await send(1, 'deaf', { executorTimeout: 1 })
    expect(await admin.resultOf(1)).toMatchObject({ code: 502 })
    await send(2, 'deaf')
    await call('/kill', { jobId: 2 })
    expect((await admin.resultOf(2)).msg).toBe('scheduling center kill job. [job running, killed]')
    await send(3, 'dies')
    expect(await admin.resultOf(3)).toMatchObject({ code: 500 })
    expect((await admin.resultOf(3)).msg).toContain('exited with code 3')
    await send(4, 'worker')
    expect(await admin.resultOf(4)).toMatchObject({ code: 200 })
  })

  test('run again once threads can start, after a warm start that failed', async () => {
    const { workerEntry, come } = lateWorkerEntry()
    const worker = new URL('../fixtures/xxl-job/worker.mjs', import.meta.url)
    const executor = createXxlJobExecutor({
      adminAddresses: (await startAdmin()).address,
      appName: 'demo-executor',
      accessToken: null,
      port: 0,
      logger: false,
      logPath: temporaryFolder(),
      threadPool: { size: 2, minThreads: 1, workerEntry },
      handlers: { worker: defineXxlJobWorker(worker) },
    })
    onTestFinished(() => executor.close({ timeoutMs: 0 }))
    await executor.start()
    const run = async (logId: number): Promise<number> => {
      const ended = executor.events.next('runEnded')
      const body = triggerBody(logId, { executorHandler: 'worker' })
      await callExecutor(executor.status().address ?? '', '/run', body)
      return (await ended).handleCode
    }
    expect(await run(1)).toBe(500)
    expect(await run(2)).toBe(500)
    come()
    expect(await run(3)).toBe(200)
  })
})
