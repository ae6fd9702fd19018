import assert from 'node:assert/strict'
import { JobExecutionError, SchedulerError } from '../../core/errors.ts'
import { moduleBeside } from '../../core/package-files.ts'
import type { ThreadPool } from '../../threadpool/thread-pool.ts'
import type { WorkerTask, WorkerTaskResult } from '../../threadpool/wire.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { type PoolUnderTest, Recorder, workerTask } from './harness.ts'
import { poolCases } from './slot-cases.ts'

type Body = (underTest: PoolUnderTest) => Promise<void>

const moduleUrl = moduleBeside(import.meta.url, './worker-jobs', 'testing/thread-pool/worker-jobs').href

/** How a pool without threads refuses worker jobs. */
export function noWorkerCases(create: (size: number) => ThreadPool): ConformanceCase[] {
  return poolCases('worker jobs', create, {
    'a pool without threads refuses them and says which pool takes them': async ({ pool }) => {
      assert.equal(pool.runsWorkerJobs, false)
      const refused = { code: 'ERR_WORKER_UNAVAILABLE', message: /piscinaThreadPool/ }
      await assert.rejects(pool.runInWorker(workerTask(moduleUrl, 'count'), new Recorder()), refused)
      assert.throws(() => {
        pool.checkWorkerModule(moduleUrl)
      }, refused)
    },
  })
}

/** The behaviour of a pool with threads. */
export function workerCases(create: (size: number) => ThreadPool): ConformanceCase[] {
  return [
    ...poolCases('worker jobs', create, results),
    ...poolCases('worker job errors', create, errors),
    ...poolCases('worker job interrupts', create, interrupts),
    ...poolCases('worker deaths', create, deaths),
  ]
}

function run(
  { pool }: PoolUnderTest,
  exportName: string,
  fields: Partial<WorkerTask> = {},
  recorder: Recorder = new Recorder(),
): Promise<WorkerTaskResult> {
  return pool.runInWorker(workerTask(moduleUrl, exportName, fields), recorder)
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new assert.AssertionError({ message: 'the worker job should have failed' })
}

/** The pool still works after the case. */
async function assertAlive(test: PoolUnderTest): Promise<void> {
  const { jobDataMap } = await run(test, 'count')
  assert.deepEqual(jobDataMap, { count: 1 })
}

const results: Record<string, Body> = {
  'the job sees its whole context': async (test) => {
    assert.equal(test.pool.runsWorkerJobs, true)
    const { result } = await run(test, 'describeContext', {
      jobDataMap: { own: 1 },
      mergedJobDataMap: { merged: [{ deep: true }] },
      recovering: true,
      refireCount: 2,
      attempt: 3,
      shard: { item: 1, total: 4, parameter: 'north', firingId: 'firing-0' },
    })
    assert.deepEqual(result, {
      jobKey: 'jobs.job',
      triggerKey: 'triggers.trigger',
      fireInstanceId: 'firing-1',
      mergedJobDataMap: { merged: [{ deep: true }] },
      jobDataMap: { own: 1 },
      times: ['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:00.990Z', undefined, '1970-01-01T00:00:02.000Z'],
      recovering: true,
      refireCount: 2,
      attempt: 3,
      shard: { item: 1, total: 4, parameter: 'north', firingId: 'firing-0' },
      aborted: false,
    })
  },

  'changes to the job data come back, those to the merged data do not': async (test) => {
    const task = { jobDataMap: { count: 4, kept: 'a' }, mergedJobDataMap: { count: 4 } }
    const { result, jobDataMap } = await run(test, 'count', task)
    assert.equal(result, undefined)
    assert.deepEqual(jobDataMap, { count: 5, kept: 'a' })
    assert.deepEqual(task.jobDataMap, { count: 4, kept: 'a' })
  },

  'progress and log lines arrive in order before the job ends': async (test) => {
    const recorder = new Recorder()
    const { result } = await run(test, 'report', {}, recorder)
    assert.equal(result, 'reported')
    const [, , second] = recorder.reports as { fields: { err?: unknown } }[]
    assert(second?.fields.err instanceof RangeError)
    assert.equal(second.fields.err.message, 'out of range')
    second.fields = {}
    assert.deepEqual(recorder.reports, [
      { progress: { done: 1 } },
      { level: 'debug', fields: { step: 1 }, message: 'one' },
      { level: 'info', fields: {}, message: 'two' },
      { level: 'warn', fields: { run: '[a function]' }, message: 'three' },
      { progress: { done: 2 } },
      { level: 'error', fields: {}, message: 'four' },
    ])
  },

  'a handler that throws is logged and does not disturb the job': async (test) => {
    const recorder = new Recorder()
    recorder.onProgress = () => {
      throw new Error('listener')
    }
    const { result } = await run(test, 'report', {}, recorder)
    assert.equal(result, 'reported')
    assert.equal(test.errors.length, 2)
  },

  'tasks side by side keep their messages and data apart': async (test) => {
    const runs = Array.from({ length: 20 }, async (_, index) => {
      const { jobDataMap } = await run(test, 'count', {
        fireInstanceId: `firing-${index}`,
        jobDataMap: { count: index },
      })
      assert.deepEqual(jobDataMap, { count: index + 1 })
    })
    await Promise.all(runs)
  },
}

