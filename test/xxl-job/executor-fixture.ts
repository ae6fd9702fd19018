import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ManualClock } from '../../src/testing.ts'
import { createXxlJobExecutor, type XxlJobExecutor, type XxlJobExecutorOptions } from '../../src/xxl-job.ts'
import { callExecutor, type ExecutorAnswer, FakeAdmin, triggerBody } from '../support/xxl-job-admin.ts'

export interface Rig {
  readonly admin: FakeAdmin
  readonly executor: XxlJobExecutor
  readonly logPath: string
  /** Sends a run as an admin does. */
  readonly run: (logId: number, fields?: object) => Promise<ExecutorAnswer['json']>
  /** Sends a run, and waits until the executor knows that the admin has its result. */
  readonly runToEnd: (logId: number, fields?: object) => Promise<void>
  readonly call: (target: string, body: string | object) => Promise<ExecutorAnswer['json']>
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'xxl-job-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

export async function startedAdmin(
  options: ConstructorParameters<typeof FakeAdmin>[0] = {},
): Promise<FakeAdmin> {
  const admin = await new FakeAdmin(options).start()
  onTestFinished(() => admin.stop())
  return admin
}

/** A started executor under one fake admin; both end with the test. */
export async function startRig(
  options: Partial<XxlJobExecutorOptions> = {},
  admin?: FakeAdmin,
): Promise<Rig> {
  const own = admin ?? (await startedAdmin())
  const logPath = options.logPath ?? temporaryFolder()
  const executor = createXxlJobExecutor({
    adminAddresses: own.address,
    appName: 'demo-executor',
    accessToken: null,
    port: 0,
    logger: false,
    ...options,
    logPath,
  })
  onTestFinished(() => executor.close({ timeoutMs: 0 }))
  await executor.start()
  const call = async (target: string, body: string | object): Promise<ExecutorAnswer['json']> => {
    const address = executor.status().address ?? ''
    return (await callExecutor(address, target, body)).json
  }
  return {
    admin: own,
    executor,
    logPath,
    call,
    run: (logId, fields) => call('/run', triggerBody(logId, fields)),
    runToEnd: async (logId, fields) => {
      const sent = executor.events.next('resultsSent', ({ logIds }) => logIds.includes(logId))
      await call('/run', triggerBody(logId, fields))
      await sent
    },
  }
}

/** Moves the clock on, and gives requests that are on their way their time, until the condition holds. */
export async function advanceUntil(clock: ManualClock, holds: () => boolean): Promise<void> {
  while (!holds()) {
    await clock.advance(1000)
    for (let turn = 0; turn < 200 && !holds(); turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}
