import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { DueWatch, type Looked } from '../../src/scheduler/due-watch.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

/** A watch whose looks are held until they are answered; `answers` has those that are under way. */
function watchOf() {
  const clock = new ManualClock()
  const answers: ((looked: Looked) => void)[] = []
  const watch = new DueWatch({
    clock,
    jobStore: new RAMJobStore(),
    logger: silentLogger,
    what: 'things that are due',
    look: () => new Promise((resolve) => answers.push(resolve)),
    failed: nothing,
  })
  onTestFinished(() => {
    watch.stop()
  })
  watch.start()
  return { clock, answers, watch }
}

const nothing: Looked = { nextMs: null, whenDueMs: 0, atMostMs: Number.POSITIVE_INFINITY }

test('looks again after a look during which something became due', async () => {
  const { clock, answers, watch } = watchOf()
  watch.expect(clock.now() + 1000)
  await clock.advance(5000)
  expect(answers).toHaveLength(1)
  answers[0]?.(nothing)
  await clock.advance(0)
  expect(answers).toHaveLength(2)
  answers[1]?.(nothing)
  await clock.advance(60_000)
  expect(answers, 'nothing is due any more').toHaveLength(2)
})

test('looks again when it was stopped and started during a look', async () => {
  const { clock, answers, watch } = watchOf()
  watch.stop()
  watch.expect(clock.now() + 1000)
  await clock.advance(5000)
  watch.start()
  answers[0]?.(nothing)
  await clock.advance(0)
  expect(answers).toHaveLength(2)
})

test('does not look again when it was stopped during a look', async () => {
  const { clock, answers, watch } = watchOf()
  watch.expect(clock.now() + 1000)
  await clock.advance(5000)
  watch.stop()
  answers[0]?.(nothing)
  await clock.advance(60_000)
  expect(answers).toHaveLength(1)
})
