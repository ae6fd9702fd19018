import type { EndedSharding, ShardedItem } from '../../src/jobstore/job-store-shards.ts'
import type { Run } from './sim-cluster-judge.ts'
import { type Firing, type LedgerRow, replay } from './sim-cluster-ledger.ts'
import { isDoomed } from './sim-cluster-operations.ts'

/** A row of the ledger that tells of a sharded firing: its parts, and the line of the history that ends it. */
type ShardRow = Omit<LedgerRow, 'kind'> & {
  readonly kind: LedgerRow['kind'] | 'split' | 'parts' | 'joined' | 'line'
  readonly parts: string | null
}

type Part = Omit<ShardedItem, 'triggerKey'> & {
  readonly triggerKey: { readonly name: string; readonly group: string } | null
}

interface SplitRow {
  readonly fireId: string
  readonly jobName: string
  readonly triggerKey: string
  readonly plannedMs: number
  isBroadcast: boolean
  /** What overlaps is left to the other side. */
  isRemote: boolean
  items: readonly Part[]
  isOpen: boolean
  lines: number
}

/** An item of a firing, as it was when an execution of it was fired. */
interface Place {
  readonly firing: SplitRow
  readonly part: Part
}

export interface ShardAftermath {
  readonly ledger: readonly LedgerRow[]
  readonly runs: readonly Run[]
  readonly told: readonly EndedSharding[]
  readonly turnedOff: ReadonlySet<string>
  readonly wishes: ReadonlyMap<string, readonly number[]>
}

/** Says what was wrong with the sharded firings of a cluster. */
export function judgeShards(aftermath: ShardAftermath): string[] {
  const history = new ShardReplay(aftermath.ledger as readonly ShardRow[])
  const { firings } = replay(aftermath.ledger)
  return [
    ...history.violations,
    ...unsettled(history),
    ...missedFirings(aftermath, history),
    ...wronglyEnded(aftermath, history, firings),
  ]
}

class ShardReplay {
  readonly violations: string[] = []
  readonly firings = new Map<string, SplitRow>()
  /** Which item each execution ran. */
  readonly places = new Map<string, Place>()
  readonly stored = new Set<string>()
  /** Which item each trigger runs, under the key of the trigger. */
  readonly #carriers = new Map<string, Place>()
  readonly #executing = new Map<string, Place>()

  /** What a transaction must have left as it should be when it ends. */
  readonly #atCommit: (() => void)[] = []

  constructor(rows: readonly ShardRow[]) {
    for (const [index, row] of rows.entries()) {
      this.#step(row)
      const next = rows[index + 1]
      const isLast = next?.at !== row.at || next.process !== row.process || next.lock !== row.lock
      if (isLast) for (const check of this.#atCommit.splice(0)) check()
    }
  }

  #step(row: ShardRow): void {
    switch (row.kind) {
      case 'split':
      case 'parts':
        this.#written(row)
        break
      case 'joined':
        this.#firing(row).isOpen = false
        break
      case 'line':
        this.#firing(row).lines++
        break
      case 'fired':
        if (row.state === 'EXECUTING') this.#fired(row)
        break
      case 'deleted':
        this.#executing.delete(row.entry_id)
        break
      case 'stored':
        this.stored.add(`${row.trigger_group}.${row.trigger_name}`)
        break
      case 'claimed':
        break
    }
  }

  #firing(row: ShardRow): SplitRow {
    const known = this.firings.get(row.entry_id)
    if (known !== undefined) return known
    const firing: SplitRow = {
      fireId: row.entry_id,
      jobName: row.job_name,
      triggerKey: `${row.trigger_group}.${row.trigger_name}`,
      plannedMs: row.sched_time,
      isBroadcast: false,
      isRemote: false,
      items: [],
      isOpen: false,
      lines: 0,
    }
    this.firings.set(row.entry_id, firing)
    return firing
  }

  #written(row: ShardRow): void {
    const firing = this.#firing(row)
    const { items, isBroadcast, isRemote } = JSON.parse(row.parts ?? '{}') as {
      items: readonly Part[]
      isBroadcast: boolean
      isRemote: boolean
    }
    if (row.kind === 'split' && (firing.isOpen || firing.lines > 0)) this.#wrong(row, 'was split twice')
    const before = firing.items
    Object.assign(firing, { items, isBroadcast, isRemote, isOpen: true })
    for (const [index, part] of items.entries()) {
      const was = before[index]
      if (was?.state === 'ended' && part.outcome !== was.outcome) {
        this.#wrong(row, `has item ${part.item} ${part.outcome ?? part.state} after its end`)
      }
      if (part.triggerKey !== null) {
        this.#carriers.set(`${part.triggerKey.group}.${part.triggerKey.name}`, { firing, part })
      }
      this.#atCommit.push(() => {
        const isGiven = part.state === 'given' && firing.isOpen && firing.items === items
        if (isGiven && this.#isOpenElsewhere(firing, part, ['given'])) {
          this.#wrong(row, `gives item ${part.item} although it overlaps that of another firing`)
        }
      })
      const isNewlySkipped = part.outcome === 'skipped' && was === undefined
      if (isNewlySkipped && !this.#isOpenElsewhere(firing, part, ['given', 'held'])) {
        this.#wrong(row, `skips item ${part.item}, which is free`)
      }
    }
  }

  #fired(row: ShardRow): void {
    const place = this.#carriers.get(`${row.trigger_group}.${row.trigger_name}`)
    if (place === undefined) {
      if (row.trigger_group === 'SHARDED_JOBS') this.#wrong(row, 'runs no item')
      return
    }
    // What ran of a job that was deleted is no work of the one that was stored in its place.
    const beside = [...this.#executing.values()].find(
      (other) => isSameWork(place, other) && (place.firing === other.firing || !isDoomed(row.job_name)),
    )
    if (beside !== undefined) this.#wrong(row, `runs item ${place.part.item}, which overlaps itself`)
    this.#executing.set(row.entry_id, place)
    this.places.set(row.entry_id, place)
  }

  #isOpenElsewhere(firing: SplitRow, part: Part, states: readonly Part['state'][]): boolean {
    return [...this.firings.values()].some(
      (other) =>
        other !== firing &&
        other.isOpen &&
        other.items.some(
          (each) =>
            states.includes(each.state) && isSameWork({ firing, part }, { firing: other, part: each }),
        ),
    )
  }

  #wrong({ at, entry_id, job_name, trigger_name }: ShardRow, message: string): void {
    this.violations.push(`${at} ${entry_id} of ${trigger_name}, job ${job_name}, ${message}`)
  }
}

