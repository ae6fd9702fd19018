import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import type { XxlJobContext } from '../../src/xxl-job.ts'
import { latch } from '../support/latch.ts'
import { startRig } from './executor-fixture.ts'

/** A handler whose runs end when the test says so, by their ids. */
function gated() {
  const started: number[] = []
  const ends = new Map<number, () => void>()
  const signals = new Map<number, AbortSignal>()
  let most = 0
  let running = 0
  return {
    started,
    signals,
    most: () => most,
    end: (logId: number) => ends.get(logId)?.(),
    handler: async (context: XxlJobContext) => {
      started.push(context.logId)
      signals.set(context.logId, context.signal)
      most = Math.max(most, ++running)
      const { promise, open } = latch()
      ends.set(context.logId, open)
      await promise
      running--
    },
  }
}

/** Ends when it is asked to, as handlers should. */
const obedient = ({ signal }: XxlJobContext): Promise<void> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener(
      'abort',
      () => {
        reject(signal.reason as Error)
      },
      { once: true },
    )
  })

const ok = { code: 200, msg: 'Success', data: null, content: null }

describe('the runs of one job (X25, X28)', () => {
  test('go one after the other in the order in which they came', async () => {
    const { handler, started, most, end } = gated()
    const { run, admin, executor } = await startRig({ handlers: { demo: handler } })
    for (const logId of [1, 2, 3]) expect(await run(logId)).toEqual(ok)
    expect(started).toEqual([1])
    expect(executor.status().jobs).toMatchObject([{ jobId: 17, handler: 'demo', runningLogId: 1, queued: 2 }])
    for (const logId of [1, 2, 3]) {
      end(logId)
      await admin.resultOf(logId)
    }
    expect(started).toEqual([1, 2, 3])
    expect(most()).toBe(1)
  })

  test('may be 2,000 at a time: each runs once and has one result, in batches of at most 50', async () => {
    const seen: number[] = []
    const { promise, open } = latch()
    const handler = async ({ logId }: XxlJobContext): Promise<void> => {
      await promise
      seen.push(logId)
    }
    const { run, admin } = await startRig({ handlers: { demo: handler } })
    const ids = Array.from({ length: 2000 }, (_, index) => index + 1)
    for (const logId of ids) expect(await run(logId)).toEqual(ok)
    open()
    await admin.until(({ results }) => results.length >= 2000)
    expect(seen).toEqual(ids)
    expect(admin.results.map(({ logId }) => logId).toSorted((a, b) => a - b)).toEqual(ids)
    const sizes = admin.callbacks.map(({ body }) => (JSON.parse(body) as unknown[]).length)
    expect(Math.max(...sizes)).toBe(50)
  })

  test('with DISCARD_LATER are refused while one runs', async () => {
    const { handler, started, end } = gated()
    const { run, admin } = await startRig({ handlers: { demo: handler } })
    const discard = { executorBlockStrategy: 'DISCARD_LATER' }
    expect(await run(1, discard)).toEqual(ok)
    expect(await run(2, discard)).toMatchObject({ code: 500, msg: 'block strategy effect：Discard Later' })
    end(1)
    await admin.resultOf(1)
    expect(await run(3, discard)).toEqual(ok)
    end(3)
    await admin.resultOf(3)
    expect(started).toEqual([1, 3])
  })

  test('with COVER_EARLY end the one that runs and drop those that wait; a kill hits the last (C.6 6)', async () => {
    const { run, call, admin } = await startRig({ handlers: { demo: obedient } })
    await run(1)
    await run(2)
    expect(await run(3, { executorBlockStrategy: 'COVER_EARLY' })).toEqual(ok)
    const reason = 'block strategy effect：Cover Early'
    expect(await admin.resultOf(2)).toMatchObject({
      code: 500,
      msg: `${reason} [job not executed, in the job queue, killed.]`,
    })
    expect(await admin.resultOf(1)).toMatchObject({ code: 500, msg: `${reason} [job running, killed]` })
    expect(await call('/kill', { jobId: 17 })).toEqual(ok)
    expect(await admin.resultOf(3)).toMatchObject({
      code: 500,
      msg: 'scheduling center kill job. [job running, killed]',
    })
    expect(admin.results).toHaveLength(3)
  })

  test('a handler that ignores the signal is reported when it returns, and its successor does not wait', async () => {
    const { handler, started, signals, end } = gated()
    const { run, admin } = await startRig({ handlers: { demo: handler } })
    await run(1)
    await run(2, { executorBlockStrategy: 'COVER_EARLY' })
    expect(started).toEqual([1, 2])
    expect(signals.get(1)?.aborted).toBe(true)
    end(2)
    expect(await admin.resultOf(2)).toMatchObject({ code: 200 })
    expect(admin.results).toHaveLength(1)
    end(1)
    expect(await admin.resultOf(1)).toMatchObject({ code: 500 })
  })

  test('with the id of one that waits or runs are refused; a lost answer may be asked for again', async () => {
    const { handler, started, end } = gated()
    const { run, admin } = await startRig({ handlers: { demo: handler } })
    await run(1)
    await run(2)
    expect(await run(2)).toMatchObject({ code: 500, msg: 'repeat trigger job, logId:2' })
    expect(await run(1)).toMatchObject({ code: 500, msg: 'repeat trigger job, logId:1' })
    expect(await run(1, { executorBlockStrategy: 'COVER_EARLY' })).toMatchObject({ code: 500 })
    end(1)
    await admin.resultOf(1)
    end(2)
    await admin.resultOf(2)
    expect(await run(1)).toEqual(ok)
    expect(started).toEqual([1, 2, 1])
    end(1)
  })

  test('are bounded, for one job and in all', async () => {
    const { run } = await startRig({ handlers: { demo: obedient }, maxQueuedPerJob: 2, maxQueued: 3 })
    for (const logId of [1, 2, 3]) expect(await run(logId)).toEqual(ok)
    expect(await run(4)).toMatchObject({
      code: 500,
      msg: expect.stringContaining('maxQueuedPerJob') as string,
    })
    expect(await run(5, { jobId: 18 })).toEqual(ok)
    expect(await run(6, { jobId: 18 })).toEqual(ok)
    expect(await run(7, { jobId: 18 })).toMatchObject({
      code: 500,
      msg: expect.stringContaining('(maxQueued)') as string,
    })
    // What runs does not wait, so it counts for neither.
    expect(await run(8, { jobId: 17, executorBlockStrategy: 'DISCARD_LATER' })).toMatchObject({
      msg: 'block strategy effect：Discard Later',
    })
  })

  test('of other jobs go on beside one that hangs', async () => {
    const { run, admin } = await startRig({ handlers: { demo: obedient, quick: () => {} } })
    await run(1)
    await run(2, { jobId: 18, executorHandler: 'quick' })
    expect(await admin.resultOf(2)).toMatchObject({ code: 200 })
  })
})

