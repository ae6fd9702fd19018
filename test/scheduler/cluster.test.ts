import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

test('a scheduler whose store has no cluster answers for itself', async () => {
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const work = defineJob('work', async ({ signal }) => {
    begin()
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
    })
  })
  await using scheduler = await createScheduler({ jobs: [work], instanceId: 'alone' })
  await scheduler.start()
  await expect(scheduler.cluster.nodes()).resolves.toMatchObject([
    { instanceId: 'alone', isSelf: true, state: 'alive', jobTypes: ['work'] },
  ])
  await expect(scheduler.cluster.executingJobs()).resolves.toEqual([])
  const job = JobBuilder.newJob(work).withIdentity('long').build()
  await scheduler.scheduleJob(job, TriggerBuilder.newTrigger().build())
  await begun
  const [execution = expect.fail('it runs')] = await scheduler.cluster.executingJobs()
  expect(execution).toMatchObject({ node: 'alone' })
  await expect(scheduler.interrupt(new JobKey('nobody'))).resolves.toBe(false)
  await expect(scheduler.interrupt(execution)).resolves.toBe(true)
  await scheduler.shutdown({ waitForJobsToComplete: true })
  await expect(scheduler.cluster.nodes()).rejects.toMatchObject({ code: 'ERR_SCHEDULER_SHUTDOWN' })
})
