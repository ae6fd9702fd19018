import { resolveSharding } from '../../src/jobs/sharding.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type { TriggerFiredResult } from '../../src/jobstore/job-store.ts'
import { settleLostItems } from '../../src/jobstore/sql/cluster/lost-items.ts'
import { recoverInstance } from '../../src/jobstore/sql/cluster/recovery.ts'
import type { SqlProgram } from '../../src/jobstore/sql/kernel/statement.ts'
import type { SqlTransaction } from '../../src/jobstore/sql/session/sql-session.ts'
import { completionOf, jobDetail, only, type Testbed } from '../../src/testing/job-store/testbed.ts'
import type { Scene, StoreOperation } from './store-operations.ts'

const job = jobDetail('sharded', { sharding: resolveSharding({ items: 3 }), requestsRecovery: true })

/** Claims the trigger of a sharded job; `times` is how often it fires in all. */
async function claim(bed: Testbed, times: number) {
  await bed.schedule('sharded', { job, everyMs: 60_000, times })
  return only(await bed.acquire({ maxCount: 1 }))
}

/** What executes by these answers: for a claim that was split, one of its items. */
export function firingsOf(results: readonly TriggerFiredResult[]): TriggerFiredBundle[] {
  return results.flatMap((result) => (result.kind === 'fired' ? [result.bundle] : []))
}

/** Begins the three items of a firing. */
async function begin(bed: Testbed, times = 2): Promise<readonly TriggerFiredBundle[]> {
  const bundles = firingsOf(await bed.store.triggersFired([await claim(bed, times)]))
  for (const item of await bed.acquire()) bundles.push(await bed.fire(item))
  return bundles
}

/** Fires again while the items of the first firing run: those of the second are held. */
async function fireAgain(bed: Testbed): Promise<void> {
  await bed.clock.advance(60_000)
  await bed.store.triggersFired(await bed.acquire({ maxCount: 1 }))
}

/** Each with as much to do as it can have. */
export const shardOperations: readonly StoreOperation[] = [
  {
    name: 'triggersFired, of a sharded job for the last time',
    prepare: async ({ bed }: Scene) => {
      const claimed = await claim(bed, 1)
      return () => bed.store.triggersFired([claimed])
    },
  },
  {
    name: 'triggersFired, of a sharded job whose items run',
    prepare: async ({ bed }: Scene) => {
      await begin(bed, 5)
      await bed.clock.advance(60_000)
      const claims = await bed.acquire({ maxCount: 1 })
      return () => bed.store.triggersFired(claims)
    },
  },
  {
    name: 'triggeredJobsComplete, of the last item while another firing waits',
    prepare: async ({ bed }: Scene) => {
      const [last, ...others] = await begin(bed)
      await fireAgain(bed)
      for (const bundle of others) await bed.complete(bundle, 'deleteTrigger')
      return () =>
        bed.store.triggeredJobsComplete(last === undefined ? [] : [completionOf(last, 'deleteTrigger')])
    },
  },
  {
    name: 'triggeredJobsComplete, of the last item of the last firing',
    prepare: async ({ bed }: Scene) => {
      const [last, ...others] = await begin(bed, 1)
      for (const bundle of others) await bed.complete(bundle, 'deleteTrigger')
      return () =>
        bed.store.triggeredJobsComplete(last === undefined ? [] : [completionOf(last, 'deleteTrigger')])
    },
  },
  {
    name: 'the recovery of a failed node that ran items',
    prepare: async ({ bed, transactor }: Scene) => {
      await begin(bed)
      await fireAgain(bed)
      return () => transactor.run((tx) => recoverInstance(tx, bed.context.instanceId), { lock: 'cluster' })
    },
  },
  {
    name: 'the search for lost items',
    prepare: async ({ bed, transactor }: Scene) => {
      await bed.store.triggersFired([await claim(bed, 2)])
      const items = await bed.acquire()
      await bed.store.releaseAcquiredTriggers(items)
      // As a Java node deletes them, which knows nothing of items.
      const keys = items.map(({ trigger }) => trigger.key)
      const deleteRows = function* ({ session: { triggers } }: SqlTransaction): SqlProgram<void> {
        yield* triggers.delete(yield* triggers.lock(keys))
      }
      await transactor.run(deleteRows, { lock: 'rows' })
      return () => transactor.run(settleLostItems, { lock: 'cluster' })
    },
  },
  {
    name: 'turning an item off',
    prepare: async ({ bed }: Scene) => {
      await claim(bed, 2)
      return async () => bed.store.shards?.setItem(job.key, 1, { enabled: false })
    },
  },
]
