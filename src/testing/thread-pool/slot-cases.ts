import assert from 'node:assert/strict'
import type { ThreadPool } from '../../threadpool/thread-pool.ts'
import type { ConformanceCase } from '../conformance-case.ts'
import { type Execution, PoolUnderTest } from './harness.ts'

type Body = (underTest: PoolUnderTest) => Promise<void>

const never = new AbortController().signal

/** Makes cases that start with a fresh pool of two slots and shut it down at the end. */
export function poolCases(
  area: string,
  create: (size: number) => ThreadPool,
  bodies: Readonly<Record<string, Body>>,
): ConformanceCase[] {
  return Object.entries(bodies).map(([name, body]) => ({
    area,
    name,
    run: async () => {
      const underTest = await PoolUnderTest.start(create(2))
      try {
        await body(underTest)
      } finally {
        await underTest.stop()
      }
    },
  }))
}

/** The behaviour of every pool with slots. */
export function slotCases(create: (size: number) => ThreadPool): ConformanceCase[] {
  return [
    ...poolCases('slots', create, slots),
    ...poolCases('waiting for a slot', create, waiting),
    ...poolCases('shutdown', create, shutdown),
  ]
}

const slots: Record<string, Body> = {
  'an execution takes one slot from its start to its end': async (test) => {
    const { pool, clock } = test
    assert.equal(pool.size, 2)
    assert.equal(pool.availableThreads(), 2)
    const execution = occupy(test)
    assert.equal(execution.started, true)
    assert.equal(pool.availableThreads(), 1)
    execution.end()
    await clock.settle()
    assert.equal(pool.availableThreads(), 2)
  },

  'no more executions start than there are slots': async (test) => {
    const held = [occupy(test), occupy(test)]
    assert.equal(test.pool.availableThreads(), 0)
    assert.equal(test.occupy(), null)
    held.forEach(end)
    await test.clock.settle()
    end(occupy(test))
  },

  'an execution that rejects or throws gives its slot back and is logged': async ({
    pool,
    clock,
    errors,
  }) => {
    const failures = [
      () => Promise.reject(new Error('rejected')),
      () => {
        throw new Error('thrown')
      },
    ]
    for (const run of failures) assert.equal(pool.runInThread({ run }), true)
    await clock.settle()
    assert.equal(pool.availableThreads(), 2)
    assert.deepEqual(
      errors.map(({ fields }) => String((fields as { err: unknown }).err)),
      ['Error: thrown', 'Error: rejected'],
    )
  },

  'a pool belongs to one scheduler': async ({ pool, clock }) => {
    const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
    await assert.rejects(pool.initialize({ schedulerName: 'other', clock, logger }), {
      code: 'ERR_THREAD_POOL_IN_USE',
      message: /belongs to scheduler 'conformance' already/,
    })
  },
}

const waiting: Record<string, Body> = {
  'a free slot is told at once': async (test) => {
    assert.equal(await test.pool.blockForAvailableThreads(never), 2)
    end(occupy(test))
    assert.equal(await test.pool.blockForAvailableThreads(never), 1)
  },

  'a wait ends when an execution does': async (test) => {
    const [first, second] = [occupy(test), occupy(test)]
    const answers: number[] = []
    const wait = test.pool.blockForAvailableThreads(never).then((free) => answers.push(free))
    await test.clock.settle()
    assert.deepEqual(answers, [])
    first.end()
    await wait
    assert.deepEqual(answers, [1])
    second.end()
  },

  'a wait ends with 0 when its signal aborts, also when it is aborted already': async (test) => {
    const held = [occupy(test), occupy(test)]
    const controller = new AbortController()
    const wait = test.pool.blockForAvailableThreads(controller.signal)
    controller.abort()
    assert.equal(await wait, 0)
    assert.equal(await test.pool.blockForAvailableThreads(controller.signal), 0)
    held.forEach(end)
    await test.clock.settle()
    assert.equal(await test.pool.blockForAvailableThreads(controller.signal), 0)
  },

  'no wake-up is lost when a slot comes free between a look and the wait': async (test) => {
    const held = [occupy(test), occupy(test)]
    held.forEach(end)
    assert.equal(await test.pool.blockForAvailableThreads(never), 2)
  },

  'a slot that another execution took again is waited for again': async (test) => {
    const [first, second] = [occupy(test), occupy(test)]
    let answer: number | null = null
    const wait = test.pool.blockForAvailableThreads(never).then((free) => {
      answer = free
    })
    let third: Execution | null = null
    // Runs before the waiter does, because it has waited longer.
    const thief = test.pool.blockForAvailableThreads(never).then(() => {
      third = test.occupy()
    })
    first.end()
    await Promise.all([wait, thief])
    assert.equal(answer, 1)
    assert.notEqual(third, null)
    second.end()
    end(third)
  },

  'a thousand executions pass through two slots, never more than two at a time': async ({ pool, clock }) => {
    let running = 0
    let most = 0
    let done = 0
    for (let started = 0; started < 1000; started++) {
      await pool.blockForAvailableThreads(never)
      const run = async (): Promise<void> => {
        most = Math.max(most, ++running)
        await clock.settle()
        running--
        done++
      }
      assert.equal(pool.runInThread({ run }), true)
    }
    assert.equal(await pool.shutdown({ waitForJobsToComplete: true }), 0)
    assert.deepEqual({ done, most, running }, { done: 1000, most: 2, running: 0 })
  },
}

