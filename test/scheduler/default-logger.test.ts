import { describe, expect, expectTypeOf, it, onTestFinished, vi } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { lineLogger, resolveLogger } from '../../src/core/line-logger.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'

/** What the default logger writes while the test runs. */
function stderrLines(): string[] {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'error').mockImplementation((line: string) => {
    lines.push(line)
  })
  onTestFinished(() => {
    spy.mockRestore()
  })
  return lines
}

const failing = defineJob('failing', () => {
  throw new Error('no\nluck', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
})

/** Runs the failing job once, with all attempts of `attempts`. */
async function runFailing(options: SchedulerOptions, attempts: number | null = null): Promise<void> {
  const clock = new ManualClock(new Date('2026-03-06T12:00:00Z'))
  await using scheduler = await createScheduler({ jobs: [failing], clock, ...options })
  const builder = JobBuilder.newJob(failing).withIdentity('report', 'daily')
  const retry = { attempts: attempts ?? 1, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } as const
  await scheduler.scheduleJob(
    (attempts === null ? builder : builder.withRetry(retry)).build(),
    TriggerBuilder.newTrigger({ clock }).withIdentity('weekdays').build(),
  )
  await scheduler.start()
  await clock.advance(60_000)
}

describe('a scheduler that was given no logger', () => {
  it('writes a job that failed on one line of stderr, with code, cause and place', async () => {
    const lines = stderrLines()
    await runFailing({})
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^2026-03-06T12:00:00\.000Z ERROR quartz-ts: Job daily\.report failed\. /)
    expect(lines[0]).toContain('triggerKey=DEFAULT.weekdays')
    expect(lines[0]).toContain(
      '- ERR_JOB_EXECUTION: Job daily.report threw: no luck; cause: ECONNREFUSED: refused',
    )
    expect(lines[0]).toMatch(/ \(at .*default-logger\.test\.ts:\d+:\d+\)+$/)
  })

  it('writes every attempt, and that the last one was the last', async () => {
    const lines = stderrLines()
    await runFailing({}, 2)
    expect(lines.map((line) => line.split(' (')[0])).toEqual([
      '2026-03-06T12:00:00.000Z WARN quartz-ts: Job daily.report failed in attempt 1 of 2; ' +
        'the next is at 2026-03-06T12:00:01.000Z.',
      '2026-03-06T12:00:01.000Z ERROR quartz-ts: Job daily.report failed in the last of 2 attempts ' +
        'and is not tried again.',
    ])
  })

  it.each([{ level: 'info' }, false] as const)(
    'writes what jobs log in each form, with %j',
    async (executionLog) => {
      const lines = stderrLines()
      const clock = new ManualClock()
      let ran = ''
      const talkative = defineJob('talkative', ({ log, fireInstanceId }) => {
        ran = fireInstanceId
        expectTypeOf(log).toExtend<Logger>()
        log.warn('a text alone')
        log.warn({ count: 2 }, 'a text with fields')
        log.error(new Error('no luck'), 'an error first')
        log.error(new Error('an error alone'))
        // @ts-expect-error -- a text is no fields
        log.warn('two texts:', 'one')
        // @ts-expect-error -- fields need a message
        log.info({ count: 2 })
      })
      await using scheduler = await createScheduler({
        jobs: [talkative],
        clock,
        jobStore: ramJobStore({ executionLog }),
      })
      await scheduler.start()
      const { key } = await scheduler.schedule(talkative, { at: new Date(clock.now()) })
      await scheduler.idle()
      const shown = [
        'WARN quartz-ts: a text alone (WHO)',
        'WARN quartz-ts: a text with fields (WHO, count=2)',
        'ERROR quartz-ts: an error first (WHO) - no luck (at',
        'ERROR quartz-ts: an error alone (WHO) - an error alone (at',
        'WARN quartz-ts: two texts: one (WHO)',
      ]
      const who = `jobKey=${key.toString()}, jobType=talkative, fireInstanceId=${ran}`
      expect(lines).toEqual(shown.map((line) => expect.stringContaining(line.replace('WHO', who)) as string))
      const { items } = await scheduler.queryExecutionLog(ran)
      const kept = [
        ['a text alone', null],
        ['a text with fields', '{"count":2}'],
        ['an error first', '{"err":"no luck"}'],
        ['an error alone', '{"err":"an error alone"}'],
        ['two texts: one', null],
        ['', '{"count":2}'],
      ]
      expect(items.map(({ message, fieldsText }) => [message, fieldsText])).toEqual(
        executionLog === false ? [] : kept,
      )
    },
  )

  it('writes nothing with `logger: false`', async () => {
    const lines = stderrLines()
    await runFailing({ logger: false })
    expect(lines).toEqual([])
  })

  /** A scheduler that has stored two triggers. */
  async function unstarted(): Promise<Scheduler> {
    const clock = new ManualClock()
    const scheduler = await createScheduler({ jobs: [failing], clock })
    for (const name of ['first', 'second']) {
      const trigger = TriggerBuilder.newTrigger({ clock }).withIdentity(name).build()
      await scheduler.scheduleJob(JobBuilder.newJob(failing).build(), trigger)
    }
    return scheduler
  }

  it('warns at its end that triggers in memory were never started', async () => {
    const lines = stderrLines()
    const listeners = process.listenerCount('exit')
    const scheduler = await unstarted()
    expect(process.listenerCount('exit')).toBe(listeners + 1)
    await scheduler.shutdown()
    expect(lines).toEqual([expect.stringMatching(/start\(\) was never called.*they are lost/)])
    expect(process.listenerCount('exit')).toBe(listeners)
  })

  it('does not when they were deleted, or a start was to come', async () => {
    const lines = stderrLines()
    {
      await using cleared = await unstarted()
      await cleared.clear()
      await using delayed = await unstarted()
      delayed.startDelayed(1000)
      await using unscheduled = await unstarted()
      await unscheduled.unscheduleJobs([triggerKey('first'), triggerKey('second')])
    }
    expect(lines).toEqual([])
  })

  it.each([null, true, {}, { error: () => {} }])('refuses %j as a logger', async (logger) => {
    await expect(createScheduler({ logger } as SchedulerOptions)).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
      field: 'logger',
    })
  })
})

