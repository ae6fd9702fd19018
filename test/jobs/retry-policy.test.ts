import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { resolveRetryPolicy, retryDelayMs, storedRetryPolicy } from '../../src/jobs/retry-policy.ts'

describe('resolveRetryPolicy', () => {
  it('fills in defaults and freezes', () => {
    const policy = resolveRetryPolicy('withRetry', { attempts: 3 })
    expect(policy).toEqual({
      attempts: 3,
      backoff: { type: 'exponential', initialMs: 1000, factor: 2, maxMs: 3_600_000, jitter: 0.5 },
    })
    expect(Object.isFrozen(policy) && Object.isFrozen(policy.backoff)).toBe(true)
  })

  it.each([
    [{ attempts: 0 }, /'attempts'/],
    [{ attempts: 1001 }, /'attempts'/],
    [
      { attempts: 2, backoff: { type: 'linear' } },
      /'backoff.type' must be 'exponential' or 'fixed', got 'linear'/,
    ],
    [{ attempts: 2, backoff: { initialMs: -1 } }, /'backoff.initialMs'/],
    [{ attempts: 2, backoff: { maxMs: 0.5 } }, /'backoff.maxMs'/],
    [
      { attempts: 2, backoff: { initialMs: 10_000, maxMs: 5 } },
      /'backoff.maxMs' must be at least 'backoff.initialMs', 10000, got 5/,
    ],
    [{ attempts: 2, backoff: { factor: 0.5 } }, /'backoff.factor' must be at least 1/],
    [{ attempts: 2, backoff: { jitter: 1.5 } }, /'backoff.jitter' must be from 0 to 1/],
    [{ attempts: 2, backoff: { jitter: Number.NaN } }, /'backoff.jitter'/],
    [
      { attempts: 2, backoff: { type: 'fixed', factor: 2 } },
      /'backoff.factor' goes with the type 'exponential' only.*Leave one/,
    ],
    [{ attempts: 2, backof: {} }, /Did you mean 'backoff'/],
    [{ attempts: 2, backoff: { initial: 1 } }, /unknown option 'backoff.initial'/],
  ])('refuses %j', (options, message) => {
    expect(() => resolveRetryPolicy('withRetry', options as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        message: expect.stringMatching(message) as string,
      }),
    )
  })
})

it('names what to write for a number of attempts', () => {
  expect(() => defineJob('report', () => {}, { retry: 3 as never })).toThrow(
    "Job 'report': 'retry' must be an object such as { attempts: 3 }, got 3.",
  )
})

it('takes a fixed policy once more that it has filled in, and one that was stored', () => {
  const policy = resolveRetryPolicy('withRetry', { attempts: 2, backoff: { type: 'fixed' } })
  expect(resolveRetryPolicy('withRetry', policy)).toEqual(policy)
  const backoff = { type: 'fixed', factor: 3 }
  expect(storedRetryPolicy({ attempts: 2, backoff }).backoff).toMatchObject(backoff)
})

it.each([
  [{ attempts: 0 }, 'attempts'],
  [{ attempts: 2, backoff: { initialMs: -1 } }, 'backoff.initialMs'],
  [{ attempts: 2, backoff: { factor: 0 } }, 'backoff.factor'],
])('an error of %j has the path of the field, as the caller wrote it', (retry, field) => {
  const builder = JobBuilder.newJob('report')
  expect(() => builder.withRetry(retry)).toThrow(
    expect.objectContaining({ field, message: expect.stringMatching(`withRetry: '${field}'`) as string }),
  )
  expect(() => defineJob('report', () => {}, { retry })).toThrow(
    expect.objectContaining({
      field: `retry.${field}`,
      message: expect.stringMatching(`Job 'report': 'retry.${field}'`) as string,
    }),
  )
})

it.each([
  [{ maxMs: 5 }, { initialMs: 5, maxMs: 5 }],
  [{ initialMs: 7_200_000 }, { initialMs: 7_200_000, maxMs: 7_200_000 }],
])('the default of the one bound of waits gives way to the other one: %j', (backoff, expected) => {
  const policy = resolveRetryPolicy('withRetry', { attempts: 2, backoff })
  expect(policy.backoff).toMatchObject(expected)
  expect(resolveRetryPolicy('withRetry', policy)).toEqual(policy)
})

describe('retryDelayMs', () => {
  it('is a whole number of milliseconds up to the longest wait, however large the factor', () => {
    const backoffs = fc
      .record({
        initialMs: fc.constantFrom(0, 1, 1000),
        factor: fc.double({ min: 1, noNaN: true, noDefaultInfinity: true }),
        maxMs: fc.nat(),
      })
      .filter(({ initialMs, maxMs }) => initialMs <= maxMs)
    fc.assert(
      fc.property(backoffs, fc.integer({ min: 1, max: 1000 }), (backoff, attempt) => {
        const delayMs = retryDelayMs(
          resolveRetryPolicy('retry', { attempts: 1000, backoff }),
          attempt,
          seededIds(1),
        )
        expect(Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= backoff.maxMs).toBe(true)
      }),
      { seed: 9 },
    )
  })

  const ids = { uniqueName: () => 'x', random: () => 0 }

  it('doubles up to its limit', () => {
    const policy = resolveRetryPolicy('withRetry', { attempts: 9, backoff: { initialMs: 10, maxMs: 60 } })
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelayMs(policy, attempt, ids))).toEqual([10, 20, 40, 60, 60])
  })

  it('stays the same when fixed', () => {
    const policy = resolveRetryPolicy('withRetry', { attempts: 9, backoff: { type: 'fixed', initialMs: 10 } })
    expect([1, 2, 3].map((attempt) => retryDelayMs(policy, attempt, ids))).toEqual([10, 10, 10])
  })

  it('takes off at most the random share and is never negative or endless', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (seed, attempt, jitter) => {
          const policy = resolveRetryPolicy('withRetry', {
            attempts: 1000,
            backoff: { initialMs: 100, maxMs: 5000, jitter },
          })
          const planned = Math.min(100 * 2 ** (attempt - 1), 5000)
          const delay = retryDelayMs(policy, attempt, seededIds(seed))
          expect(delay).toBeGreaterThanOrEqual(Math.floor(planned * (1 - jitter)))
          expect(delay).toBeLessThanOrEqual(planned)
        },
      ),
      { seed: 20_261_101 },
    )
  })
})

it('takes undefined in a backoff for left out', () => {
  const resolve = (backoff: object): unknown => resolveRetryPolicy('job', { attempts: 2, backoff })
  expect(resolve({ initialMs: undefined, type: 'fixed' })).toEqual(resolve({ type: 'fixed' }))
  expect(() => resolve({ initialMs: null })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_OPTION' }))
})
