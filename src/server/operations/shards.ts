import { z } from 'zod'
import { InvalidArgumentError } from '../../core/errors.ts'
import type { JobKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import { shardItemsMax } from '../../jobs/sharding.ts'
import type { ShardOverview } from '../../jobstore/job-store-shards.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { actionJson } from '../wire/action.ts'
import { type KeyJson, keyPath, keyPathFields, nothing, wholePath } from '../wire/fields.ts'
import { shardsJson, shardsToJson } from '../wire/shards.ts'
import { change, jobKeyOf, requireJob, unknownJob } from './changes.ts'

const shardsPath = '/jobs/{group}/{name}/shards'
const ofJob = async ({ params }: { readonly params: KeyJson }): Promise<readonly string[]> => [params.group]

const listShards: Operation = operation({
  id: 'jobs.shards',
  method: 'GET',
  path: shardsPath,
  summary: 'The firings of a sharded job that have not ended: the owner and the state of each item.',
  role: 'viewer',
  reach: null,
  jobGroups: ofJob,
  params: keyPath,
  query: nothing,
  body: null,
  answer: shardsJson,
  handle: async ({ scheduler, params }) => shardsToJson(await requireShards(scheduler, params)),
})

const itemPath = z.strictObject({ ...keyPathFields, item: wholePath(0, shardItemsMax - 1) })

const turnedOff = z.strictObject({ disabledItems: z.array(z.number()) })
const disabledJson = z.strictObject({ before: turnedOff, after: turnedOff })

interface Switch {
  readonly verb: 'disable' | 'enable'
  readonly summary: string
  readonly carryOut: (scheduler: Scheduler, jobKey: JobKey, item: number) => Promise<boolean>
}

function switchItem({ verb, summary, carryOut }: Switch): Operation {
  return operation({
    id: `jobs.${verb}Shard`,
    method: 'POST',
    path: `${shardsPath}/{item}/${verb}`,
    summary,
    role: 'operator',
    reach: 'data',
    jobGroups: ofJob,
    params: itemPath,
    query: nothing,
    body: null,
    answer: actionJson(disabledJson),
    async handle(call) {
      const { scheduler, params } = call
      const { jobKey, disabledItems } = await requireShards(scheduler, params)
      if (verb === 'disable') requireItem(await requireJob(scheduler, params), params.item)
      const others = disabledItems.filter((item) => item !== params.item)
      const after = verb === 'enable' ? others : [...others, params.item].sort((a, b) => a - b)
      const differs = after.length !== disabledItems.length
      return change(call, 'data', {
        wouldChange: () => differs,
        carryOut: async () => differs && carryOut(scheduler, jobKey, params.item),
        result: { before: { disabledItems: [...disabledItems] }, after: { disabledItems: after } },
      })
    },
  })
}

/**
 * A slip of the operator's would be taken for a change. A program may turn an item off before the job has it.
 *
 * @throws InvalidArgumentError
 */
function requireItem({ key, sharding }: JobDetail, item: number): void {
  if (sharding === null) {
    throw new InvalidArgumentError('name', `Job '${key.toString()}' is not sharded: it has no items.`)
  }
  const { items } = sharding
  if (typeof items !== 'number' || item < items) return
  throw new InvalidArgumentError(
    'item',
    `Job '${key.toString()}' has ${items} items: name one from 0 to ${items - 1}.`,
  )
}

/** @throws JobPersistenceError ERR_JOB_NOT_FOUND; SchedulerError ERR_NOT_SUPPORTED */
async function requireShards(scheduler: Scheduler, key: KeyJson): Promise<ShardOverview> {
  const shards = await scheduler.getShards(jobKeyOf(key))
  if (shards !== null) return shards
  throw unknownJob(key)
}

export const shardOperations: readonly Operation[] = [
  listShards,
  switchItem({
    verb: 'disable',
    summary: 'Leaves an item of a sharded job out, from its next firing on.',
    carryOut: (scheduler, jobKey, item) => scheduler.disableShard(jobKey, item),
  }),
  switchItem({
    verb: 'enable',
    summary: 'Runs an item again that was left out, from the next firing of the job on.',
    carryOut: (scheduler, jobKey, item) => scheduler.enableShard(jobKey, item),
  }),
]
