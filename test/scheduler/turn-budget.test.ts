import { describe, expect, test } from 'vitest'
import { createScheduler, defineJob, JobBuilder, TriggerBuilder } from '../../src/index.ts'
import { TurnBudget } from '../../src/scheduler/turn-budget.ts'
import { systemClock } from '../../src/time/clock.ts'

/** Answers of so many operations in a row: whether each was told to wait. */
async function spend(budget: TurnBudget, operations: number): Promise<boolean[]> {
  const waited: boolean[] = []
  for (let index = 0; index < operations; index++) {
    const turn = budget.spend()
    waited.push(turn !== null)
    await turn
  }
  return waited
}

describe('TurnBudget', () => {
  test('lets operations go on at once while the turn is young', async () => {
    const budget = new TurnBudget({ ...systemClock, elapsedMs: () => 3 })
    expect(await spend(budget, 100)).not.toContain(true)
  })

  test('ends a turn that has lasted three milliseconds, and then begins a new one', async () => {
    let elapsedMs = 0
    const budget = new TurnBudget({ ...systemClock, elapsedMs: () => elapsedMs })
    expect(budget.spend()).toBeNull()
    elapsedMs = 3
    expect((await spend(budget, 100)).filter(Boolean)).toHaveLength(1)
    elapsedMs = 6
    expect((await spend(budget, 100)).filter(Boolean)).toHaveLength(1)
  })

  test('does not hold up the first operation after a pause', async () => {
    let elapsedMs = 0
    const budget = new TurnBudget({ ...systemClock, elapsedMs: () => elapsedMs })
    expect(budget.spend()).toBeNull()
    await new Promise((resolve) => setImmediate(resolve))
    elapsedMs = 1000
    expect(budget.spend()).toBeNull()
  })

  test('gives timers and I/O their turn between schedule calls that are awaited one after the other', async () => {
    let elapsedMs = 0
    // Every look at the clock takes a millisecond, so that the test does not depend on the machine.
    const clock = { ...systemClock, elapsedMs: () => elapsedMs++ }
    const noop = defineJob('noop', () => {})
    await using scheduler = await createScheduler({ logger: false, jobs: [noop], clock })
    let turns = 0
    const countTurns = (): void => {
      turns++
      immediate = setImmediate(countTurns)
    }
    let immediate = setImmediate(countTurns)
    for (let index = 0; index < 400; index++) {
      const trigger = TriggerBuilder.newTrigger()
        .startAt(new Date(Date.now() + 3_600_000))
        .build()
      await scheduler.scheduleJob(JobBuilder.newJob(noop).build(), trigger)
    }
    clearImmediate(immediate)
    expect(turns).toBeGreaterThan(5)
  })
})
