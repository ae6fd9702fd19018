import { createScheduler, defineJob, inProcessThreadPool, JobBuilder, jobKey } from 'quartz-ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

test('ends that a rule of the DBA refuses stop no other job', async () => {
  const newStore = await stores.prepare()
  const bad = (jobType: string) =>
    defineJob(jobType, () => {
      throw new Error('against the rule')
    })
  const jobs = [bad('bad'), bad('worse'), defineJob('well', () => {})]
  const scheduler = await createScheduler({
    jobStore: newStore({ history: { record: 'all' } }),
    jobs,
    threadPool: inProcessThreadPool({ size: 2 }),
    logger: false,
  })
  onTestFinished(() => scheduler.shutdown())
  const history = `${stores.lastSchema()}.qrtz_execution_history`
  await stores.database().query(`ALTER TABLE ${history} ADD CHECK (error_text NOT LIKE '%against the rule')`)
  for (const { jobType } of jobs) {
    await scheduler.addJob(JobBuilder.newJob(jobType).withIdentity(jobType).storeDurably().build())
  }
  await scheduler.start()
  // Many more than may lag behind, with all threads.
  for (let run = 0; run < 10; run++) {
    for (const job of ['bad', 'worse', 'well']) await scheduler.triggerJob(job)
  }
  const wellRuns = async (count: number): Promise<void> => {
    await vi.waitFor(
      async () => {
        const { items } = await scheduler.queryExecutions({ jobKey: jobKey('well') })
        expect(items).toHaveLength(count)
      },
      { timeout: 30_000, interval: 20 },
    )
  }
  await wellRuns(10)
  await scheduler.triggerJob('well')
  await wellRuns(11)
  // Once the rule is gone, what it had refused is written.
  await stores
    .database()
    .query(`ALTER TABLE ${history} DROP CONSTRAINT qrtz_execution_history_error_text_check`)
  await vi.waitFor(
    async () => {
      expect((await scheduler.queryExecutions({ jobKey: jobKey('worse') })).items).toHaveLength(10)
    },
    { timeout: 30_000, interval: 20 },
  )
})
