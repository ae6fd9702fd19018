import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { firingLogPlugin } from '../../src/index.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

/** A pino logger and the lines it wrote. */
function logbook() {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().trim().split('\n')) {
        lines.push(JSON.parse(line) as Record<string, unknown>)
      }
      done()
    },
  })
  return { lines, logger: pino({ level: 'debug' }, stream) }
}

describe('the execution log', () => {
  it('writes a line at the start and the end of each execution, through pino', async () => {
    const { lines, logger } = logbook()
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], {
      plugins: [firingLogPlugin({ logger })],
    })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    const fields = {
      level: 30,
      job: 'DEFAULT.job',
      trigger: 'DEFAULT.trigger',
      scheduled: new Date(startMs).toISOString(),
      latenessMs: 0,
      attempt: 1,
      refireCount: 0,
    }
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatchObject({ ...fields, msg: 'job starts' })
    expect(lines[1]).toMatchObject({ ...fields, msg: 'job ended', runTimeMs: 0 })
    expect(lines[0]?.['fireInstanceId']).toBe(lines[1]?.['fireInstanceId'])
    await scheduler.shutdown()
  })

  it('takes no retry for late because of the pause before it', async () => {
    const { lines, logger } = logbook()
    const job = jobOf(
      ({ attempt }) => {
        if (attempt === 1) throw new Error('the first time')
      },
      { retry: { attempts: 2, backoff: { type: 'fixed', initialMs: 1000 } } },
    )
    const { clock, scheduler, startMs } = await shellRig([job], { plugins: [firingLogPlugin({ logger })] })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(5000)
    expect(lines.at(-1)).toMatchObject({
      attempt: 2,
      latenessMs: 0,
      scheduled: new Date(startMs).toISOString(),
    })
    await scheduler.shutdown()
  })

  it('writes to each of several loggers', async () => {
    const books = [logbook(), logbook(), logbook()]
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], {
      plugins: books.map(({ logger }) => firingLogPlugin({ logger })),
    })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    expect(books.map(({ lines }) => lines.length)).toEqual([2, 2, 2])
    await scheduler.shutdown()
  })

  it('warns of failures, with the error and its cause, and of misfires', async () => {
    const { lines, logger } = logbook()
    const job = jobOf(() => {
      throw new RangeError('out of range')
    })
    const { clock, scheduler, startMs } = await shellRig([job], { plugins: [firingLogPlugin({ logger })] })
    await scheduler.standby()
    await scheduler.scheduleJob(detailOf('job'), firing(startMs + 1000))
    await clock.advance(100_000)
    await scheduler.start()
    await clock.advance(10)
    expect(lines.map(({ msg, level }) => [msg, level])).toEqual([
      ['trigger misfired', 40],
      ['job starts', 30],
      ['job failed', 40],
    ])
    expect(lines[0]).toMatchObject({
      trigger: 'DEFAULT.trigger',
      job: 'DEFAULT.job',
      due: new Date(startMs + 1000).toISOString(),
      misfireInstruction: 'smart',
    })
    expect(lines[1]).toMatchObject({ latenessMs: 99_000 })
    expect(lines[2]).toMatchObject({
      err: { type: 'JobExecutionError', code: 'ERR_JOB_EXECUTION' },
    })
    expect(JSON.stringify(lines[2]?.['err'])).toContain('out of range')
    await scheduler.shutdown()
  })

  it.each([
    () => {
      throw new Error('disk full')
    },
    () => Promise.reject(new Error('disk full')),
  ])('troubles nobody with a logger that fails: %s', async (fail) => {
    const errors: unknown[] = []
    const logger = { debug: fail, info: fail, warn: fail, error: fail }
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], {
      plugins: [firingLogPlugin({ logger })],
    })
    scheduler.events.on('schedulerError', (error) => errors.push(error))
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    await scheduler.shutdown()
    expect(errors).toEqual([])
  })

  it('writes vetoes', async () => {
    const { lines, logger } = logbook()
    const { clock, scheduler, startMs } = await shellRig([jobOf(() => {})], {
      plugins: [firingLogPlugin({ logger })],
    })
    scheduler.listenerManager.addTriggerListener({ name: 'veto', vetoJobExecution: () => true })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    await clock.advance(10)
    expect(lines.map(({ msg }) => msg)).toEqual(['job vetoed'])
    await scheduler.shutdown()
  })

  it('and the scheduler itself outlive errors that pino cannot print', async () => {
    const { lines, logger } = logbook()
    const job = jobOf(
      () => {
        throw Object.defineProperty(new Error('hidden'), 'message', {
          get: () => {
            throw new TypeError('unreadable')
          },
        })
      },
      { disallowConcurrentExecution: true },
    )
    const { clock, scheduler, startMs } = await shellRig([job], {
      logger,
      plugins: [firingLogPlugin({ logger })],
    })
    await scheduler.scheduleJob(detailOf('job'), firing(startMs, 3))
    await clock.advance(10_000)
    expect(lines.filter(({ msg }) => msg === 'job starts')).toHaveLength(3)
    await scheduler.shutdown()
  })

  it('refuses options that make no sense', () => {
    expect(() => firingLogPlugin({ logger: undefined as never })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    )
    expect(() => firingLogPlugin({ logger: logbook().logger, level: 'info' } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    )
  })
})
