import { z } from 'zod'
import { withoutSecrets } from '../../core/secrets.ts'
import type { ShardedFiring, ShardedItem, ShardOverview } from '../../jobstore/job-store-shards.ts'
import { executionOutcomes } from '../../jobstore/queries.ts'
import { instantMs, type KeyJson, keyJson, keyToJson } from './fields.ts'

/** An item of a sharded firing. */
export interface ShardedItemJson extends Omit<ShardedItem, 'triggerKey'> {
  readonly triggerKey: KeyJson | null
}

/** A sharded firing that has not ended. */
export interface ShardedFiringJson
  extends Pick<ShardedFiring, 'fireInstanceId' | 'scheduledFireTimeMs' | 'fireTimeMs'> {
  readonly triggerKey: KeyJson
  readonly items: readonly ShardedItemJson[]
}

/** The open firings of a job; none for one that is not sharded. */
export interface ShardsJson {
  /** Those that fired first come first. */
  readonly firings: readonly ShardedFiringJson[]
  readonly disabledItems: readonly number[]
}

const itemJson: z.ZodType<ShardedItemJson> = z.strictObject({
  item: z.number(),
  owner: z.string().describe('The instance id of the node that it was given to; another one may run it.'),
  parameter: z.string().nullable(),
  state: z
    .enum(['given', 'held', 'ended'])
    .describe('`given`: it waits for its node or runs. `held`: it waits for that item of an earlier firing.'),
  triggerKey: keyJson.nullable().describe('Of the trigger that runs it; null when it is held or has ended.'),
  outcome: z.enum([...executionOutcomes, 'skipped', 'disabled']).nullable(),
  errorText: z.string().nullable(),
})

export const shardsJson: z.ZodType<ShardsJson> = z.strictObject({
  firings: z.array(
    z.strictObject({
      fireInstanceId: z.string(),
      triggerKey: keyJson,
      scheduledFireTimeMs: instantMs,
      fireTimeMs: instantMs,
      items: z.array(itemJson),
    }),
  ),
  disabledItems: z.array(z.number()),
})

export function shardsToJson({ firings, disabledItems }: ShardOverview): ShardsJson {
  return { firings: firings.map(firingToJson), disabledItems }
}

function firingToJson(firing: ShardedFiring): ShardedFiringJson {
  const { fireInstanceId, triggerKey, scheduledFireTimeMs, fireTimeMs, items } = firing
  return {
    fireInstanceId,
    triggerKey: keyToJson(triggerKey),
    scheduledFireTimeMs,
    fireTimeMs,
    items: items.map(({ triggerKey: carrier, errorText, ...item }) => ({
      ...item,
      triggerKey: carrier && keyToJson(carrier),
      errorText: errorText && withoutSecrets(errorText),
    })),
  }
}
