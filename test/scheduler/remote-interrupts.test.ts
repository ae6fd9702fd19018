import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  jobKey,
  type RemoteJobContext,
  ramJobStore,
} from '../../src/index.ts'
import type { JobStoreAwaitedResults } from '../../src/jobstore/awaited-results.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { latch } from '../support/latch.ts'

const key = jobKey('orders')

/** What goes on elsewhere is written down when the gate is open. */
class SlowToWriteDown extends DelegatingJobStore {
  readonly asked = latch()
  readonly gate = latch()

  override get awaitedResults(): JobStoreAwaitedResults | null {
    const { awaitedResults: inner } = this.inner
    return (
      inner && {
        put: async (results) => {
          this.asked.open()
          await this.gate.promise
          return inner.put(results)
        },
        find: (references) => inner.find(references),
        findTarget: (target) => inner.findTarget(target),
        inFlight: (skip) => inner.inFlight(skip),
        overdue: (nowMs, skip) => inner.overdue(nowMs, skip),
      }
    )
  }
}

/** A started scheduler whose job fires now. */
async function open(jobStore: JobStore, prepare: () => Promise<void>) {
  const told: string[] = []
  const send = async (context: RemoteJobContext): Promise<void> => {
    await prepare()
    await context.awaitResult({ reference: 'run', timeoutMs: 3_600_000 })
    told.push('sent')
  }
  const job = defineRemoteJob('r', send)
  const scheduler = await createScheduler({ logger: false, jobs: [job], jobStore })
  onTestFinished(() => scheduler.shutdown())
  scheduler.events.on('jobWasExecuted', ({ error }) => told.push(error?.code ?? 'succeeded'))
  await scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
  await scheduler.start()
  await scheduler.triggerJob(key)
  return { scheduler, told }
}

describe.each([
  ['memory', () => ramJobStore()],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' })],
] as const)(
  'a job that is interrupted before its firing goes on elsewhere, on a store in %s',
  (_, newStore) => {
    test('is refused when it asks afterwards, sends nothing, and ends as interrupted', async () => {
      const begun = latch()
      const ready = latch()
      const { scheduler, told } = await open(newStore(), () => {
        begun.open()
        return ready.promise
      })
      await begun.promise
      expect(await scheduler.interrupt(key)).toBe(true)
      ready.open()
      await scheduler.idle()
      expect(told).toEqual(['ERR_JOB_INTERRUPTED'])
      expect(await scheduler.cluster.executingJobs()).toEqual([])
    })

    test('is refused when it has just been written down, sends nothing, and ends as interrupted', async () => {
      const store = new SlowToWriteDown(newStore())
      const { scheduler, told } = await open(store, () => Promise.resolve())
      await store.asked.promise
      expect(await scheduler.interrupt(key)).toBe(true)
      store.gate.open()
      await scheduler.idle()
      expect(told).toEqual(['ERR_JOB_INTERRUPTED'])
      expect(await scheduler.cluster.executingJobs()).toEqual([])
      expect(await scheduler.awaitsResult('run')).toBe(false)
    })
  },
)
