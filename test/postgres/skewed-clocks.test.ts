import { expect, test } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { postgresJobStore } from '../../src/jobstore/postgres/postgres-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import { zeroSizeThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { type Clock, type ClockTimer, systemClock } from '../../src/time/clock.ts'
import { FakeHost } from '../cli/fake-host.ts'
import { freshDatabase } from '../support/postgres-database.ts'

const minuteMs = 60_000
const job = defineJob('job', () => {})

/** The clock of a machine that is wrong; what waits for a minute is kept, and runs when the test says so. */
class WrongClock implements Clock {
  readonly eachMinute: (() => void)[] = []
  skewMs: number

  constructor(skewMs: number) {
    this.skewMs = skewMs
  }

  now(): number {
    return systemClock.now() + this.skewMs
  }

  elapsedMs(): number {
    return systemClock.elapsedMs()
  }

  setTimer(delayMs: number, onFire: () => void, options?: { unref?: boolean }): ClockTimer {
    if (delayMs === minuteMs) this.eachMinute.push(onFire)
    return systemClock.setTimer(delayMs, onFire, options)
  }

  setImmediate(onFire: () => void): ClockTimer {
    return systemClock.setImmediate(onFire)
  }
}

test.each([10 * minuteMs, -10 * minuteMs])(
  'what a node declares on a clock that is %i ms off is due in time',
  async (skewMs) => {
    await using database = await freshDatabase()
    await using scheduler = await createScheduler({
      jobs: [job],
      schedules: [defineSchedule(job, { key: 'declared', every: '1s' })],
      jobStore: postgresJobStore({ connectionString: database.connectionString }),
      clock: new WrongClock(skewMs),
      logger: false,
    })
    await scheduler.runNow('declared')
    const { items } = await scheduler.queryTriggers()
    expect(items.length).toBe(2)
    for (const { nextFireTimeMs } of items) {
      expect(Math.abs((nextFireTimeMs ?? 0) - systemClock.now())).toBeLessThan(minuteMs)
    }
    const skewed = scheduler.events.next('clockSkewed')
    await scheduler.start()
    expect(Math.abs((await skewed).offsetMs)).toBeGreaterThan(9 * minuteMs)
  },
)

test('a scheduler that is never started goes by the store when the clock of its machine changes', async () => {
  await using database = await freshDatabase()
  const clock = new WrongClock(0)
  await using scheduler = await createScheduler({
    jobs: [job],
    jobStore: postgresJobStore({ connectionString: database.connectionString }),
    threadPool: zeroSizeThreadPool(),
    clock,
    logger: false,
  })
  // As after a sleep of the machine, in which monotonic time stands still.
  const asleepMs = 30 * minuteMs
  const elapsedMs = clock.elapsedMs.bind(clock)
  clock.elapsedMs = () => elapsedMs() - asleepMs
  expect(systemClock.now() - scheduler.clock.now()).toBeGreaterThan(29 * minuteMs)
  clock.eachMinute[0]?.()
  await expect.poll(() => Math.abs(systemClock.now() - scheduler.clock.now())).toBeLessThan(minuteMs)
})

test('the command line says and stores times by the store', async () => {
  await using database = await freshDatabase()
  const jobStore = postgresJobStore({ connectionString: database.connectionString })
  await using scheduler = await createScheduler({ jobs: [job], jobStore, logger: false })
  await scheduler.schedule('job', { key: 'daily', every: '24h' })
  await scheduler.start()
  const host = new FakeHost({ clock: new WrongClock(-10 * minuteMs) })
  const store = ['--store', database.connectionString]
  expect(await runCli(['pause', 'job', 'daily', '--until', '5m', ...store], host)).toBe(0)
  const [daily] = (await scheduler.queryTriggers()).items
  const leftMs = (daily?.pause?.untilMs ?? 0) - systemClock.now()
  expect(leftMs).toBeGreaterThan(4 * minuteMs)
  expect(leftMs).toBeLessThan(6 * minuteMs)
})