describe('kill and idleBeat', () => {
  test('end what runs and what waits, each with its reason (X27)', async () => {
    const { run, call, admin } = await startRig({ handlers: { demo: obedient } })
    expect(await call('/idleBeat', { jobId: 17 })).toEqual(ok)
    await run(1)
    await run(2)
    expect(await call('/idleBeat', { jobId: 17 })).toMatchObject({
      code: 500,
      msg: 'job thread is running or has trigger queue.',
    })
    expect(await call('/idleBeat', { jobId: 18 })).toEqual(ok)
    expect(await call('/kill', { jobId: 17 })).toEqual(ok)
    expect((await admin.resultOf(1)).msg).toBe('scheduling center kill job. [job running, killed]')
    expect((await admin.resultOf(2)).msg).toBe(
      'scheduling center kill job. [job not executed, in the job queue, killed.]',
    )
    expect(await call('/kill', { jobId: 17 })).toMatchObject({ code: 200, msg: 'job thread already killed.' })
    expect(admin.results).toHaveLength(2)
  })
})

describe('timeouts (X26)', () => {
  test('count from the begin of the run, and end one that ignores the signal as far as others see', async () => {
    const clock = new ManualClock()
    const { handler, started, signals, end } = gated()
    const { run, admin, executor } = await startRig({ handlers: { demo: handler }, clock })
    await run(1, { executorTimeout: 5 })
    await run(2, { executorTimeout: 5 })
    await clock.advance(4999)
    expect(signals.get(1)?.aborted).toBe(false)
    const sent = executor.events.next('resultsSent')
    await clock.advance(1)
    await sent
    expect(admin.results).toEqual([{ logId: 1, code: 502, msg: 'job execute timeout ' }])
    expect(signals.get(1)?.aborted).toBe(true)
    expect(started).toEqual([1, 2])
    await clock.advance(4999)
    end(1)
    end(2)
    expect(await admin.resultOf(2)).toMatchObject({ code: 200 })
    expect(admin.results).toHaveLength(2)
  })
})

