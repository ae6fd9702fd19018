import { expect, it } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { shutdownHookPlugin } from '../../src/plugins/shutdown-hook-plugin.ts'
import { timerDelayMaxMs } from '../../src/time/clock.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const { scheduler } = await schedulerFixture()

/** A longer delay than timers keep would pass at once, or early; each of these says no instead. */
it.each<[string, (ms: number) => unknown, string?]>([
  [
    'startDelayed',
    (ms) => {
      scheduler.startDelayed(ms)
    },
    'ERR_INVALID_ARGUMENT',
  ],
  ['shutdown', (ms) => scheduler.shutdown({ timeoutMs: ms })],
  ['withTimeout', (ms) => JobBuilder.newJob('j').withTimeout(ms), 'ERR_INVALID_ARGUMENT'],
  ['defineJob', (ms) => defineJob('j', () => {}, { timeoutMs: ms })],
  ['shutdownHookPlugin', (ms) => shutdownHookPlugin({ interruptAfterMs: ms })],
])('%s refuses a delay that no timer can keep', async (_, use, code = 'ERR_INVALID_OPTION') => {
  for (const ms of [timerDelayMaxMs + 1, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(async () => use(ms), String(ms)).rejects.toMatchObject({ code })
  }
  expect(scheduler.isShutdown).toBe(false)
})
