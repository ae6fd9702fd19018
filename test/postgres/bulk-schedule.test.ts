import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobAndTriggers } from '../../src/jobstore/job-and-triggers.ts'
import { postgresJobStore } from '../../src/postgres.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'

import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'

/** So many are stored without a look at what exists first. */
const many = 1200
const work = defineJob('work', () => {})

let database: TestDatabase
beforeAll(async () => {
  database = await freshDatabase()
  return () => database[Symbol.asyncDispose]()
})

async function startScheduler(schedulerName: string): Promise<Scheduler> {
  const jobStore = postgresJobStore({ connectionString: database.connectionString, listen: false })
  const scheduler = await createScheduler({ schedulerName, jobs: [work], jobStore, logger: false })
  onTestFinished(() => scheduler.shutdown())
  return scheduler
}

function entryOf(name: string): JobAndTriggers {
  const job = JobBuilder.newJob(work).withIdentity(name).build()
  const trigger = TriggerBuilder.newTrigger().withIdentity(name)
  return { job, triggers: [trigger.startAt(new Date(Date.now() + 3_600_000)).build()] }
}

const entries = (prefix: string): JobAndTriggers[] =>
  Array.from({ length: many }, (_, index) => entryOf(`${prefix}-${index}`))

async function countOf(scheduler: Scheduler): Promise<readonly number[]> {
  const counts = async (of: 'jobs' | 'triggers'): Promise<number> =>
    (await scheduler.getGroupCounts(of)).reduce((sum, { count }) => sum + count, 0)
  return [await counts('jobs'), await counts('triggers')]
}

test('a large call of new keys is stored whole', async () => {
  const scheduler = await startScheduler('whole')
  await scheduler.scheduleJobs(entries('new'))
  expect(await countOf(scheduler)).toEqual([many, many])
})

test.each([
  ['a job', 'job-taken', { triggers: [] }],
  ['a trigger', 'taken', { job: 'other' }],
])(
  'a large call with the key of %s that exists is refused by its name, and stores nothing',
  async (what, schedulerName, given) => {
    const scheduler = await startScheduler(schedulerName)
    const { triggers } = entryOf('new-700')
    const owner = JobBuilder.newJob(work)
      .withIdentity('job' in given ? given.job : 'new-700')
      .storeDurably()
    if ('job' in given) await scheduler.scheduleJobs([{ job: owner.build(), triggers }])
    else await scheduler.addJob(owner.build())
    const before = await countOf(scheduler)

    await expect(scheduler.scheduleJobs(entries('new'))).rejects.toMatchObject({
      code: 'ERR_OBJECT_ALREADY_EXISTS',
      message: expect.stringMatching(new RegExp(`${what.slice(2)} 'DEFAULT.new-700'`)) as string,
    })

    expect(await countOf(scheduler)).toEqual(before)
    await scheduler.scheduleJobs(entries('new'), { replace: true })
    expect(await scheduler.checkExists(jobKey('new-699'))).toBe(true)
  },
)

test('of two nodes that store the same keys at once, one stores all of them and the other is refused', async () => {
  const nodes = await Promise.all([startScheduler('both'), startScheduler('both')])
  const outcomes = await Promise.allSettled(nodes.map((node) => node.scheduleJobs(entries('new'))))
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'ERR_OBJECT_ALREADY_EXISTS' },
  })
  expect(await countOf(nodes[0])).toEqual([many, many])
})
