import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

const alone = 'alone'

test('a scheduler whose store has no cluster stands by, drains and starts, and says how far it is', async () => {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const work = defineJob('work', () => ended)
  await using scheduler = await createScheduler({ jobs: [work], instanceId: alone, logger: false })
  const { cluster } = scheduler
  const shown = async (): Promise<unknown> => {
    const [node = expect.fail('it is there')] = await cluster.nodes()
    return [node.status, node.executing]
  }
  expect(await shown()).toEqual(['standby', 0])
  expect(await cluster.start(alone)).toMatchObject({
    changed: true,
    confirmed: true,
    node: { status: 'started' },
  })
  expect(await cluster.start(alone)).toMatchObject({ changed: false, confirmed: true })
  const begun = scheduler.events.next('jobToBeExecuted')
  await scheduler.scheduleJob(
    JobBuilder.newJob(work).withIdentity('long').build(),
    TriggerBuilder.newTrigger().build(),
  )
  await begun
  expect(await cluster.drain(alone)).toMatchObject({
    changed: true,
    node: { status: 'draining', executing: 1 },
  })
  expect(scheduler.isInStandbyMode).toBe(true)
  expect(await cluster.standby(alone)).toMatchObject({ changed: false, node: { status: 'draining' } })
  end()
  await scheduler.idle()
  expect(await shown()).toEqual(['draining', 0])
  await cluster.start(alone)
  await cluster.standby(alone)
  expect(await shown()).toEqual(['standby', 0])
  expect(await cluster.drain(alone)).toMatchObject({ changed: true, node: { status: 'draining' } })
  await expect(cluster.remove(alone)).rejects.toMatchObject({ code: 'ERR_NODE_ALIVE' })
  await expect(cluster.remove('gone')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
  await expect(cluster.drain('gone')).rejects.toMatchObject({ code: 'ERR_NOT_FOUND' })
})

test('a node that is looked at measures how late its event loop is', async () => {
  await using scheduler = await createScheduler({ instanceId: alone, logger: false })
  const lag = async (): Promise<number | null> => (await scheduler.cluster.nodes())[0]?.eventLoopLagMs ?? null
  expect(await lag()).toBeNull()
  await expect.poll(lag).not.toBeNull()
  const held = Date.now() + 400
  while (Date.now() < held);
  await expect.poll(lag).toBeGreaterThan(100)
})

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
