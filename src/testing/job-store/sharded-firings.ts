import assert from 'node:assert/strict'
import { JobKey, retryingJobsGroup, shardedJobsGroup } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { resolveSharding, type ShardingOptions } from '../../jobs/sharding.ts'
import type { ExecutionReport } from '../../jobstore/execution-report.ts'
import type { TriggerFiredBundle } from '../../jobstore/fired-bundle.ts'
import { firingPartOf } from '../../jobstore/firing-part.ts'
import type { JobStoreShards } from '../../jobstore/job-store-shards.ts'
import { SimpleScheduleBuilder } from '../../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import { jobDetail, only, type Testbed } from './testbed.ts'

// What cases of sharded jobs do and look at.

/** The job of these cases. */
export const key: JobKey = new JobKey('sharded')

export function sharded(options: ShardingOptions, changes: Partial<JobDetail> = {}): JobDetail {
  return jobDetail('sharded', { durable: true, sharding: resolveSharding(options), ...changes })
}

/** Stores the job with a trigger `t` that fires every minute. */
export async function schedule(bed: Testbed, options: ShardingOptions): Promise<JobDetail> {
  const job = sharded(options)
  await bed.schedule('t', { job, everyMs: 60_000 })
  return job
}

/** Items that began with the split of their firing, which a store may do with one of them. */
const begun = new WeakMap<Testbed, TriggerFiredBundle[]>()

/** Fires what is due: a sharded trigger, which is no execution itself. */
export async function split(bed: Testbed): Promise<string> {
  const claim = only(await bed.acquire({ maxCount: 1 }))
  assert.equal(claim.trigger.key.group === shardedJobsGroup, false)
  assert.equal(claim.isSplit, true)
  const result = only(await bed.store.triggersFired([claim]))
  if (result.kind === 'fired') {
    assert.equal(firingOf(result.bundle), claim.fireInstanceId)
    begun.set(bed, [...(begun.get(bed) ?? []), result.bundle])
  } else {
    assert.equal(result.kind, 'gone')
  }
  return claim.fireInstanceId
}

/** Fires the next minute of the trigger. */
export async function splitNext(bed: Testbed): Promise<string> {
  await bed.clock.advance(60_000)
  return split(bed)
}

/** Begins the items that wait; answers them and those that began with the split, in their order. */
export async function begin(bed: Testbed): Promise<readonly TriggerFiredBundle[]> {
  const claims = await bed.acquire({ maxCount: 100 })
  const bundles = begun.get(bed) ?? []
  begun.delete(bed)
  for (const claim of claims) bundles.push(await bed.fire(claim))
  return bundles.sort((a, b) => itemOf(a) - itemOf(b))
}

export function itemOf({ trigger }: TriggerFiredBundle): number {
  return firingPartOf(trigger.jobDataMap)?.item ?? -1
}

export function firingOf({ trigger }: TriggerFiredBundle): string | undefined {
  return firingPartOf(trigger.jobDataMap)?.firingId
}

export function reportOf(
  bed: Testbed,
  { trigger, fireTimeMs }: TriggerFiredBundle,
  outcome: ExecutionReport['outcome'],
): ExecutionReport {
  const part = firingPartOf(trigger.jobDataMap)
  return {
    outcome,
    errorText: outcome === 'succeeded' ? null : `it ${outcome}`,
    triggerKey: trigger.key,
    scheduledFireTimeMs: part?.scheduledFireTimeMs ?? fireTimeMs,
    fireTimeMs,
    finishedTimeMs: bed.now(),
    attempt: 1,
    recovering: false,
    shard: part === null ? null : { firingId: part.firingId, item: part.item },
  }
}

export async function end(
  bed: Testbed,
  bundles: readonly TriggerFiredBundle[],
  outcome: ExecutionReport['outcome'] = 'succeeded',
): Promise<void> {
  for (const bundle of bundles) {
    await bed.complete(bundle, 'deleteTrigger', { report: reportOf(bed, bundle, outcome) })
  }
}

export function shardsOf(bed: Testbed): JobStoreShards {
  const { shards } = bed.store
  assert.ok(shards !== null, 'a store that splits firings has shards')
  return shards
}

/** The states of the items of each open firing, oldest first. */
export async function states(bed: Testbed): Promise<string[][]> {
  const overview = await shardsOf(bed).overview(key)
  return (overview?.firings ?? []).map(({ items }) => items.map(({ state, outcome }) => outcome ?? state))
}

/** The outcomes of the firings that have ended, as they were signalled. */
export function endings(bed: Testbed): string[] {
  return bed.signals.endedShardings.map(({ outcome, items }) => {
    return `${outcome}: ${items.map((item) => String(item.outcome)).join(' ')}`
  })
}

/** Ends an item that is to be tried again. */
export async function failOnce(bed: Testbed, failing: TriggerFiredBundle): Promise<void> {
  const retryTrigger = TriggerBuilder.newTrigger()
    .withIdentity('retry', retryingJobsGroup)
    .forJob(key)
    .startAt(new Date(bed.now()))
    .usingJobData(failing.trigger.jobDataMap)
    .withSchedule(SimpleScheduleBuilder.simpleSchedule())
    .build()
    .computeFirstFireTime(null)
  const report = reportOf(bed, failing, 'failed')
  await bed.complete(failing, 'deleteTrigger', { retryTrigger, report })
}
