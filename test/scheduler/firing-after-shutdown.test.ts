import { expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { TestCluster } from '../support/cluster.ts'
import { latch } from '../support/latch.ts'

test('a job does not begin on a node that has left, whose work the others take over', async () => {
  const cluster = await TestCluster.open()
  const ran: string[] = []
  const failures: unknown[] = []
  const jobOf = (node: string) =>
    defineJob(
      'job',
      () => {
        ran.push(node)
      },
      { retry: { attempts: 1 } },
    )
  const heard = latch()
  const told = latch()
  const ended = latch()
  const leaving = await cluster.startScheduler('leaving', { jobs: [jobOf('leaving')] })
  leaving.listenerManager.addJobListener({
    name: 'slow',
    jobToBeExecuted: async () => {
      told.open()
      await heard.promise
    },
    jobWasExecuted: () => {
      ended.open()
    },
  })
  leaving.events.on('retriesExhausted', (event) => failures.push(event))
  await leaving.schedule('job', { key: 'once', in: '1s', requestRecovery: true })
  await cluster.clock.advance(1000)
  await told.promise
  await cluster.startScheduler('other', { jobs: [jobOf('other')] })
  await leaving.shutdown()
  await cluster.clock.advance(30_000)
  expect(ran).toEqual(['other'])
  heard.open()
  await ended.promise
  expect(ran).toEqual(['other'])
  expect(failures).toEqual([])
})
