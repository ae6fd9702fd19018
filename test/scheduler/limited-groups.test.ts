import { expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { TestCluster } from '../support/cluster.ts'

const nodes = ['a', 'b', 'c', 'd'] as const
const everyMs = 200
const runs = 20

interface Case {
  readonly limit: number
  readonly isNonConcurrent?: boolean
}

/**
 * How many transactions four nodes make while a trigger of a group runs again and again. Each node has claimed a later
 * trigger of another group.
 */
async function transactionsOf({ limit, isNonConcurrent = false }: Case): Promise<number> {
  const cluster = await TestCluster.open()
  const { clock } = cluster
  let ran = 0
  const work = defineJob('work', async () => {
    ran++
    await new Promise<void>((resolve) => clock.setTimer(10, resolve))
  })
  const jobGroupLimits = new Map([['reports', limit]])
  const schedulers = []
  for (const node of nodes) {
    schedulers.push(await cluster.startScheduler(node, { jobs: [work], jobGroupLimits }))
  }
  const [scheduler] = schedulers
  if (scheduler === undefined) return expect.fail('no node')
  const jobOf = (name: string, group: string): JobDetail =>
    JobBuilder.newJob('work').withIdentity(name, group).disallowConcurrentExecution(isNonConcurrent).build()
  const triggerOf = (name: string, inMs: number) =>
    TriggerBuilder.newTrigger({ clock })
      .withIdentity(name)
      .startAt(new Date(clock.now() + inMs))
  for (const [index, node] of nodes.entries()) {
    await scheduler.scheduleJob(jobOf(node, 'others'), triggerOf(node, 20_000 + index).build())
  }
  const schedule = SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(everyMs).repeatForever()
  await scheduler.scheduleJob(jobOf('often', 'reports'), triggerOf('often', 0).withSchedule(schedule).build())
  await clock.advance(1100)
  ran = 0
  cluster.transactionCount = 0
  await clock.advance(runs * everyMs)
  expect(ran).toBe(runs)
  return cluster.transactionCount
}

const cases = [
  // A run is one search of each node, one more of the node that runs it, and its end. The rest is check-ins and such.
  { what: 'that is full meanwhile', limit: 1, most: 145 },
  { what: 'that is never full', limit: 5, most: 145 },
  // It is claimed as well, and the nodes are told when its job is free again.
  { what: 'of a job that forbids concurrent execution', limit: 5, isNonConcurrent: true, most: 220 },
] as const

test.each(cases)('a run in a limited group $what costs no claims on later triggers', async (each) => {
  expect(await transactionsOf(each)).toBeLessThanOrEqual(each.most)
})

/** One node whose group 'reports' is limited to 1, and what ran on it. */
async function limitedNode(options: Pick<SchedulerOptions, 'threadPool'> = {}) {
  const cluster = await TestCluster.open()
  const { clock } = cluster
  const ran: string[] = []
  const beganMs = clock.now()
  const work = defineJob('work', ({ jobKey }) => {
    ran.push(`${jobKey.name} in second ${String(Math.floor((clock.now() - beganMs) / 1000))}`)
  })
  const jobGroupLimits = new Map([['reports', 1]])
  const scheduler = await cluster.startScheduler('a', { jobs: [work], jobGroupLimits, ...options })
  const storeOnce = async (name: string, group: string, atMs: number): Promise<void> => {
    const trigger = TriggerBuilder.newTrigger({ clock })
      .withIdentity(name)
      .startAt(new Date(beganMs + atMs))
    await scheduler.scheduleJob(JobBuilder.newJob('work').withIdentity(name, group).build(), trigger.build())
    await clock.advance(100)
  }
  return { clock, ran, storeOnce }
}

test('a trigger of a limited group fires in time behind a claim that was added to another one', async () => {
  const { clock, ran, storeOnce } = await limitedNode()
  await storeOnce('later', 'others', 20_000)
  await storeOnce('limited', 'reports', 3000)
  await storeOnce('earlier', 'others', 1000)
  await clock.advance(20_000)
  expect(ran).toEqual(['earlier in second 1', 'limited in second 3', 'later in second 20'])
})

test('a trigger of a limited group does not wait for a claim that has the only thread', async () => {
  const { clock, ran, storeOnce } = await limitedNode({ threadPool: { size: 1 } })
  await storeOnce('later', 'others', 20_000)
  await storeOnce('limited', 'reports', 3000)
  await clock.advance(20_000)
  expect(ran).toEqual(['limited in second 3', 'later in second 20'])
})
