import { describe, expect, it } from 'vitest'
import { threadPoolConformance } from '../../src/testing/thread-pool/conformance.ts'
import { inProcessThreadPool, zeroSizeThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { piscinaThreadPool } from '../../src/threadpool/piscina-thread-pool.ts'

const pools = {
  'in-process': {
    create: (size: number) => inProcessThreadPool({ size }),
    runsWorkerJobs: false,
  },
  'zero-size': { create: () => zeroSizeThreadPool(), runsWorkerJobs: false, schedulesOnly: true },
}

describe.each(Object.entries(pools))('%s pool', (_name, options) => {
  it.each(threadPoolConformance(options).map((each) => [each.area, each.name, each] as const))(
    '%s: %s',
    async (_area, _sentence, { run }) => {
      await run()
    },
  )
})

describe('inProcessThreadPool', () => {
  it('has ten slots unless told otherwise', () => {
    expect(inProcessThreadPool().size).toBe(10)
  })

  it.each([
    [{ size: 0 }, /must be at least 1; for a node that only schedules use zeroSizeThreadPool/],
    [{ size: 1.5 }, /'size' must be a whole number from 1 to 100000, got 1.5/],
    [{ size: 100_001 }, /'size'/],
    [{ sise: 1 }, /Did you mean 'size'/],
  ])('refuses %j', (options, message) => {
    expect(() => inProcessThreadPool(options as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        message: expect.stringMatching(message) as string,
      }),
    )
  })
})

describe('a pool that is not initialized', () => {
  it('runs nothing and says so', () => {
    expect(() => inProcessThreadPool().runInThread({ run: async () => undefined })).toThrow(
      expect.objectContaining({ code: 'ERR_SCHEDULER_STATE' }),
    )
  })

  it('shuts down at once', async () => {
    for (const pool of [inProcessThreadPool(), zeroSizeThreadPool(), piscinaThreadPool()]) {
      expect(await pool.shutdown({ waitForJobsToComplete: true, timeoutMs: 10 })).toBe(0)
    }
  })
})
