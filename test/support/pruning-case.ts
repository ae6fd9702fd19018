import type { JobStore } from 'quartz-ts/spi'
import { expect, onTestFinished, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { RecordOptions } from '../../src/jobstore/record-options.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'

/** A database of one test. */
export interface PrunedDatabase {
  open(options: RecordOptions): JobStore
  /** Runs a statement on a connection of its own; answers the first column of the first row. */
  run(statement: string): Promise<unknown>
}

const schedulerName = 'QuartzScheduler'
const oldRows = 100_000

/** 100,000 executions of two days ago, one a millisecond. Answers how many of them are left. */
async function fill(database: PrunedDatabase): Promise<() => Promise<number>> {
  const firedMs = Date.now() - 2 * 86_400_000
  await database.run(`INSERT INTO qrtz_execution_history (sched_name, fire_instance_id, trigger_name, trigger_group,
      job_name, job_group, job_type, instance_name, planned_time, fired_time, finished_time, attempt, outcome,
      error_text, recovering)
    WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${String(oldRows)})
    SELECT '${schedulerName}', 'old-' || CAST(i AS text), 't', 'g', 'j', 'g', 'noop', 'n', ${String(firedMs)},
      ${String(firedMs)} + i, ${String(firedMs)} + i, 1, 'failed', NULL, false FROM s`)
  return async () => {
    const oldestMs = await database.run('SELECT MIN(fired_time) FROM qrtz_execution_history')
    return Math.max(0, firedMs + oldRows + 1 - Number(oldestMs))
  }
}

/** A clock of which a minute can be skipped, as long as no timer is armed. */
function skippableClock(): Clock & { skip(ms: number): void } {
  let skippedMs = 0
  return {
    ...systemClock,
    elapsedMs: () => systemClock.elapsedMs() + skippedMs,
    skip(ms) {
      skippedMs += ms
    },
  }
}

/** What every database has to do about firings while it deletes what is too old. */
export function pruningCase(engine: string, prepare: () => Promise<PrunedDatabase>): void {
  test(`${engine} fires on time while it deletes 100,000 old executions`, async () => {
    const database = await prepare()
    const clock = skippableClock()
    let noteRun = (): void => {}
    const scheduler = await createScheduler({
      schedulerName,
      clock,
      jobs: [
        defineJob('often', () => {
          noteRun()
        }),
      ],
      logger: false,
      jobStore: database.open({ history: { record: 'all', maxAgeMs: 86_400_000 } }),
    })
    onTestFinished(() => scheduler.shutdown({ waitForJobsToComplete: true }))
    const key = new JobKey('often')
    await scheduler.addJob(JobBuilder.newJob('often').withIdentity(key).storeDurably().build())
    const countLeft = await fill(database)
    clock.skip(60_000)
    await scheduler.start()
    // How many old rows went from when a job was to run until it ran: no machine is too slow for such a measure.
    const deletedMeanwhile: number[] = []
    for (let left = await countLeft(); left > 0; ) {
      const ran = new Promise<void>((resolve) => {
        noteRun = resolve
      })
      await scheduler.triggerJob(key)
      await ran
      const before = left
      left = await countLeft()
      deletedMeanwhile.push(before - left)
    }
    expect(Math.max(...deletedMeanwhile)).toBeLessThan(oldRows / 4)
  })
}