const errors: Record<string, Body> = {
  'an error keeps name, message, stack, code, fields and causes': async (test) => {
    const error = await failureOf(run(test, 'fail', { mergedJobDataMap: { kind: 'custom' } }))
    assert(error instanceof Error)
    const { name, message, stack } = error
    assert.deepEqual({ name, message }, { name: 'CustomError', message: 'above' })
    assert.match(String(stack), /worker-jobs/)
    assert.deepEqual(Object.fromEntries(Object.entries(error)), {
      code: 'E_CUSTOM',
      detail: { list: [1] },
      errors: [{ path: 'age', message: 'must be a number' }],
      callback: '[a function]',
    })
    assert(error.cause instanceof TypeError)
    assert.equal(error.cause.message, 'below')
    assert.deepEqual(Object.entries(error.cause), [['at', 'the root']])
  },

  'a JobExecutionError comes back as one, with its flags': async (test) => {
    const error = await failureOf(run(test, 'fail', { mergedJobDataMap: { kind: 'steering' } }))
    assert(error instanceof JobExecutionError)
    assert(SchedulerError.is(error))
    const { name, message, code } = error
    assert.deepEqual([name, message, code], ['JobExecutionError', 'stop it', 'ERR_JOB_EXECUTION'])
    const { giveUp, refireImmediately, unscheduleAllTriggers, unscheduleFiringTrigger } = error
    assert.deepEqual(
      { giveUp, refireImmediately, unscheduleAllTriggers, unscheduleFiringTrigger },
      { giveUp: true, refireImmediately: false, unscheduleAllTriggers: true, unscheduleFiringTrigger: false },
    )
    assert.equal((error.cause as Error).message, 'why')
  },

  'changes to the job data come back when the job fails, too': async (test) => {
    const task = { jobDataMap: { count: 4, kept: 'a' }, mergedJobDataMap: {} }
    const recorder = new Recorder()
    await failureOf(run(test, 'failAfterCount', task, recorder))
    assert.deepEqual(recorder.reports, [{ jobDataMap: { count: 5, kept: 'a' } }])
    const silent = new Recorder()
    await failureOf(run(test, 'fail', task, silent))
    await failureOf(run(test, 'uncloneable', { mergedJobDataMap: { where: 'jobDataMap' } }, silent))
    assert.deepEqual(silent.reports, [])
  },

  'why job data cannot be stored comes back, whether the job fails or not': async (test) => {
    const left = new Recorder()
    assert.deepEqual((await run(test, 'unstorable', {}, left)).jobDataMap, { count: 1 })
    const failed = new Recorder()
    await failureOf(run(test, 'unstorable', { mergedJobDataMap: { fails: true } }, failed))
    for (const { reports } of [left, failed]) {
      const [{ refused }] = reports as [{ refused: SchedulerError }]
      assert.equal(refused.code, 'ERR_INVALID_JOB_DATA')
      assert.match(refused.message, /'jobDataMap' holds the key Symbol\(hidden\)/)
    }
    assert.deepEqual(failed.reports.slice(1), [{ jobDataMap: { count: 1 } }])
  },

  'what is thrown may be anything': async (test) => {
    assert.equal(await failureOf(run(test, 'fail', { mergedJobDataMap: { kind: 'undefined' } })), undefined)
    assert.deepEqual(await failureOf(run(test, 'fail')), { status: 404 })
  },

  'what cannot cross a thread fails the job by name, and the thread lives': async (test) => {
    for (const [where, part] of [
      ['result', 'result.list\\[1\\]'],
      ['progress', 'progress.list\\[1\\]'],
      ['jobDataMap', 'jobDataMap.added.list\\[1\\]'],
    ]) {
      const failure = run(test, 'uncloneable', { mergedJobDataMap: { where } })
      await assert.rejects(failure, {
        code: 'ERR_WORKER_DATA',
        message: new RegExp(`of job 'jobs.job' cannot cross .*'${part}' holds a function`),
      })
    }
    await assertAlive(test)
  },

  'a module that is missing or has no such function is named with what was found': async (test) => {
    const missing = new URL('./nowhere.js', moduleUrl).href
    await assert.rejects(test.pool.runInWorker(workerTask(missing, 'default'), new Recorder()), {
      code: 'ERR_WORKER_MODULE',
      message: /nowhere\.js' cannot be loaded/,
    })
    await assert.rejects(run(test, 'default'), {
      code: 'ERR_WORKER_MODULE',
      message: /worker-jobs\.js' has no export 'default'\. It exports count, describeContext, /,
    })
    await assert.rejects(run(test, 'notAFunction'), {
      code: 'ERR_WORKER_MODULE',
      message: /exports 'notAFunction' as 42, not as a function/,
    })
  },
}