describe('results', () => {
  const cases: readonly [string, (context: XxlJobContext) => unknown, object][] = [
    ['of a handler that says nothing', () => 'ignored', { code: 200, msg: '' }],
    [
      'handleSuccess',
      (context) => {
        context.handleSuccess('all 3')
      },
      { code: 200, msg: 'all 3' },
    ],
    [
      'handleFail',
      (context) => {
        context.handleFail('no disk')
      },
      { code: 500, msg: 'no disk' },
    ],
    [
      'handleTimeout',
      (context) => {
        context.handleTimeout('too slow')
      },
      { code: 502, msg: 'too slow' },
    ],
    [
      'handleResult',
      (context) => {
        context.handleResult(201, 'own')
      },
      { code: 201, msg: 'own' },
    ],
    [
      'a code that is none',
      (context) => {
        context.handleResult(0)
      },
      { code: 500, msg: 'job handle result lost.' },
    ],
    [
      'a code that no admin can read',
      (context) => {
        context.handleResult(2 ** 31)
      },
      { code: 500, msg: 'job handle result lost.' },
    ],
    [
      'of an error',
      () => {
        throw new TypeError('broken')
      },
      { code: 500, msg: expect.stringMatching(/^TypeError: broken\n +at /) as string },
    ],
    [
      'of a thrown text',
      async () => {
        throw 'plain' as unknown as Error
      },
      { code: 500, msg: 'plain' },
    ],
    [
      'of a thrown null',
      async () => {
        throw null as unknown as Error
      },
      { code: 500, msg: 'null' },
    ],
  ]

  test.each(cases)('%s', async (_name, handler, result) => {
    const { run, admin } = await startRig({ handlers: { demo: handler } })
    await run(1)
    expect(await admin.resultOf(1)).toEqual({ logId: 1, ...result })
  })

  test('have at most 50,000 characters and then dots', async () => {
    const { run, admin } = await startRig({
      handlers: {
        demo: (context) => {
          context.handleSuccess('x'.repeat(60_000))
        },
      },
    })
    await run(1)
    expect((await admin.resultOf(1)).msg).toBe(`${'x'.repeat(50_000)}...`)
  })
})