/** The same item of the same job; any, where the number of items has changed meanwhile. */
function isSameWork(a: Place, b: Place): boolean {
  if (a.firing.jobName !== b.firing.jobName || a.firing.isRemote) return false
  if (a.firing.isBroadcast && b.firing.isBroadcast) return a.part.owner === b.part.owner
  const isSameSplit =
    a.firing.isBroadcast === b.firing.isBroadcast && a.firing.items.length === b.firing.items.length
  return !isSameSplit || a.part.item === b.part.item
}

/** Each firing ends once, with one line in the history. */
function unsettled({ firings }: ShardReplay): string[] {
  return [...firings.values()].flatMap(({ fireId, jobName, isOpen, lines }) => {
    if (isOpen) return [`firing ${fireId} of ${jobName} is never over`]
    // It goes without a word with its job.
    if (lines === 1 || (lines === 0 && isDoomed(jobName))) return []
    return [`firing ${fireId} of ${jobName} was settled ${lines} times`]
  })
}

/** Each planned instant became one firing. */
function missedFirings({ wishes }: ShardAftermath, { firings, stored }: ShardReplay): string[] {
  const problems: string[] = []
  for (const [key, instants] of wishes) {
    if (!stored.has(key)) continue
    const found = [...firings.values()].filter(({ triggerKey }) => triggerKey === key)
    for (const instant of instants) {
      const count = found.filter(({ plannedMs }) => plannedMs === instant).length
      if (count !== 1) problems.push(`instant ${instant} of ${key} became ${count} sharded firings`)
    }
    if (found.length > instants.length) problems.push(`${key} fired ${found.length} times`)
  }
  return problems
}

/** Each item ran to its good end once, or is marked as one that did not; and nodes tell each firing at most once. */
function wronglyEnded(
  { runs, told, turnedOff }: ShardAftermath,
  { firings: known, places }: ShardReplay,
  executions: ReadonlyMap<string, Firing>,
): string[] {
  const problems: string[] = []
  const failed = new Set(runs.filter(({ hasFailed }) => hasFailed).map(({ entry }) => entry))
  const begun = new Map<string, string[]>()
  for (const [entry, { firing, part }] of places) {
    const key = `${firing.fireId} ${part.item}`
    begun.set(key, [...(begun.get(key) ?? []), entry])
  }
  const wellRuns = (key: string): number =>
    (begun.get(key) ?? []).filter((entry) => executions.get(entry)?.end === 'completed' && !failed.has(entry))
      .length
  for (const key of begun.keys()) {
    if (wellRuns(key) > 1) problems.push(`item ${key} ran to its end ${wellRuns(key)} times`)
  }
  const tellings = new Map<string, number>()
  for (const { fireInstanceId, jobKey, items } of told) {
    tellings.set(fireInstanceId, (tellings.get(fireInstanceId) ?? 0) + 1)
    if (!known.has(fireInstanceId)) problems.push(`firing ${fireInstanceId} was told and never ended`)
    for (const { item, outcome } of items) {
      const key = `${fireInstanceId} ${item}`
      const mayBeLost = ['sharded-fragile', 'sharded-nodes'].includes(jobKey.name)
      const isRight = {
        succeeded: wellRuns(key) === 1,
        failed: wellRuns(key) === 0 && begun.has(key),
        skipped: !begun.has(key),
        disabled: !begun.has(key) && turnedOff.has(`${jobKey.name} ${item}`),
        lost: wellRuns(key) === 0 && mayBeLost,
      }[String(outcome)]
      if (isRight !== true) problems.push(`item ${key} of ${jobKey.name} should not be ${String(outcome)}`)
    }
  }
  for (const [id, count] of tellings) if (count > 1) problems.push(`firing ${id} was told ${count} times`)
  return problems
}