describe('a logger that throws', () => {
  const broken = (): never => {
    throw new Error('the disk is full')
  }
  const brokenLogger: Logger = { debug: broken, info: broken, warn: broken, error: broken }

  it('fails neither jobs that log nor the loop of a scheduler whose store fails', async () => {
    const clock = new ManualClock()
    const talkative = defineJob('talkative', ({ log }) => {
      log.info('runs')
    })
    const jobStore = new FaultyJobStore(ramJobStore())
    await using scheduler = await createScheduler({
      jobs: [talkative],
      clock,
      jobStore,
      logger: brokenLogger,
    })
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.start()
    await clock.settle()
    jobStore.failOn({ operation: 'acquireNextTriggers', times: 5 })
    await scheduler.schedule(talkative, { at: new Date(clock.now()) })
    await clock.advance(600_000)
    expect((await ended).error).toBeNull()
  })

  it('is given the text of an error that it cannot read', () => {
    const lines: unknown[] = []
    const reading: Logger = {
      ...silentLogger,
      error: (fields) => lines.push((fields as { readonly err: Error }).err.message.length),
      warn: (fields) => lines.push(JSON.stringify(fields)),
    }
    const unreadable = {
      toJSON: broken,
    }
    const logger = resolveLogger(reading, () => 0)
    logger.warn({ err: unreadable, count: 1 }, 'warned')
    logger.error({ err: null }, 'failed')
    expect(lines).toEqual(['{"err":"[object Object]","count":1}'])
  })

  it('writes a line once, although it throws afterwards', () => {
    const lines: string[] = []
    const warn = (_: object, message: string): void => {
      lines.push(message)
      broken()
    }
    resolveLogger({ ...silentLogger, warn }, () => 0).warn({ count: 1 }, 'warned')
    expect(lines).toEqual(['warned'])
  })

  it('may throw later', async () => {
    const late = (): unknown => Promise.reject(new Error('later'))
    const logger = resolveLogger({ ...brokenLogger, info: late }, () => 0)
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    logger.info({}, 'told')
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })
})

describe('a line of the log', () => {
  const written = (fields: object, message: string): string => {
    let line = ''
    lineLogger(
      () => 0,
      (text) => {
        line = text
      },
    ).warn(fields, message)
    return line.replace('1970-01-01T00:00:00.000Z WARN quartz-ts: ', '')
  }

  it('has the fields that are plain, and neither line breaks nor terminal sequences', () => {
    expect(written({ count: 2, name: 'a', list: [1] }, 'one\r\ntwo\u001b[31m\u2028three')).toBe(
      'one two [31m three (count=2, name=a)',
    )
  })

  it('is cut, however long the message is', () => {
    expect(written({}, 'x'.repeat(1_000_000)).length).toBeLessThan(2000)
  })

  it('survives what cannot be read, and causes in a circle', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('not for you')
        },
      },
    )
    expect(written({ err: hostile }, 'hostile')).toMatch(/^hostile - something that cannot be read/)
    const circle = new Error('round')
    circle.cause = Object.assign(new Error('and'), { cause: circle })
    expect(written({ err: circle }, 'circle')).toMatch(/^circle - round; cause: and/)
    expect(written(hostile, 'fields')).toBe('fields')
  })
})
