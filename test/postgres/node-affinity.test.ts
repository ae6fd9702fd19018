import { createScheduler, defineJob, JobBuilder, type Scheduler, TriggerBuilder } from 'quartz-ts'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStores } from '../support/sql-stores.ts'

const stores = postgresStores()

test('jobs run on the nodes that they are for', async () => {
  const newStore = await stores.prepare()
  const ran: string[] = []
  let tell = (): void => {}
  const open = async (instanceId: string): Promise<Scheduler> => {
    const work = defineJob('work', ({ jobKey }) => {
      ran.push(`${jobKey.name} on ${instanceId}`)
      tell()
    })
    const scheduler = await createScheduler({
      logger: false,
      jobStore: newStore(),
      instanceId,
      jobs: [work],
      idleWaitMs: 1000,
    })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.start()
    return scheduler
  }
  const run = async (scheduler: Scheduler, name: string, node: string, required: boolean): Promise<void> => {
    const ended = new Promise<void>((resolve) => {
      tell = resolve
    })
    const job = JobBuilder.newJob('work').withIdentity(name).onNodes([node], { required }).build()
    await scheduler.scheduleJob(job, TriggerBuilder.newTrigger().withIdentity(name).build())
    await ended
  }
  const one = await open('node-1')
  const two = await open('node-2')
  for (let count = 0; count < 5; count++) await run(one, `required ${String(count)}`, 'node-2', true)
  for (let count = 0; count < 5; count++) await run(two, `preferred ${String(count)}`, 'node-1', false)
  expect(ran.map((text) => text.replace(/\d+ /, ''))).toEqual([
    ...Array.from({ length: 5 }, () => 'required on node-2'),
    ...Array.from({ length: 5 }, () => 'preferred on node-1'),
  ])
  await one.shutdown({ waitForJobsToComplete: true })
  await run(two, 'preferred 6', 'node-1', false)
  expect(ran.at(-1)).toBe('preferred 6 on node-2')
})
