import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { ClusterScheduling } from '../../src/annotations/cluster/cluster-scheduling.ts'
import { enableScheduling } from '../../src/annotations/enable-scheduling.ts'
import { scheduled } from '../../src/annotations/scheduled.ts'
import type { ScheduledOptions } from '../../src/annotations/scheduled-options.ts'
import type { ClusterSchedulingOptions } from '../../src/annotations/scheduling-options.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { temporaryFolder } from './sqlite.ts'

export type Store = NonNullable<SchedulerOptions['jobStore']>

/** One run of an application, from its start to its end. */
export interface Application {
  readonly scheduler: Scheduler
  readonly scheduling: ClusterScheduling
  stop(): Promise<void>
}

/** Starts it with methods as jobs; it ends with the test, without an error of its scheduler. */
export async function startApplication(
  clock: ManualClock,
  jobStore: Store,
  instances: readonly object[],
  options: Partial<ClusterSchedulingOptions> = {},
): Promise<Application> {
  const other = defineJob('other', () => undefined)
  const scheduler = await createScheduler({ logger: false, clock, jobStore, jobs: [other] })
  const errors: unknown[] = []
  scheduler.events.on('schedulerError', ({ error }) => errors.push(error))
  const scheduling = await enableScheduling({ cluster: scheduler, instances, ...options })
  await scheduler.start()
  const stop = async (): Promise<void> => {
    const ended = scheduler.shutdown({ waitForJobsToComplete: true })
    // What still runs ends by this clock.
    if (scheduler.getCurrentlyExecutingJobs().length > 0) await clock.advance(10_000)
    await ended
    expect(errors).toEqual([])
  }
  onTestFinished(stop)
  return { scheduler, scheduling, stop }
}

/** Notes what ran, and when after its own beginning. */
export class Recorder {
  readonly #clock: ManualClock
  readonly #startMs: number
  readonly runs: string[] = []

  constructor(clock: ManualClock) {
    this.#clock = clock
    this.#startMs = clock.now()
  }

  note(name: string): void {
    this.runs.push(`${name} ${this.#clock.now() - this.#startMs}`)
  }

  /** An object with one scheduled method. */
  task(name: string, options: ScheduledOptions, takesMs = 0): object {
    const run = async (): Promise<void> => {
      this.note(name)
      if (takesMs > 0) await new Promise<void>((resolve) => this.#clock.setTimer(takesMs, resolve))
    }
    return { run: scheduled({ name, ...options }, run) }
  }
}

/** What an application needs that starts again on one SQLite file. */
export function restart(): { clock: ManualClock; recorder: Recorder; store: () => Store } {
  const clock = new ManualClock()
  const filename = join(temporaryFolder(), 'jobs.sqlite')
  return { clock, recorder: new Recorder(clock), store: () => sqliteJobStore({ filename }) }
}
