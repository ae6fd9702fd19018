import { expect, test, vi } from 'vitest'
import { CronTaskTrigger } from '../../src/annotations/cron-task-trigger.ts'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

test('S7: tasks that wait for no promise make no other one wait, whatever schedules them', async () => {
  const clock = new ManualClock()
  const startMs = clock.now()
  const logged = vi.fn()
  const logger = { ...silentLogger, warn: logged, error: logged }
  await using scheduler = new ThreadPoolTaskScheduler({ clock, logger, poolSize: 1, errorHandler: () => {} })
  const starved: object[] = []
  scheduler.events.on('taskWaiting', (payload) => starved.push(payload))
  const runs: number[] = []
  const note = (): void => {
    runs.push(clock.now() - startMs)
  }
  const fails = (): never => {
    note()
    throw new Error('planned')
  }
  for (const task of [note, fails]) {
    scheduler.schedule(task, startMs + 1000)
    scheduler.scheduleAtFixedRate(task, 1000)
    scheduler.scheduleWithFixedDelay(task, startMs + 1000, 1000)
    scheduler.schedule(task, new CronTaskTrigger('* * * * * *', { zone: 'UTC' }))
  }
  await clock.advance(3500)
  expect(runs.filter((ms) => ms === 1000)).toHaveLength(8)
  expect(runs).toHaveLength(2 * (1 + 4 + 3 + 3))
  expect([starved, logged.mock.calls]).toEqual([[], []])
})
