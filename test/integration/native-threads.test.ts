import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createScheduler,
  defineWorkerJob,
  JobBuilder,
  jobKey,
  type Logger,
  type Scheduler,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from 'quartz-ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { Recorder, workerTask } from '../../src/testing/thread-pool/harness.ts'
import { resolvePiscinaOptions } from '../../src/threadpool/piscina-options.ts'
import type { StuckThread } from '../../src/threadpool/thread-pool.ts'
import { exitTimeoutMs } from '../../src/threadpool/thread-roster.ts'
import type * as Threads from '../../src/threadpool/worker-threads.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const native = new URL('../fixtures/workers/native.mjs', import.meta.url)

/** The test's end of what `native.mjs` waits for. */
class NativeWait {
  readonly #directory = mkdtempSync(join(tmpdir(), 'quartz-native-'))
  readonly data = {
    begun: join(this.#directory, 'begun'),
    released: join(this.#directory, 'released'),
    notes: join(this.#directory, 'notes'),
  }

  constructor() {
    execFileSync('mkfifo', [this.data.begun, this.data.released])
  }

  get notes(): string[] {
    return readFileSync(this.data.notes, 'utf8').trim().split('\n')
  }

  /** Resolves once a job is in native code. */
  async begun(): Promise<void> {
    await readFile(this.data.begun)
  }

  /** Lets the job go on that is there. */
  async release(): Promise<void> {
    await writeFile(this.data.released, 'go on\n')
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true })
  }
}

let waiting: NativeWait
let schedulers: Scheduler[] = []

beforeEach(() => {
  waiting = new NativeWait()
})

afterEach(async () => {
  for (const scheduler of schedulers) await scheduler.shutdown()
  schedulers = []
  waiting.remove()
})

/** A scheduler whose job waits natively, twice. */
async function start(): Promise<{ scheduler: Scheduler; executed: (string | undefined)[] }> {
  const job = defineWorkerJob('wait', native, { exportName: 'wait', disallowConcurrentExecution: true })
  const scheduler = await createScheduler({ jobs: [job], threadPool: { size: 2 }, interruptGraceMs: 0 })
  schedulers.push(scheduler)
  const executed: (string | undefined)[] = []
  scheduler.events.on('jobWasExecuted', ({ error }) => executed.push(error?.code))
  await scheduler.scheduleJob(
    JobBuilder.newJob(job).withIdentity('native').usingJobData(waiting.data).build(),
    TriggerBuilder.newTrigger()
      .withSchedule(SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(10).withRepeatCount(1))
      .build(),
  )
  await scheduler.start()
  await waiting.begun()
  return { scheduler, executed }
}

describe('a job whose thread is terminated in native code', () => {
  it('has not ended before the thread has exited: its slot and job stay taken, and an event names both', async () => {
    const { scheduler, executed } = await start()
    const [context] = scheduler.getCurrentlyExecutingJobs()
    const stuck = scheduler.events.next('workerThreadStuck')
    await scheduler.interrupt(jobKey('native'))
    expect(await stuck).toEqual({
      threadId: expect.any(Number) as number,
      waitedMs: exitTimeoutMs,
      executions: [{ jobKey: jobKey('native'), fireInstanceId: context?.fireInstanceId }],
    })
    expect(executed).toEqual([])
    expect(scheduler.getCurrentlyExecutingJobs()).toEqual([context])
    expect(waiting.notes).toEqual(['begin'])

    const last = scheduler.events.next('triggerFinalized')
    await waiting.release()
    await waiting.begun()
    expect(executed).toEqual(['ERR_JOB_INTERRUPTED'])
    expect(waiting.notes).toEqual(['begin', 'end', 'begin'])
    await waiting.release()
    await last
    expect(executed).toEqual(['ERR_JOB_INTERRUPTED', undefined])
  })

  it('is named with an error code when jobs wait and all threads are like that', async () => {
    const job = defineWorkerJob('wait', native, { exportName: 'wait' })
    const scheduler = await createScheduler({
      jobs: [job],
      threadPool: { size: 2, maxThreads: 1 },
      interruptGraceMs: 0,
      logger: false,
    })
    schedulers.push(scheduler)
    const detail = JobBuilder.newJob(job)
      .withIdentity('native')
      .usingJobData(waiting.data)
      .storeDurably()
      .build()
    await scheduler.addJob(detail)
    await scheduler.start()
    await scheduler.triggerJob(detail.key)
    await waiting.begun()
    const [context] = scheduler.getCurrentlyExecutingJobs()
    const told = scheduler.events.next('schedulerError')
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.interrupt({ fireInstanceId: context?.fireInstanceId ?? '' })
    await scheduler.triggerJob(detail.key)
    expect((await told).error).toMatchObject({ code: 'ERR_WORKER_THREADS_STUCK' })
    await waiting.release()
    expect((await ended).error?.code).toBe('ERR_JOB_INTERRUPTED')
    // The one that waited.
    await waiting.begun()
    await waiting.release()
  })

  it('does not keep a shutdown with a deadline from ending', async () => {
    const { scheduler, executed } = await start()
    await scheduler.interrupt(jobKey('native'))
    await scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 100 })
    expect(executed).toEqual([])
    const ended = scheduler.events.next('jobWasExecuted')
    await waiting.release()
    await ended
  })
})

