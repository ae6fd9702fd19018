import type { JobKey } from '../../core/key.ts'
import type { EpochMs } from '../../time/clock.ts'
import { plannedFireTimeMs, type Trigger } from '../../triggers/trigger.ts'
import { firingPartOf } from '../firing-part.ts'
import type { JobCompletion } from '../job-store.ts'
import type { JobStoreShards, ShardOverview } from '../job-store-shards.ts'
import { endedSharding, OpenFirings, shownFiring } from '../split-firing.ts'
import type { RamData } from './ram-data.ts'
import type { RamSession } from './ram-session.ts'
import type { JobRecord, JobShards, TriggerRecord } from './records.ts'

interface SplitFire {
  readonly record: TriggerRecord
  /** The trigger after the firing. */
  readonly fired: Trigger
  readonly fireInstanceId: string
  readonly nowMs: EpochMs
}

/** Splits the firing of a claimed trigger into items, each with a trigger of its own. */
export function splitFiring(session: RamSession, { record, fired, fireInstanceId, nowMs }: SplitFire): void {
  const { job, trigger } = record
  const shards = shardsOf(job)
  const open = (shards.open ??= new OpenFirings([]))
  endLostItems(session.data, shards, open)
  open.add({
    jobDetail: job.detail,
    trigger,
    fireInstanceId,
    node: session.context.instanceId,
    nowMs,
    scheduledFireTimeMs: plannedFireTimeMs(trigger) ?? nowMs,
    nodes: [session.context.instanceId],
    disabledItems: [...shards.disabled],
    remoteItems: session.context.remoteItems,
  })
  session.data.endSplitClaim(record, fired)
  settle(session, job, shards)
  if (fired.nextFireTimeMs === null) {
    session.signals.add('triggerFinalized', fired)
    session.data.removeIfSpent(job)
  }
}

/** Notes the end of an execution that ran an item. */
export function endItem(session: RamSession, job: JobRecord, completion: JobCompletion): void {
  const { shards } = job
  if (shards === null) return
  const { trigger, fireInstanceId, retryTrigger, report } = completion
  shards.executing.delete(fireInstanceId)
  const { open } = shards
  if (open === null || firingPartOf(trigger.jobDataMap) === null) return
  const isItem =
    retryTrigger === null
      ? open.end(trigger.key, report?.outcome ?? 'failed', report?.errorText ?? null)
      : open.move(trigger.key, retryTrigger.key)
  if (isItem) settle(session, job, shards)
}

/** Ends the items of a job as lost whose triggers were deleted before they ran. */
export function endLostItemsOf(session: RamSession, job: JobRecord): void {
  const { shards } = job
  if (shards === null || shards.open === null) return
  endLostItems(session.data, shards, shards.open)
  settle(session, job, shards)
}

/** Items whose triggers were deleted before they ran. */
function endLostItems(data: RamData, { executing }: JobShards, open: OpenFirings): void {
  const running = [...executing.values()]
  for (const carrier of open.carriers()) {
    if (data.triggers.has(carrier) || running.some((key) => key.equals(carrier))) continue
    open.end(carrier, 'lost', null)
  }
}

function settle(session: RamSession, job: JobRecord, shards: JobShards): void {
  const { open } = shards
  if (open === null) return
  const nowMs = session.now()
  const { over, carriers } = open.settle(nowMs)
  for (const carrier of carriers) session.data.putTrigger(carrier, job)
  for (const firing of over) {
    const ended = endedSharding(firing, nowMs)
    session.records.history.noteSharding(ended, { jobType: firing.jobType, node: firing.node })
    session.signals.add('allShardsDone', ended)
  }
  const left = open.all.filter((firing) => !over.includes(firing))
  shards.open = left.length === 0 ? null : new OpenFirings(left)
}

function shardsOf(job: JobRecord): JobShards {
  return (job.shards ??= { open: null, disabled: new Set(), executing: new Map() })
}

/** The sharded jobs of a store in memory. */
export class RamShards implements JobStoreShards {
  readonly #data: RamData

  constructor(data: RamData) {
    this.#data = data
  }

  async overview(jobKey: JobKey): Promise<ShardOverview | null> {
    const job = this.#data.jobs.get(jobKey)
    if (job === undefined) return null
    const { open = null, disabled = new Set<number>() } = job.shards ?? {}
    return {
      jobKey,
      firings: (open?.all ?? []).map(shownFiring),
      disabledItems: [...disabled].sort((a, b) => a - b),
    }
  }

  async setItem(jobKey: JobKey, item: number, { enabled }: { readonly enabled: boolean }): Promise<boolean> {
    const job = this.#data.jobs.get(jobKey)
    if (job === undefined) return false
    const { disabled } = shardsOf(job)
    if (enabled) disabled.delete(item)
    else disabled.add(item)
    return true
  }
}
