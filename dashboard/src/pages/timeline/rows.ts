import type { MisfireCause } from '../../../../src/jobstore/misfires.ts'
import type { ExecutionOutcome } from '../../../../src/jobstore/queries.ts'
import type { PlannedTriggerJson } from '../../../../src/server/operations/planned.ts'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import type { MisfireJson } from '../../../../src/server/wire/misfires.ts'
import type { ExecutingJson, ExecutionJson } from '../../../../src/server/wire/runs.ts'
import type { TriggerSummaryJson } from '../../../../src/server/wire/triggers.ts'
import { executionHref } from '../../parts/execution-table.tsx'
import { filterTerm } from '../../parts/filter-term.ts'
import { isByHand, keyId, keyText } from '../../parts/links.tsx'
import { href, jobPath, triggerPath } from '../../state/place.ts'
import { common } from '../../words/common.ts'

export const rowKinds = ['job', 'trigger', 'node'] as const
export type RowKind = (typeof rowKinds)[number]
export type BarKind = ExecutionOutcome | 'running' | 'planned' | 'blocked' | 'overdue' | 'missed'

export interface Bar {
  readonly kind: BarKind
  readonly beginMs: number
  /** Null while it runs, and for an end that is not known. */
  readonly endMs: number | null
  /** When it should have begun. */
  readonly dueMs: number
  /** What it is about, for the note beside the pointer. */
  readonly jobKey: KeyJson
  /** Why nothing ran. */
  readonly cause?: MisfireCause
  /** The page that it leads to. */
  readonly href: () => string
}

export interface Row {
  readonly id: string
  readonly name: string
  /** Null where there is no page about it. */
  readonly href: string | null
  readonly bars: Bar[]
}

export interface TimelineData {
  readonly executions: readonly ExecutionJson[]
  readonly executing: readonly ExecutingJson[]
  readonly planned: readonly PlannedTriggerJson[]
  /** Planned firings that did not happen, and why. */
  readonly missed: readonly MisfireJson[]
  /** Triggers that are due: blocked ones wait for the job to end, the others should have fired. */
  readonly due: readonly TriggerSummaryJson[]
}

interface Names {
  readonly plannedRow: string
}

/** What is drawn, in rows by their names. */
export function rowsOf(data: TimelineData, by: RowKind, names: Names): readonly Row[] {
  const rows = new Map<string, Row>()
  const rowFor = (of: Place): Row => {
    const made = rowOf(of, by, names)
    const known = rows.get(made.id)
    if (known !== undefined) return known
    rows.set(made.id, made)
    return made
  }
  const ended = new Set(data.executions.map(({ fireInstanceId }) => fireInstanceId))
  for (const execution of data.executions) rowFor(execution).bars.push(barOfEnded(execution))
  for (const execution of data.executing)
    if (!ended.has(execution.fireInstanceId)) rowFor(execution).bars.push(barOfRunning(execution))
  for (const { key, jobKey, timesMs } of data.planned) {
    const { bars } = rowFor({ triggerKey: key, jobKey, node: null })
    for (const ms of timesMs) bars.push(barOfPlanned(ms, key, jobKey))
  }
  for (const { key, jobKey, nextFireTimeMs, state } of data.due) {
    if (nextFireTimeMs === null) continue
    const kind = state === 'BLOCKED' ? 'blocked' : 'overdue'
    rowFor({ triggerKey: key, jobKey, node: null }).bars.push(barOfDue(kind, nextFireTimeMs, key, jobKey))
  }
  const marked = new Set(data.executions.map(firingOf))
  for (const misfire of data.missed) {
    const { triggerKey, jobKey, node, fromMs } = misfire
    // A veto and a loss are executions as well, where the store remembers those: one mark is enough.
    if (marked.has(firingOf({ triggerKey, scheduledFireTimeMs: fromMs, outcome: misfire.cause }))) continue
    // Of a job that is gone there is no row of jobs.
    if (jobKey !== null) rowFor({ triggerKey, jobKey, node }).bars.push(barOfMissed(misfire, jobKey))
  }
  for (const { bars } of rows.values()) bars.sort((one, other) => heightOf(one) - heightOf(other))
  return [...rows.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

function firingOf({
  triggerKey,
  scheduledFireTimeMs,
  outcome,
}: {
  readonly triggerKey: KeyJson
  readonly scheduledFireTimeMs: number
  readonly outcome: string
}): string {
  return `${outcome} ${scheduledFireTimeMs} ${keyId(triggerKey)}`
}

/** What went wrong is drawn over what went well. */
function heightOf({ kind }: Bar): number {
  if (kind === 'planned') return 0
  return kind === 'succeeded' ? 1 : 2
}

interface Place {
  readonly triggerKey: KeyJson
  readonly jobKey: KeyJson
  readonly node: string | null
}

function rowOf({ triggerKey, jobKey, node }: Place, by: RowKind, names: Names): Row {
  if (by === 'job') return row(`j ${keyId(jobKey)}`, keyText(jobKey), href(jobPath(jobKey)))
  if (by === 'node')
    return node === null ? row('planned', names.plannedRow, null) : row(`n ${node}`, node, href('/nodes'))
  if (isByHand(triggerKey)) return row('by hand', common().byHand, null)
  return row(`t ${keyId(triggerKey)}`, keyText(triggerKey), href(triggerPath(triggerKey)))
}

function row(id: string, name: string, to: string | null): Row {
  return { id, name, href: to, bars: [] }
}

function barOfEnded(execution: ExecutionJson): Bar {
  const { outcome, fireTimeMs, finishedTimeMs, scheduledFireTimeMs, jobKey } = execution
  return {
    kind: outcome,
    beginMs: fireTimeMs,
    // Of one that was lost nobody knows when it ended.
    endMs: finishedTimeMs ?? fireTimeMs,
    dueMs: scheduledFireTimeMs,
    jobKey,
    href: () => executionHref(execution.fireInstanceId),
  }
}

function barOfRunning({ fireTimeMs, scheduledFireTimeMs, jobKey }: ExecutingJson): Bar {
  return {
    kind: 'running',
    beginMs: fireTimeMs,
    endMs: null,
    dueMs: scheduledFireTimeMs,
    jobKey,
    href: () => href('/running'),
  }
}

function barOfMissed({ triggerKey, fromMs, toMs, cause }: MisfireJson, jobKey: KeyJson): Bar {
  return {
    kind: 'missed',
    beginMs: fromMs,
    endMs: toMs,
    dueMs: fromMs,
    jobKey,
    cause,
    href: () => href('/misfires', { filter: filterTerm('trigger', triggerKey) }),
  }
}

function barOfDue(kind: 'blocked' | 'overdue', dueMs: number, triggerKey: KeyJson, jobKey: KeyJson): Bar {
  return {
    kind,
    beginMs: dueMs,
    endMs: null,
    dueMs,
    jobKey,
    href: () => href(triggerPath(triggerKey)),
  }
}

function barOfPlanned(ms: number, triggerKey: KeyJson, jobKey: KeyJson): Bar {
  return {
    kind: 'planned',
    beginMs: ms,
    endMs: ms,
    dueMs: ms,
    jobKey,
    href: () => href(triggerPath(triggerKey)),
  }
}
