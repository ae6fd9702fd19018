import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  type Scheduler,
  TriggerBuilder,
} from '../../src/index.ts'
import type { StoreMaker } from './sql-stores.ts'

/** So long that what happens in time happens because the scheduler is woken. */
const idleWaitMs = 3_600_000
/** The name of a job, its group, and when it is due. */
const jobs = [
  ['first', 'reports', -3000],
  ['second', 'reports', -2000],
  ['other', 'others', -1000],
] as const

interface Rig {
  /** In the order in which they were sent. */
  readonly begun: string[]
  readonly open: (instanceId: string) => Promise<Scheduler>
}

/** Remote jobs, of which one of the group `reports` may be executing at once. */
async function rig(stores: StoreMaker): Promise<Rig> {
  const newStore = await stores.prepare()
  const begun: string[] = []
  return {
    begun,
    async open(instanceId) {
      const order = defineRemoteJob('order', async (context) => {
        await context.awaitResult({ reference: context.jobKey.name, timeoutMs: 600_000 })
        begun.push(context.jobKey.name)
      })
      const scheduler = await createScheduler({
        logger: false,
        jobs: [order],
        jobStore: newStore({ jobGroupLimits: { reports: 1 } }),
        instanceId,
        idleWaitMs,
      })
      onTestFinished(() => scheduler.shutdown())
      return scheduler
    },
  }
}

async function schedule(scheduler: Scheduler): Promise<void> {
  for (const [name, group, dueMs] of jobs) {
    const job = JobBuilder.newJob('order').withIdentity(name, group).build()
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name)
      .startAt(new Date(Date.now() + dueMs))
    await scheduler.scheduleJob(job, trigger.build())
  }
}

/** Resolves when the other job has begun, which is due last. */
async function begins(scheduler: Scheduler, begun: readonly string[]): Promise<void> {
  await scheduler.start()
  await vi.waitUntil(() => begun.includes('other'), { timeout: 30_000, interval: 5 })
  await scheduler.idle()
}

export function remoteLimitCases(stores: StoreMaker): void {
  describe(`a limit for a job group, on ${stores.engine}`, () => {
    test('counts a remote job until its result', async () => {
      const { begun, open } = await rig(stores)
      const scheduler = await open('node-1')
      await schedule(scheduler)
      await begins(scheduler, begun)
      expect(begun).toEqual(['first', 'other'])
      const next = scheduler.events.next('jobToBeExecuted')
      expect(await scheduler.reportResult('first')).toBe(true)
      await next
      await scheduler.idle()
      expect(begun).toEqual(['first', 'other', 'second'])
    })

    test('counts a remote job also after another node has taken it over', async () => {
      const { begun, open } = await rig(stores)
      const first = await open('node-1')
      await schedule(first)
      await begins(first, begun)
      await first.shutdown()
      const second = await open('node-2')
      await second.start()
      await vi.waitFor(
        async () => {
          const executing = await second.cluster.executingJobs()
          expect(executing.map(({ node }) => node)).toEqual(['node-2', 'node-2'])
        },
        { timeout: 30_000, interval: 20 },
      )
      await second.idle()
      expect(begun).toEqual(['first', 'other'])
      const next = second.events.next('jobToBeExecuted')
      expect(await second.reportResult('first')).toBe(true)
      await next
      await second.idle()
      expect(begun).toEqual(['first', 'other', 'second'])
    })
  })
}
