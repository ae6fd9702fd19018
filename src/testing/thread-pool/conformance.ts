import assert from 'node:assert/strict'
import { type ArgumentCheck, checkBoolean, checkFunction, requireOptions } from '../../core/arguments.ts'
import type { ThreadPool } from '../../threadpool/thread-pool.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { poolCases, slotCases } from './slot-cases.ts'
import { noWorkerCases, workerCases } from './worker-cases.ts'

export interface ThreadPoolConformanceOptions {
  /** Makes a new pool of that size, not initialized yet; a pool for nodes that only schedule has none. */
  readonly create: (size: number) => ThreadPool
  /** Whether the pool runs worker jobs. */
  readonly runsWorkerJobs: boolean
  /** For pools of size 0, which run nothing at all. Default false. */
  readonly schedulesOnly?: boolean
}

const optionChecks: Readonly<Record<keyof ThreadPoolConformanceOptions, ArgumentCheck>> = {
  create: checkFunction,
  runsWorkerJobs: checkBoolean,
  schedulesOnly: checkBoolean,
}

/**
 * The behaviour of every thread pool, as cases for any test runner. Register them with `for (const { area, name, run }
 * of threadPoolConformance(options)) test(`${area}: ${name}`, run)`.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION
 */
export function threadPoolConformance(options: ThreadPoolConformanceOptions): readonly ConformanceCase[] {
  requireOptions('threadPoolConformance', options, optionChecks, ['create', 'runsWorkerJobs'])
  const { create, runsWorkerJobs, schedulesOnly = false } = options
  return [
    ...(schedulesOnly ? zeroSizeCases(create) : slotCases(create)),
    ...(runsWorkerJobs ? workerCases(create) : noWorkerCases(create)),
  ]
}

function zeroSizeCases(create: (size: number) => ThreadPool): ConformanceCase[] {
  return poolCases('a pool of size 0', create, {
    'has no slot and takes nothing': async (test) => {
      assert.equal(test.pool.size, 0)
      assert.equal(test.pool.availableThreads(), 0)
      assert.equal(test.occupy(), null)
    },

    'keeps callers that wait for a slot until they give up or it is shut down': async ({ pool, clock }) => {
      const controller = new AbortController()
      const answers: number[] = []
      const note = (free: number): void => {
        answers.push(free)
      }
      const waits = [
        pool.blockForAvailableThreads(controller.signal).then(note),
        pool.blockForAvailableThreads(new AbortController().signal).then(note),
      ]
      await clock.advance(60_000)
      assert.deepEqual(answers, [])
      controller.abort()
      await waits[0]
      assert.deepEqual(answers, [0])
      assert.equal(await pool.shutdown({ waitForJobsToComplete: true }), 0)
      await waits[1]
      assert.deepEqual(answers, [0, 0])
    },
  })
}
