import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { lookAtExecutions, lookedAtMax } from '../../src/server/execution-stats.ts'
import { runMany } from '../support/run-many.ts'
import { filledScheduler } from '../support/server-fixture.ts'

test('says from when it counts where there was more than it looks at', async () => {
  const scheduler = await filledScheduler()
  await scheduler.start()
  await runMany(scheduler, new JobKey('daily', 'reports'), lookedAtMax + 50)
  const toMs = Date.now()
  const askedMs = toMs - 3_600_000
  const stats = await lookAtExecutions(scheduler, askedMs, toMs)
  expect([stats.count, stats.byOutcome]).toEqual([lookedAtMax, { succeeded: lookedAtMax }])
  expect(stats.fromMs).toBeGreaterThan(askedMs)
  // It took a few seconds, of which all buckets are a part.
  expect(stats.buckets[0]?.atMs).toBe(stats.fromMs)
  expect(stats.buckets.at(-1)?.atMs).toBeLessThan(Math.max(toMs, stats.fromMs + 1))
  expect(stats.buckets.reduce((sum, { byOutcome }) => sum + (byOutcome.succeeded ?? 0), 0)).toBe(lookedAtMax)
  await scheduler.shutdown()
})