const interrupts: Record<string, Body> = {
  'an interrupt reaches the job as its signal, with the reason': async (test) => {
    const recorder = new Recorder()
    const failure = failureOf(run(test, 'obey', {}, recorder))
    await recorder.started
    recorder.controller.abort(new SchedulerError('ERR_JOB_TIMEOUT', 'too slow'))
    assert.equal(((await failure) as Error).message, 'stopped: SchedulerError: too slow')
    assert.equal(test.clock.timerCount, 0)
  },

  'a job that ignores it loses its thread when the grace is over, not before': async (test) => {
    const recorder = new Recorder()
    let settled = false
    const failure = failureOf(run(test, 'ignore', {}, recorder)).finally(() => {
      settled = true
    })
    await recorder.started
    const reason = new Error('shutting down')
    recorder.controller.abort(reason)
    await test.clock.advance(recorder.interruptGraceMs - 1)
    assert.equal(settled, false)
    await test.clock.advance(1)
    const error = await failure
    assert(error instanceof SchedulerError)
    assert.equal(error.code, 'ERR_JOB_INTERRUPTED')
    assert.match(error.message, /'jobs\.job' did not stop within 1000 ms .* terminated/)
    assert.equal(error.cause, reason)
    await assertAlive(test)
  },

  'a job that is interrupted before it starts does not start': async (test) => {
    const recorder = new Recorder()
    recorder.controller.abort()
    await assert.rejects(run(test, 'report', {}, recorder), { code: 'ERR_JOB_INTERRUPTED' })
    assert.deepEqual(recorder.reports, [])
  },
}

const deaths: Record<string, Body> = {
  'a thread that exits fails its job alone, and is replaced': async (test) => {
    const recorder = new Recorder()
    const neighbour = new Recorder()
    const other = failureOf(run(test, 'obey', { fireInstanceId: 'firing-2' }, neighbour))
    await neighbour.started
    await assert.rejects(run(test, 'exit', {}, recorder), {
      code: 'ERR_WORKER_FAILED',
      message: /'jobs\.job' exited with code 7/,
    })
    assert.deepEqual(recorder.reports, [{ progress: 'exiting' }])
    await assertAlive(test)
    neighbour.controller.abort('enough')
    assert.equal(((await other) as Error).message, 'stopped: enough')
  },

  'an error that nothing catches fails the job, and the thread is replaced': async (test) => {
    await assert.rejects(run(test, 'escape'), {
      code: 'ERR_WORKER_FAILED',
      message: /'jobs\.job' died of an error that nothing caught.*escaped/,
    })
    await assertAlive(test)
  },

  'a pool that is shut down before anything ran runs worker jobs of the next scheduler': async (test) => {
    const { clock, logger, pool } = test
    await test.stop()
    await pool.initialize({ schedulerName: 'next', clock, logger })
    await assertAlive(test)
  },

  'no worker job runs after the shutdown': async (test) => {
    await assertAlive(test)
    await test.stop()
    await assert.rejects(run(test, 'count'), { code: 'ERR_THREAD_POOL_SHUTDOWN' })
  },
}
