import { describe, expect, it } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { logThrown, textOf } from '../../src/core/thrown-value.ts'
import { JobExecutionError, jobKey, SchedulerError } from '../../src/index.ts'
import { toJobExecutionError } from '../../src/scheduler/job-failure.ts'

const key = jobKey('night', 'reports')

describe('the failure made of what a job threw', () => {
  it('names the job, says what was thrown and keeps it as its cause', () => {
    const cause = new TypeError('x is not a function')
    const failure = toJobExecutionError(key, cause)
    expect(failure).toBeInstanceOf(JobExecutionError)
    expect(failure.message).toBe('Job reports.night threw: x is not a function')
    expect(failure.cause).toBe(cause)
    expect(failure.code).toBe('ERR_JOB_EXECUTION')
  })

  it('is the thrown error itself when that is a JobExecutionError', () => {
    for (const flag of ['refireImmediately', 'unscheduleFiringTrigger', 'unscheduleAllTriggers', 'giveUp']) {
      const thrown = new JobExecutionError('steer', { [flag]: true })
      expect(toJobExecutionError(key, thrown)).toBe(thrown)
    }
    const plain = new JobExecutionError('plain failure')
    expect(toJobExecutionError(key, plain)).toBe(plain)
  })

  it('has the code of other errors of the library', () => {
    const failure = toJobExecutionError(key, new SchedulerError('ERR_WORKER_FAILED', 'the thread died'))
    expect(failure.code).toBe('ERR_WORKER_FAILED')
    expect(failure.refireImmediately).toBe(false)
  })

  it('is the thrown error also when a copy of version 0.1.0 threw it, which does not know to give up', () => {
    const thrown = Object.assign(new Error('of old'), {
      '~quartz-ts/error': true,
      refireImmediately: false,
      unscheduleFiringTrigger: true,
      unscheduleAllTriggers: false,
    })
    expect(toJobExecutionError(key, thrown)).toBe(thrown)
    const forged = Object.assign(new JobExecutionError('forged'), { giveUp: 'yes' })
    expect(toJobExecutionError(key, forged)).toMatchObject({ cause: forged, giveUp: false })
  })

  it('does not steer by flags that are no booleans', () => {
    const forged = new SchedulerError('ERR_JOB_EXECUTION', 'forged')
    const thrown = Object.assign(forged, {
      refireImmediately: 'yes',
      unscheduleFiringTrigger: 1,
      unscheduleAllTriggers: null,
    })
    expect(toJobExecutionError(key, thrown)).toMatchObject({
      cause: thrown,
      refireImmediately: false,
      unscheduleFiringTrigger: false,
    })
  })
})

describe('the text of what was thrown', () => {
  it('says which getter throws itself', () => {
    const own: unknown = {
      get message(): never {
        throw own
      },
    }
    expect(textOf(own)).toBe('something that cannot be read (its message throws)')
  })
})

describe('logging what was thrown', () => {
  it('hands it to the logger as it is, with the other fields', () => {
    const lines: unknown[] = []
    const logger: Logger = { ...silentLogger, error: (fields, message) => lines.push(fields, message) }
    const thrown = new Error('seen')
    logThrown(logger, thrown, 'failed', { event: 'x' })
    expect(lines).toEqual([{ err: thrown, event: 'x' }, 'failed'])
  })
})