describe('lanes', () => {
  test('prepare once, and clean up when they had nothing to do for 93 seconds', async () => {
    const clock = new ManualClock()
    const calls: string[] = []
    const demo = {
      init: () => calls.push('init'),
      execute: () => calls.push('execute'),
      destroy: () => calls.push('destroy'),
    }
    const { runToEnd, executor } = await startRig({ handlers: { demo }, clock })
    await runToEnd(1)
    await clock.advance(92_000)
    await runToEnd(2)
    await clock.advance(92_999)
    expect(executor.status().jobs).toHaveLength(1)
    await clock.advance(1)
    expect(executor.status().jobs).toEqual([])
    await runToEnd(3)
    expect(calls).toEqual(['init', 'execute', 'execute', 'destroy', 'init', 'execute'])
  })

  test('of one handler share what init made, until the last of them has ended', async () => {
    const { handler, end } = gated()
    const [calls, closing] = [[] as string[], latch()]
    const demo = {
      init: () => calls.push('init'),
      execute: async (context: XxlJobContext) => {
        calls.push(`begin ${context.logId}`)
        await handler(context)
        calls.push(`end ${context.logId}`)
      },
      destroy: async () => {
        calls.push('destroy')
        await closing.promise
        calls.push('destroyed')
      },
    }
    const { run, call, executor } = await startRig({ handlers: { demo } })
    const ended = async (logId: number): Promise<void> => {
      const told = executor.events.next('runEnded', (run) => run.logId === logId)
      end(logId)
      await told
    }
    await run(1)
    await run(2, { jobId: 18 })
    // The first job is killed while the other one runs.
    await ended(1)
    await call('/kill', { jobId: 17 })
    await run(3, { jobId: 18, executorBlockStrategy: 'COVER_EARLY' })
    await ended(2)
    await ended(3)
    expect(calls).toEqual(['init', 'begin 1', 'begin 2', 'end 1', 'begin 3', 'end 2', 'end 3'])
    await call('/kill', { jobId: 18 })
    const begins = executor.events.next('runStarted')
    await run(4)
    expect(calls.slice(7)).toEqual(['destroy'])
    closing.open()
    await begins
    await ended(4)
    expect(calls.slice(7)).toEqual(['destroy', 'destroyed', 'init', 'begin 4', 'end 4'])
  })

  test('wait for a destroy that is under way also when their handler has no init', async () => {
    const [calls, closing] = [[] as string[], latch()]
    const demo = {
      execute: ({ logId }: XxlJobContext) => calls.push(`run ${logId}`),
      destroy: async () => {
        calls.push('destroy')
        await closing.promise
        calls.push('destroyed')
      },
    }
    const { run, runToEnd, call, executor } = await startRig({ handlers: { demo } })
    await runToEnd(1)
    await call('/kill', { jobId: 17 })
    const ended = executor.events.next('runEnded')
    await run(2)
    expect(calls).toEqual(['run 1', 'destroy'])
    closing.open()
    await ended
    expect(calls).toEqual(['run 1', 'destroy', 'destroyed', 'run 2'])
  })

  test('go on when an earlier destroy hangs, those of all jobs', async () => {
    const clock = new ManualClock()
    const [calls, closing] = [[] as string[], latch()]
    const demo = {
      init: () => calls.push('init'),
      execute: ({ logId }: XxlJobContext) => calls.push(`run ${logId}`),
      destroy: () => closing.promise,
    }
    const { run, runToEnd, call } = await startRig({ handlers: { demo }, clock })
    await runToEnd(1)
    await call('/kill', { jobId: 17 })
    await run(2, { jobId: 18 })
    await run(3, { jobId: 19 })
    await clock.advance(29_999)
    expect(calls).toEqual(['init', 'run 1'])
    await clock.advance(1)
    expect(calls).toEqual(['init', 'run 1', 'init', 'run 2', 'run 3'])
    // So that the executor of this test can close.
    closing.open()
  })

  test.each([
    ['ends within ten seconds', true],
    ['never ends', false],
  ])('have destroy wait for one that passed its timeout and %s', async (_, ends) => {
    const clock = new ManualClock()
    const [calls, gate] = [[] as string[], latch()]
    const demo = {
      execute: async () => {
        await gate.promise
        calls.push('end')
      },
      destroy: () => calls.push('destroy'),
    }
    const { run, call, executor } = await startRig({ handlers: { demo }, clock })
    const ended = executor.events.next('runEnded')
    await run(1, { executorTimeout: 1 })
    await clock.advance(1000)
    await ended
    await call('/kill', { jobId: 17 })
    await clock.advance(9999)
    expect(calls).toEqual([])
    if (ends) gate.open()
    else await clock.advance(1)
    await clock.settle()
    expect(calls).toEqual(ends ? ['end', 'destroy'] : ['destroy'])
  })

  test('go on when init throws, as in Java; the log of the run says so', async () => {
    const demo = {
      init: () => {
        throw new Error('no database')
      },
      execute: (context: XxlJobContext) => {
        context.handleSuccess('ran')
      },
    }
    const { run, admin, call } = await startRig({ handlers: { demo } })
    await run(1)
    expect(await admin.resultOf(1)).toMatchObject({ code: 200, msg: 'ran' })
    const log = await call('/log', { logId: 1, logDateTim: 1_790_000_000_123, fromLineNum: 1 })
    expect(JSON.stringify(log.data)).toContain('init of an XXL-JOB handler threw')
  })

  test('are replaced when the job has another handler now', async () => {
    const { handler, end } = gated()
    const { run, admin, executor } = await startRig({ handlers: { demo: obedient } })
    await run(1)
    await run(2)
    executor.registerHandler('other', handler)
    expect(await run(3, { executorHandler: 'missing' })).toMatchObject({
      code: 500,
      msg: 'job handler [missing] not found.',
    })
    expect(await run(4, { executorHandler: 'other' })).toEqual(ok)
    const reason = 'change jobhandler or glue type, and terminate the old job thread.'
    expect((await admin.resultOf(1)).msg).toBe(`${reason} [job running, killed]`)
    expect((await admin.resultOf(2)).msg).toBe(`${reason} [job not executed, in the job queue, killed.]`)
    end(4)
    expect(await admin.resultOf(4)).toMatchObject({ code: 200 })
  })
})
