import { describe, expect, test } from 'vitest'
import { resolveSharding } from '../../src/jobs/sharding.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import type { AcquiredTrigger } from '../../src/jobstore/job-store.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import { storedCounts } from '../../src/testing/job-store/stored.ts'
import {
  completionOf,
  jobDetail,
  type Testbed,
  type TriggerSpec,
} from '../../src/testing/job-store/testbed.ts'
import { firingsOf } from './shard-operations.ts'
import { type FaultRig, faultRig } from './statement-faults.ts'
import type { StepRunner } from './step-runner.ts'

const batchSizes = [1, 10, 100]

interface Kind {
  readonly name: string
  readonly spec: TriggerSpec
  readonly nonConcurrent: boolean
}
const kinds: readonly Kind[] = [
  { name: 'triggers that fire once', spec: {}, nonConcurrent: false },
  { name: 'triggers that repeat', spec: { everyMs: 1000 }, nonConcurrent: false },
  { name: 'triggers of non-concurrent jobs', spec: { everyMs: 1000 }, nonConcurrent: true },
]

type Count = Awaited<ReturnType<StepRunner['count']>>

/** A trigger each of that many jobs, from being due to the end of its execution. */
async function fireBatch(
  { scene: { bed }, runner }: FaultRig,
  size: number,
  kind: Kind,
): Promise<Readonly<Record<'acquire' | 'fire' | 'complete', Count>>> {
  await storeBatch(bed, size, kind)
  const claims: AcquiredTrigger[] = []
  const acquire = await runner.count(async () => {
    claims.push(...(await bed.acquire({ maxCount: size })))
  })
  expect(claims).toHaveLength(size)
  const bundles: TriggerFiredBundle[] = []
  const fire = await runner.count(async () => {
    for (const result of await bed.store.triggersFired(claims)) {
      if (result.kind === 'fired') bundles.push(result.bundle)
    }
  })
  expect(bundles).toHaveLength(size)
  return { acquire, fire, complete: await completeBatch({ bed, runner }, bundles) }
}

async function storeBatch(bed: Testbed, size: number, kind: Kind): Promise<void> {
  const entries = Array.from({ length: size }, (_, index) => {
    const job = jobDetail(`j${index}`, { disallowConcurrentExecution: kind.nonConcurrent })
    return { job, triggers: [bed.trigger(`t${index}`, { ...kind.spec, job })] }
  })
  await bed.store.scheduleJobs(entries, { replace: false })
}

function completeBatch(
  { bed, runner }: { readonly bed: Testbed; readonly runner: StepRunner },
  bundles: readonly TriggerFiredBundle[],
): Promise<Count> {
  const completions = bundles.map((bundle) =>
    completionOf(bundle, bundle.nextFireTimeMs === null ? 'deleteTrigger' : 'noop'),
  )
  return runner.count(() => bed.store.triggeredJobsComplete(completions))
}

/** The same of what is fired at once. */
async function fireBatchAtOnce(
  { scene: { bed }, runner }: FaultRig,
  size: number,
  kind: Kind,
): Promise<Readonly<Record<'fire' | 'complete', Count>>> {
  await storeBatch(bed, size, kind)
  const bundles: TriggerFiredBundle[] = []
  const fire = await runner.count(async () => {
    bundles.push(...(await bed.acquireAndFire({ maxCount: size })).fired)
  })
  expect(bundles).toHaveLength(size)
  return { fire, complete: await completeBatch({ bed, runner }, bundles) }
}

/** What a sharded firing takes to be split, its items to fire together, and to end together. */
async function splitBatch({ scene: { bed }, runner }: FaultRig, items: number): Promise<Count[]> {
  const job = jobDetail('sharded', { durable: true, sharding: resolveSharding({ items }) })
  await bed.schedule('t', { job, everyMs: 60_000 })
  const claims = await bed.acquire()
  const bundles: TriggerFiredBundle[] = []
  const split = await runner.count(async () => {
    bundles.push(...firingsOf(await bed.store.triggersFired(claims)))
  })
  const fire = await runner.count(async () => {
    bundles.push(...(await bed.acquireAndFire({ maxCount: items })).fired)
  })
  expect(bundles).toHaveLength(items)
  const end = await completeBatch({ bed, runner }, bundles)
  expect(bed.signals.endedShardings).toHaveLength(1)
  return [split, fire, end]
}

/** What a batch costs does not depend on how many are in it. */
export function statementCountCases(engine: () => Promise<SqlEngine>): void {
  describe('the statements and transactions of a batch', () => {
    test.each(kinds)('are as many for 100 as for one: $name', async (kind) => {
      const counts: Awaited<ReturnType<typeof fireBatch>>[] = []
      for (const size of batchSizes) {
        await using rig = await faultRig(await engine())
        counts.push(await fireBatch(rig, size, kind))
      }
      const [one] = counts
      expect(counts).toEqual(batchSizes.map(() => one))
      const phases = Object.values(one ?? {})
      expect(phases.map(({ transactions }) => transactions)).toEqual([1, 1, 1])
      expect(phases.reduce((sum, { statements }) => sum + statements, 0)).toBeLessThanOrEqual(30)
    })

    const concurrent = kinds.filter(({ nonConcurrent }) => !nonConcurrent)
    test.each(concurrent)('are as many, and fewer, when it is fired at once: $name', async (kind) => {
      const counts: Awaited<ReturnType<typeof fireBatchAtOnce>>[] = []
      for (const size of batchSizes) {
        await using rig = await faultRig(await engine())
        counts.push(await fireBatchAtOnce(rig, size, kind))
      }
      const [one] = counts
      expect(counts).toEqual(batchSizes.map(() => one))
      const phases = Object.values(one ?? {})
      expect(phases.map(({ transactions }) => transactions)).toEqual([1, 1])
      expect(phases.reduce((sum, { statements }) => sum + statements, 0)).toBeLessThanOrEqual(20)
    })

    test('are as many for a sharded firing of 40 items as for one of 2, from its claim to its end', async () => {
      const counts: Count[][] = []
      for (const items of [2, 40]) {
        await using rig = await faultRig(await engine())
        counts.push(await splitBatch(rig, items))
      }
      const [few, many] = counts
      expect(many).toEqual(few)
      const all = many?.reduce((sum, { statements }) => sum + statements, 0) ?? 0
      expect(all).toBeLessThanOrEqual(50)
      // The first item begins after the commit, so the node reads and locks all that it needs in one round trip.
      expect(many?.[0]?.awaited).toBe(1)
    })

    test('are few when 10,000 triggers are scheduled at once', async () => {
      await using rig = await faultRig(await engine())
      const { bed } = rig.scene
      const triggers = Array.from({ length: 10_000 }, (_, index) =>
        bed.trigger(`t${index}`, { inMs: 60_000 }),
      )
      const count = await rig.runner.count(() =>
        bed.store.scheduleJobs([{ job: bed.job, triggers }], { replace: false }),
      )
      expect(count.transactions).toBe(1)
      expect(count.statements).toBeLessThanOrEqual(12)
      expect((await storedCounts(bed.store)).triggers).toBe(10_000)
    })
  })
}
