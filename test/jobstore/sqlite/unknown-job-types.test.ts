import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/define-job.ts'
import { JobBuilder } from '../../../src/jobs/job-builder.ts'
import type { JobStoreCluster, SchedulerNode } from '../../../src/jobstore/cluster-view.ts'
import { DelegatingJobStore } from '../../../src/jobstore/delegating-job-store.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { SchedulerEventMap } from '../../../src/listeners/events.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

/** A store of a cluster whose other nodes are what the test says. */
class ClusteredStore extends DelegatingJobStore {
  peers: Pick<SchedulerNode, 'state' | 'jobTypes'>[] = []

  override get cluster(): JobStoreCluster {
    const nodes = async (): Promise<readonly SchedulerNode[]> => this.peers as SchedulerNode[]
    const nothing = async (): Promise<void> => {}
    return {
      nodes,
      executing: async () => [],
      interrupt: nothing,
      order: nothing,
      announce: () => {},
      remove: nothing,
    }
  }
}

/** A file in which triggers wait for the job type `report`: one now, one in 90 seconds. */
async function afterRename() {
  const clock = new ManualClock()
  const filename = join(temporaryFolder(), 'jobs.db')
  const store = new ClusteredStore(sqliteJobStore({ filename }))
  const warnings: string[] = []
  const ignore = (): void => {}
  const warn = (_fields: object, message: string): void => {
    warnings.push(message)
  }
  const logger = { debug: ignore, info: ignore, warn, error: warn }
  const open = (jobType: string): Promise<Scheduler> =>
    createScheduler({ clock, jobs: [defineJob(jobType, ignore)], jobStore: store, logger })
  {
    await using before = await open('report')
    const at = (name: string, inMs: number) =>
      TriggerBuilder.newTrigger({ clock })
        .withIdentity(name)
        .startAt(new Date(clock.now() + inMs))
        .build()
    const job = JobBuilder.newJob('report').withIdentity('daily').build()
    await before.scheduleJob(job, [at('first', 0), at('second', 90_000)])
  }
  const scheduler = await open('reports')
  const told: SchedulerEventMap['jobTypeUnknown'][] = []
  scheduler.events.on('jobTypeUnknown', (event) => told.push(event))
  return { clock, scheduler, store, told, warnings }
}

test('a job type that was renamed is told once, with what waits for it', async () => {
  const { clock, scheduler, told, warnings } = await afterRename()
  await scheduler.start()
  await clock.advance(600_000)
  expect(told.map(({ triggerKeys, jobKeys, ...rest }) => [rest, triggerKeys.join(), jobKeys.join()])).toEqual(
    [[{ jobType: 'report', waiting: 1 }, 'DEFAULT.first', 'DEFAULT.daily']],
  )
  expect(warnings).toEqual([
    expect.stringMatching(/'report', and 1 due trigger waits.*DEFAULT\.first.*renamed to 'reports'\?$/),
  ])
  await scheduler.shutdown()
  expect(clock.timerCount).toBe(0)
})

test('it is not while a living node has it, or may have it, and is within a minute after that', async () => {
  const { clock, scheduler, store, told } = await afterRename()
  store.peers = [{ state: 'overdue', jobTypes: ['report'] }]
  await scheduler.start()
  await clock.advance(120_000)
  store.peers = [{ state: 'alive', jobTypes: null }]
  await clock.advance(120_000)
  expect(told).toEqual([])
  store.peers = [
    { state: 'failed', jobTypes: ['report'] },
    { state: 'alive', jobTypes: ['reports'] },
  ]
  await clock.advance(60_000)
  expect(told.map(({ jobType, waiting }) => [jobType, waiting])).toEqual([['report', 2]])
  await scheduler.shutdown()
})

test('a look that fails is made again', async () => {
  const { clock, scheduler, store, told } = await afterRename()
  let failures = 1
  const look = store.queryUnknownJobTypes.bind(store)
  store.queryUnknownJobTypes = () => (failures-- > 0 ? Promise.reject(new Error('away')) : look())
  await scheduler.start()
  await clock.advance(59_000)
  expect(told).toEqual([])
  await clock.advance(1000)
  expect(told).toHaveLength(1)
  await scheduler.shutdown()
})
