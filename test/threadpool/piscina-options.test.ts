import { SHARE_ENV } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { resolvePiscinaOptions } from '../../src/threadpool/piscina-options.ts'
import { piscinaThreadPool } from '../../src/threadpool/piscina-thread-pool.ts'

describe('piscinaThreadPool options', () => {
  it('have defaults and are frozen', () => {
    const options = resolvePiscinaOptions({})
    expect(options).toEqual({
      size: 10,
      maxThreads: 10,
      minThreads: 0,
      concurrentTasksPerWorker: 1,
      idleTimeoutMs: 30_000,
      atomics: 'disabled',
    })
    expect(Object.isFrozen(options)).toBe(true)
  })

  it('give as many threads as all slots need, unless told otherwise', () => {
    expect(resolvePiscinaOptions({ size: 10, concurrentTasksPerWorker: 4 }).maxThreads).toBe(3)
    expect(resolvePiscinaOptions({ size: 10, maxThreads: 2 }).maxThreads).toBe(2)
  })

  it('are copied, so that later changes do not reach the pool', () => {
    const given = { execArgv: ['--no-warnings'], env: { A: '1' }, resourceLimits: { stackSizeMb: 4 } }
    const resolved = resolvePiscinaOptions(given)
    given.execArgv.push('--trace-uncaught')
    given.env.A = '2'
    given.resourceLimits.stackSizeMb = 5
    expect(resolved).toMatchObject({
      execArgv: ['--no-warnings'],
      env: { A: '1' },
      resourceLimits: { stackSizeMb: 4 },
    })
    expect(resolvePiscinaOptions({ env: SHARE_ENV }).env).toBe(SHARE_ENV)
  })

  it.each([
    [{ size: 0 }, /zeroSizeThreadPool/],
    [{ size: 2, maxThreads: 3 }, /'maxThreads' must be a whole number from 1 to 2, got 3/],
    [{ size: 2, minThreads: 3 }, /'minThreads' must be a whole number from 0 to 2, got 3/],
    [{ size: 4, concurrentTasksPerWorker: 5 }, /'concurrentTasksPerWorker'.*from 1 to 4/],
    [{ idleTimeoutMs: -1 }, /'idleTimeoutMs'/],
    [{ idleTimeoutMs: 2 ** 31 }, /'idleTimeoutMs'/],
    [{ atomics: 'on' }, /'atomics' must be one of disabled, async, sync, got 'on'/],
    [{ resourceLimits: { maxOldGenerationSizeMb: 0 } }, /'resourceLimits.maxOldGenerationSizeMb'/],
    [{ resourceLimits: { memory: 1 } }, /unknown option 'memory'/],
    [{ execArgv: '--import' }, /'execArgv' must be an array of strings/],
    [{ execArgv: [1] }, /'execArgv'/],
    [{ env: { A: 1 } }, /'env.A' must be a string, got 1/],
    [{ maxThread: 1 }, /Did you mean 'maxThreads'/],
  ])('refuse %j', (options, message) => {
    expect(() => piscinaThreadPool(options as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        message: expect.stringMatching(message) as string,
      }),
    )
  })
})