interface PoolThreads {
  readonly threads: Threads.WorkerThreads
  readonly clock: ManualClock
  readonly stuck: StuckThread[]
  readonly logged: string[]
}

/** The threads of a pool with one clock for them and for their jobs, as only a test has. */
async function open(maxThreads: number): Promise<PoolThreads> {
  const dist = new URL('../../dist/internal-for-tests.js', import.meta.url).href
  const { WorkerThreads } = (await import(dist)) as typeof Threads
  const clock = new ManualClock()
  const stuck: StuckThread[] = []
  const logged: string[] = []
  const log = (_fields: object, message: string): void => void logged.push(message)
  const logger: Logger = { ...silentLogger, info: log, warn: log, error: log }
  const context = {
    schedulerName: 'native',
    clock,
    logger,
    threadStuck: (thread: StuckThread) => stuck.push(thread),
  }
  const threads = await WorkerThreads.open(resolvePiscinaOptions({ size: 3, maxThreads }), context, clock)
  return { threads, clock, stuck, logged }
}

const task = (exportName: string): ReturnType<typeof workerTask> =>
  workerTask(native.href, exportName, { mergedJobDataMap: waiting.data })
const describeThread = workerTask(
  new URL('../fixtures/workers/thread.mjs', import.meta.url).href,
  'describeThread',
)

describe('threads that are terminated in native code', () => {
  it('are told once, count among maxThreads until they exit, and then make room', async () => {
    const { threads, clock, stuck, logged } = await open(2)
    const recorder = new Recorder()
    const failure = threads.run(task('wait'), recorder).catch((error: unknown) => error)
    await waiting.begun()
    recorder.controller.abort()
    await clock.advance(recorder.interruptGraceMs)
    await clock.advance(exitTimeoutMs - 1)
    expect(stuck).toEqual([])
    await clock.advance(1)
    const [threadId, executions] = [stuck[0]?.threadId, [{ job: { name: 'job', group: 'jobs' } }]]
    expect(stuck).toMatchObject([{ threadId, executions, waitedMs: exitTimeoutMs }])
    await clock.advance(10 * exitTimeoutMs)
    expect(stuck).toHaveLength(1)

    // One thread is left, for both.
    const others = [threads.run(describeThread, new Recorder()), threads.run(describeThread, new Recorder())]
    const ids = (await Promise.all(others)).map(({ result }) => (result as { threadId: number }).threadId)
    expect(new Set(ids).size).toBe(1)
    expect(ids).not.toContain(threadId)

    await waiting.release()
    expect(await failure).toMatchObject({ code: 'ERR_JOB_INTERRUPTED' })
    expect(logged).toEqual([expect.stringMatching(/does not exit/), expect.stringMatching(/has exited/)])
    await threads.close()
    expect(clock.timerCount).toBe(0)
  })

  it('keep a task waiting when there may be no other thread, until they exit, and one error says so', async () => {
    const { threads, clock, logged } = await open(1)
    const recorder = new Recorder()
    const failure = threads.run(task('wait'), recorder).catch((error: unknown) => error)
    await waiting.begun()
    recorder.controller.abort()
    await clock.advance(recorder.interruptGraceMs)
    let settled = false
    const next = threads.run(describeThread, new Recorder()).finally(() => {
      settled = true
    })
    await clock.advance(exitTimeoutMs - 1)
    expect(logged).toEqual([])
    await clock.advance(exitTimeoutMs)
    expect(settled).toBe(false)
    const further = threads.run(describeThread, new Recorder())
    expect(logged).toEqual([
      expect.stringMatching(/does not exit/),
      expect.stringMatching(/^Worker jobs wait \(1 by now\), and all 1 threads/),
    ])
    await waiting.release()
    expect(await failure).toMatchObject({ code: 'ERR_JOB_INTERRUPTED' })
    await further
    expect((await next).result).toMatchObject({ threadId: expect.any(Number) as number })
    await threads.close()
  })

  it('are not waited for without end when the pool closes', async () => {
    const { threads, clock, stuck } = await open(1)
    await threads.run(task('waitLater'), new Recorder())
    await waiting.begun()
    const closed = threads.close()
    await clock.advance(exitTimeoutMs)
    await closed
    expect(stuck).toMatchObject([{ executions: [] }])
    await waiting.release()
  })
})
