import { emptyJobDataMap, type JobDataMap, mergeJobData } from '../core/job-data-map.ts'
import { recoveringJobsGroup, retryingJobsGroup, shardedJobsGroup, TriggerKey } from '../core/key.ts'
import { beginningOf } from '../core/text-beginning.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { EpochMs } from '../time/clock.ts'
import { SimpleTrigger, type SimpleTriggerFields } from '../triggers/families/simple/simple-trigger.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { ExecutingShard } from './cluster-view.ts'
import { notesOfPart } from './firing-part.ts'
import type { JobStoreContext } from './job-store.ts'
import type { EndedSharding, ShardedFiring, ShardedItem, ShardOutcome } from './job-store-shards.ts'
import { type ExecutionOutcome, executionOutcomes } from './queries.ts'
import { ownersOf } from './shard-strategies.ts'

/** A sharded firing as a store keeps it while an item is open. */
export interface SplitFiring extends ShardedFiring {
  readonly jobType: string
  /** The node that fired the trigger. */
  readonly node: string
  /** Its items are bound to their nodes. */
  readonly isBroadcast: boolean
  /** Its items are sent elsewhere, where it is decided what becomes of those that overlap. */
  readonly isRemote: boolean
  readonly priority: number
  /** The data of the trigger, for items that are held; empty when none is. */
  readonly triggerData: JobDataMap
}

/** What decides how a firing is split. */
export interface SplitRequest {
  readonly jobDetail: JobDetail
  /** The trigger that fires. */
  readonly trigger: Trigger
  readonly fireInstanceId: string
  readonly node: string
  readonly nowMs: EpochMs
  readonly scheduledFireTimeMs: EpochMs
  /** The live nodes that may run the job, at least one. */
  readonly nodes: readonly string[]
  readonly disabledItems: readonly number[]
  /** As in the context of the store. */
  readonly remoteItems: JobStoreContext['remoteItems']
}

/** The schedule of an item: its trigger fires once, however late. */
const onceOnly: SimpleTriggerFields = { repeatCount: 0, repeatIntervalMs: 0, misfireInstruction: 'ignore' }
/** How many characters of the error of an item are kept. */
const errorTextLength = 300
/** How many items that did not end well are named in the line of the history. */
const namedItems = 20

/** Whether a firing of this trigger is split; triggers that run an item are not. */
export function isSplit({ sharding }: Pick<JobDetail, 'sharding'>, { group }: TriggerKey): boolean {
  return sharding !== null && !groupsOfParts.includes(group)
}

/** A sharded firing as such is never tried again or recovered: triggers of these groups run its items. */
export const groupsOfParts: readonly string[] = [shardedJobsGroup, retryingJobsGroup, recoveringJobsGroup]

/**
 * The open firings of one sharded job, to be changed by one transaction: a store reads them under a lock on the job,
 * and writes down what {@link OpenFirings.settle} answers.
 */
export class OpenFirings {
  readonly #firings: SplitFiring[]
  readonly #changed = new Set<string>()
  /** Triggers of items that were given to their nodes. */
  readonly #carriers: Trigger[] = []

  constructor(firings: readonly SplitFiring[]) {
    this.#firings = [...firings].sort(inFireOrder)
  }

  get all(): readonly SplitFiring[] {
    return this.#firings
  }

