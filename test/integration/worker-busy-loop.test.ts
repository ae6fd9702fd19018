import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScheduler, defineWorkerJob, piscinaThreadPool, systemClock } from 'quartz-ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Recorder, workerTask } from '../../src/testing/thread-pool/harness.ts'
import type { WorkerTask } from '../../src/threadpool/wire.ts'
import type { Clock } from '../../src/time/clock.ts'

const thread = new URL('../fixtures/workers/thread.mjs', import.meta.url)

let directory = ''
let path = ''

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'quartz-ts-busy-'))
  path = join(directory, 'mark')
})

/** Ends what a test has started, also when it fails. */
const endings: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of endings.splice(0)) await end()
  rmSync(directory, { recursive: true, force: true })
})

/** Keeps the event loop busy until the thread has sent what it had to send. */
function blockUntilMarked(): void {
  const endMs = systemClock.elapsedMs() + 20_000
  while (!existsSync(path)) if (systemClock.elapsedMs() > endMs) throw new Error('The thread made no file.')
}

/** A clock whose timers of one delay fire by hand only. */
class HandClock implements Clock {
  readonly #delayMs: number
  readonly #armed = new Set<() => void>()
  readonly now = (): number => systemClock.now()
  readonly elapsedMs = (): number => systemClock.elapsedMs()
  readonly setImmediate = (onFire: () => void): { cancel(): void } => systemClock.setImmediate(onFire)

  constructor(delayMs: number) {
    this.#delayMs = delayMs
  }

  setTimer(delayMs: number, onFire: () => void, options?: { unref?: boolean }): { cancel(): void } {
    if (delayMs !== this.#delayMs) return systemClock.setTimer(delayMs, onFire, options)
    const armed = (): void => {
      onFire()
    }
    this.#armed.add(armed)
    return { cancel: () => this.#armed.delete(armed) }
  }

  fire(): void {
    const armed = [...this.#armed]
    this.#armed.clear()
    for (const fire of armed) fire()
  }
}

const task = (exportName: string, waits = false): WorkerTask =>
  workerTask(thread.href, exportName, { mergedJobDataMap: { path, waits } })

describe('a limit that passes while the event loop is busy', () => {
  it('does not end the thread of a job that obeyed its interrupt in time', async () => {
    const pool = piscinaThreadPool({ size: 2, maxThreads: 1, concurrentTasksPerWorker: 2 })
    const clock = new HandClock(new Recorder().interruptGraceMs)
    await pool.initialize({ schedulerName: 'busy', clock, logger: console })
    endings.push(() => pool.shutdown({ waitForJobsToComplete: false }))
    const [interrupted, neighbour] = [new Recorder(), new Recorder()]
    const running = pool.runInWorker(task('endAndMark', true), neighbour)
    await neighbour.started
    const stopping = pool.runInWorker(task('endAndMark', true), interrupted)
    await interrupted.started
    interrupted.controller.abort()
    blockUntilMarked()
    clock.fire()
    expect((await stopping).result).toBe('ended')
    neighbour.controller.abort()
    expect((await running).result).toBe('ended')
  })

  it('does not fail a worker job that ended within its timeoutMs', async () => {
    const limitMs = 123_456
    const clock = new HandClock(limitMs)
    const job = defineWorkerJob('endAndMark', thread, { exportName: 'endAndMark', timeoutMs: limitMs })
    await using scheduler = await createScheduler({ jobs: [job], clock, logger: false })
    scheduler.events.on('jobProgress', () => {
      blockUntilMarked()
      clock.fire()
    })
    const executed = scheduler.events.next('jobWasExecuted')
    await scheduler.schedule(job, { in: 0, data: { path, waits: false } })
    await scheduler.start()
    const { context, error } = await executed
    expect([context.result, error]).toEqual(['ended', null])
  })
})
