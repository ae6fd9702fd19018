import { expect, test } from 'vitest'
import { noFiringLaterThan } from '../../src/health/health-rules.ts'
import { schedulerHealth } from '../../src/health/scheduler-health.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { postgresJobStore } from '../../src/jobstore/postgres/postgres-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { freshDatabase } from '../support/postgres-database.ts'

const fastMs = 600_000

test('a trigger is late by the time of the database, also on a machine whose clock is fast', async () => {
  await using database = await freshDatabase()
  const clock = { ...systemClock, now: () => systemClock.now() + fastMs }
  await using scheduler = await createScheduler({
    jobs: [defineJob('report', () => {})],
    jobStore: postgresJobStore({ connectionString: database.connectionString }),
    clock,
    logger: false,
  })
  const skewed = scheduler.events.next('clockSkewed')
  await scheduler.start()
  expect((await skewed).offsetMs).toBeLessThan(-fastMs / 2)
  // The node's row has what it has measured after the check-in that follows.
  const ownOffsetMs = async (): Promise<number> => (await scheduler.cluster.nodes())[0]?.clockOffsetMs ?? 0
  await expect.poll(ownOffsetMs).toBeLessThan(-fastMs / 2)
  await scheduler.standby()
  await scheduler.schedule('report', { every: '1h' })
  await expect.poll(() => scheduler.getEarliestDueTime()).not.toBeNull()
  const rulesOf = async (ms: number): Promise<readonly string[]> => {
    const health = schedulerHealth(scheduler, { clock, rules: [noFiringLaterThan(ms)] })
    return (await health.rules()).reasons.map(({ code }) => code)
  }
  expect(await rulesOf(fastMs / 2)).toEqual([])
  expect(await rulesOf(1)).toEqual(['firingLate'])
})