  /** Splits a firing. */
  add(request: SplitRequest): void {
    const firing = split(request, this.#firings)
    this.#changed.add(firing.fireInstanceId)
    const items = firing.items.map((each) =>
      each.state === 'given' ? this.#give(firing, each, request) : each,
    )
    const needsData = items.some(({ state }) => state === 'held')
    this.#firings.push({ ...firing, items, triggerData: needsData ? firing.triggerData : emptyJobDataMap })
  }

  /** The item that this trigger runs has ended; false when it runs none. */
  end(carrier: TriggerKey, outcome: ShardOutcome, errorText: string | null): boolean {
    return this.#change(carrier, (each) => ended(each, outcome, errorText))
  }

  /** Ends the items as lost that wait for one that runs and that a broadcast has bound to a node that is gone. */
  endHeldOf(isGone: (node: string) => boolean): void {
    for (const [index, firing] of this.#firings.entries()) {
      const isLost = ({ state, owner }: ShardedItem): boolean => state === 'held' && isGone(owner)
      if (!firing.isBroadcast || !firing.items.some(isLost)) continue
      const items = firing.items.map((each) => (isLost(each) ? ended(each, 'lost', null) : each))
      this.#firings[index] = { ...firing, items }
      this.#changed.add(firing.fireInstanceId)
    }
  }

  /** The item of a trigger goes on under another one; false when the trigger runs none. */
  move(carrier: TriggerKey, next: TriggerKey): boolean {
    return this.#change(carrier, (each) => ({ ...each, triggerKey: next }))
  }

  /** The item that this trigger runs; null when it runs none. */
  placeOf(carrier: TriggerKey): ExecutingShard | null {
    for (const { fireInstanceId, items } of this.#firings) {
      const found = items.find(({ triggerKey }) => triggerKey?.equals(carrier) === true)
      if (found !== undefined) {
        return { firingId: fireInstanceId, item: found.item, total: items.length }
      }
    }
    return null
  }

  /** The triggers of all items that wait or run. */
  carriers(): readonly TriggerKey[] {
    return this.#firings.flatMap(({ items }) => items.flatMap(({ triggerKey }) => triggerKey ?? []))
  }

  /** Gives out held items that are free now, and takes out the firings that have ended. */
  settle(nowMs: EpochMs): {
    readonly changed: readonly SplitFiring[]
    readonly over: readonly SplitFiring[]
    readonly carriers: readonly Trigger[]
  } {
    for (const [index, firing] of this.#firings.entries()) {
      const others = this.#firings.filter((other) => other !== firing)
      const items = firing.items.map((each) => {
        if (each.state !== 'held' || isTaken(firing, each, others, ['given'])) return each
        this.#changed.add(firing.fireInstanceId)
        return this.#give(firing, each, { trigger: { jobDataMap: firing.triggerData }, nowMs })
      })
      this.#firings[index] = { ...firing, items }
    }
    const changed = this.#firings.filter(({ fireInstanceId }) => this.#changed.has(fireInstanceId))
    return {
      changed: changed.filter((firing) => !isOver(firing)),
      over: changed.filter(isOver),
      carriers: this.#carriers,
    }
  }

  #give(
    firing: SplitFiring,
    item: ShardedItem,
    { trigger, nowMs }: { readonly trigger: Pick<Trigger, 'jobDataMap'>; readonly nowMs: EpochMs },
  ): ShardedItem {
    const carrier = carrierOf(firing, item, trigger.jobDataMap, nowMs)
    this.#carriers.push(carrier)
    return { ...item, state: 'given', triggerKey: carrier.key }
  }

  #change(carrier: TriggerKey, change: (item: ShardedItem) => ShardedItem): boolean {
    for (const [index, firing] of this.#firings.entries()) {
      const at = firing.items.findIndex(({ triggerKey }) => triggerKey?.equals(carrier) === true)
      const item = firing.items[at]
      if (item === undefined) continue
      this.#firings[index] = { ...firing, items: firing.items.with(at, change(item)) }
      this.#changed.add(firing.fireInstanceId)
      return true
    }
    return false
  }
}

function inFireOrder(a: SplitFiring, b: SplitFiring): number {
  return a.fireTimeMs - b.fireTimeMs || (a.fireInstanceId < b.fireInstanceId ? -1 : 1)
}

function split(request: SplitRequest, open: readonly SplitFiring[]): SplitFiring {
  const { jobDetail, trigger, nowMs, disabledItems } = request
  const { parameters = {}, misfire = 'runOnce', items: wanted = 'nodes' } = jobDetail.sharding ?? {}
  const firing: SplitFiring = {
    fireInstanceId: request.fireInstanceId,
    jobKey: jobDetail.key,
    jobType: jobDetail.jobType,
    triggerKey: trigger.key,
    node: request.node,
    scheduledFireTimeMs: request.scheduledFireTimeMs,
    fireTimeMs: nowMs,
    isBroadcast: wanted === 'nodes',
    isRemote: wanted === 'remote',
    priority: trigger.priority,
    triggerData: trigger.jobDataMap,
    items: itemOwners(request).map((owner, item) => {
      const none = { triggerKey: null, outcome: null, errorText: null }
      return { item, owner, parameter: parameters[item] ?? null, state: 'given', ...none }
    }),
  }
  const items = firing.items.map((each): ShardedItem => {
    if (disabledItems.includes(each.item)) return ended(each, 'disabled', null)
    if (!isTaken(firing, each, open, ['given', 'held'])) return each
    // One firing at most waits for an item: the next ones leave it out.
    const waits = misfire === 'runOnce' && !isTaken(firing, each, open, ['held'])
    return waits ? { ...each, state: 'held' } : ended(each, 'skipped', null)
  })
  return { ...firing, items }
}

/** The node of each item. */
function itemOwners({ jobDetail, trigger, nowMs, ...request }: SplitRequest): readonly string[] {
  const nodes = [...new Set(request.nodes)].sort()
  const { items = 'nodes', strategy = 'sticky' } = jobDetail.sharding ?? {}
  if (items === 'nodes') return nodes
  if (items === 'remote') {
    // One node sends them all, so that they go by what that node knows of the other side.
    const data = mergeJobData(jobDetail.jobDataMap, trigger.jobDataMap)
    return Array.from({ length: request.remoteItems(jobDetail.jobType, data) }, () => request.node)
  }
  return ownersOf(strategy, { items, nodes, jobName: jobDetail.key.name, nowMs })
}