const shutdown: Record<string, Body> = {
  'a pool that is shut down takes nothing and keeps no caller waiting': async (test) => {
    const held = [occupy(test), occupy(test)]
    const wait = test.pool.blockForAvailableThreads(never)
    assert.equal(await test.pool.shutdown({ waitForJobsToComplete: false }), 2)
    assert.equal(await wait, 0)
    held.forEach(end)
    await test.clock.settle()
    assert.equal(test.occupy(), null)
    assert.equal(await test.pool.blockForAvailableThreads(never), 0)
    assert.equal(await test.pool.shutdown({ waitForJobsToComplete: false }), 0)
  },

  'a pool that is shut down before anything ran begins anew with the next scheduler': async (test) => {
    const { clock, logger, pool } = test
    assert.equal(await pool.shutdown({ waitForJobsToComplete: false }), 0)
    assert.equal(test.occupy(), null)
    await pool.initialize({ schedulerName: 'next', clock, logger })
    assert.equal(await pool.blockForAvailableThreads(never), 2)
    end(occupy(test))
    await assert.rejects(pool.initialize({ schedulerName: 'third', clock, logger }), {
      code: 'ERR_THREAD_POOL_IN_USE',
      message: /belongs to scheduler 'next' already/,
    })
  },

  'a pool that has run something says that it is shut down': async (test) => {
    const { clock, logger, pool } = test
    end(occupy(test))
    assert.equal(await pool.shutdown({ waitForJobsToComplete: true }), 0)
    await assert.rejects(pool.initialize({ schedulerName: 'next', clock, logger }), {
      code: 'ERR_THREAD_POOL_IN_USE',
      message: /is shut down/,
    })
  },

  'waiting lasts until the last execution has ended': async (test) => {
    const [first, second] = [occupy(test), occupy(test)]
    let left: number | null = null
    const stopping = test.pool.shutdown({ waitForJobsToComplete: true }).then((running) => {
      left = running
    })
    first.end()
    await test.clock.settle()
    assert.equal(left, null)
    second.end()
    await stopping
    assert.equal(left, 0)
  },

  'waiting ends at its deadline, with the number of those that still run': async (test) => {
    const execution = occupy(test)
    let left: number | null = null
    const stopping = test.pool.shutdown({ waitForJobsToComplete: true, timeoutMs: 500 }).then((running) => {
      left = running
    })
    await test.clock.advance(499)
    assert.equal(left, null)
    await test.clock.advance(1)
    await stopping
    assert.equal(left, 1)
    const again = test.pool.shutdown({ waitForJobsToComplete: true, timeoutMs: 500 })
    execution.end()
    assert.equal(await again, 0)
    assert.equal(test.clock.timerCount, 0)
  },

  'a call that waits without a deadline holds up none that has one': async (test) => {
    const execution = occupy(test)
    const without = test.pool.shutdown({ waitForJobsToComplete: true })
    let left: number | null = null
    const stopping = test.pool.shutdown({ waitForJobsToComplete: true, timeoutMs: 500 }).then((running) => {
      left = running
    })
    await test.clock.advance(500)
    assert.equal(left, 1)
    await stopping
    execution.end()
    assert.equal(await without, 0)
    assert.equal(test.clock.timerCount, 0)
  },

  'an idle pool shuts down at once, also twice': async ({ pool, clock }) => {
    assert.equal(await pool.shutdown({ waitForJobsToComplete: true, timeoutMs: 500 }), 0)
    assert.equal(await pool.shutdown({ waitForJobsToComplete: true, timeoutMs: 500 }), 0)
    assert.equal(clock.timerCount, 0)
  },
}

function occupy(test: PoolUnderTest): Execution {
  const execution = test.occupy()
  assert.notEqual(execution, null, 'a pool with a free slot takes an execution')
  return execution as Execution
}

function end(execution: Execution | null): void {
  execution?.end()
}

function ignore(): void {}