/** Whether an item of another firing, in one of these states, keeps this one from running. */
function isTaken(
  firing: SplitFiring,
  item: ShardedItem,
  others: readonly SplitFiring[],
  states: readonly ShardedItem['state'][],
): boolean {
  if (firing.isRemote) return false
  return others.some((other) => sameWork(firing, item, other).some(({ state }) => states.includes(state)))
}

/** Where the number of items has changed, each item may have a part of the data of each other one. */
function sameWork(firing: SplitFiring, item: ShardedItem, other: SplitFiring): readonly ShardedItem[] {
  if (firing.isBroadcast && other.isBroadcast) return other.items.filter(({ owner }) => owner === item.owner)
  const isSameSplit =
    firing.isBroadcast === other.isBroadcast &&
    firing.isRemote === other.isRemote &&
    firing.items.length === other.items.length
  if (!isSameSplit) return other.items
  // By its place: with 1,000 items that all wait, each end of an item looks at all of them.
  const same = other.items[item.item]
  return same === undefined ? [] : [same]
}

function ended(item: ShardedItem, outcome: ShardOutcome, errorText: string | null): ShardedItem {
  const text = errorText === null ? null : beginningOf(errorText, errorTextLength)
  return { ...item, state: 'ended', triggerKey: null, outcome, errorText: text }
}

function isOver({ items }: SplitFiring): boolean {
  return items.every(({ state }) => state === 'ended')
}

/** The trigger that runs an item, at once and with the data of the trigger that fired. */
function carrierOf(firing: SplitFiring, item: ShardedItem, data: JobDataMap, nowMs: EpochMs): Trigger {
  const notes = notesOfPart({
    item: item.item,
    total: firing.items.length,
    parameter: item.parameter,
    firingId: firing.fireInstanceId,
    scheduledFireTimeMs: firing.scheduledFireTimeMs,
    nodes: { names: [item.owner], required: firing.isBroadcast },
  })
  // Without a builder and its checks, because all items wait for these: the trigger that fired has passed them.
  return new SimpleTrigger(
    {
      key: new TriggerKey(`${firing.fireInstanceId}_${String(item.item)}`, shardedJobsGroup),
      jobKey: firing.jobKey,
      description: null,
      calendarName: null,
      jobDataMap: { ...data, ...notes },
      priority: firing.priority,
      startTimeMs: nowMs,
      endTimeMs: null,
    },
    onceOnly,
    nowMs,
  )
}

/** A firing as it is shown. */
export function shownFiring(firing: ShardedFiring): ShardedFiring {
  const { fireInstanceId, jobKey, triggerKey, scheduledFireTimeMs, fireTimeMs, items } = firing
  return { fireInstanceId, jobKey, triggerKey, scheduledFireTimeMs, fireTimeMs, items }
}

/** A firing that has ended, as it is told. */
export function endedSharding(firing: SplitFiring, finishedTimeMs: EpochMs): EndedSharding {
  const { items } = firing
  const unwell = items.filter(({ outcome }) => outcome !== null && isUnwell(outcome))
  const run = items.flatMap(({ outcome }) => (outcome !== null && isExecutionOutcome(outcome) ? outcome : []))
  return {
    ...shownFiring(firing),
    // The clock may have been set back since it fired.
    finishedTimeMs: Math.max(firing.fireTimeMs, finishedTimeMs),
    outcome: worstFirst.find((outcome) => run.includes(outcome)) ?? 'vetoed',
    errorText: unwell.length === 0 ? null : textOf(unwell, items.length),
  }
}

const worstFirst: readonly ExecutionOutcome[] = [
  'lost',
  'failed',
  'timedOut',
  'interrupted',
  'vetoed',
  'succeeded',
]

function isExecutionOutcome(outcome: ShardOutcome): outcome is ExecutionOutcome {
  return executionOutcomes.some((known) => known === outcome)
}

function isUnwell(outcome: ShardOutcome): boolean {
  return ['lost', 'failed', 'timedOut', 'interrupted'].includes(outcome)
}

function textOf(unwell: readonly ShardedItem[], total: number): string {
  const named = unwell.slice(0, namedItems).map(({ item, outcome }) => `${String(item)} (${String(outcome)})`)
  const more = unwell.length > namedItems ? ', ...' : ''
  const first = unwell.find(({ errorText }) => errorText !== null)?.errorText
  const cause = first === undefined || first === null ? '' : ` The first error: ${first}`
  return `${String(unwell.length)} of ${String(total)} items did not end well: ${named.join(', ')}${more}.${cause}`
}
