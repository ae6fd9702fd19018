import { type Firing, isRerun, type LedgerRow, type Replay, replay } from './sim-cluster-ledger.ts'
import { counterJobName, isDoomed, type Wish } from './sim-cluster-operations.ts'

/** A body that began. */
export interface Run {
  readonly entry: string
  readonly process: number
  readonly jobName: string
  hasEnded: boolean
  hasFailed: boolean
}

/** What is looked at when all is over. */
export interface Aftermath {
  readonly ledger: readonly LedgerRow[]
  readonly wishes: ReadonlyMap<string, Wish>
  readonly runs: readonly Run[]
  /** Executions that the history says were lost. */
  readonly lost: ReadonlySet<string>
  readonly counted: number
  readonly isDead: (process: number) => boolean
  /** Whether a process of this instance had stood still or died at this instant, or shortly before. */
  readonly wasTroubled: (instance: string, at: number) => boolean
}

export interface Judgement {
  readonly violations: readonly string[]
  readonly firings: number
  readonly recoveries: number
}

/** Says what was wrong with the life of a cluster. */
export function judge(aftermath: Aftermath): Judgement {
  const history = replay(aftermath.ledger)
  return {
    violations: [
      ...history.violations,
      ...missedInstants(aftermath, history),
      ...unexplainedFirings(aftermath, history),
      ...needlessRecoveries(aftermath, history),
      ...miscounted(aftermath, history),
    ],
    firings: history.firings.size,
    recoveries: history.recoveries.length,
  }
}

/** A trigger whose policy skips nothing fires once for each of its instants. */
function missedInstants({ wishes }: Aftermath, { stored, instants }: Replay): string[] {
  const missed: string[] = []
  for (const [key, wish] of wishes) {
    if (!stored.has(key)) continue
    const fired = new Set(instants.get(key))
    for (const [index, instant] of wish.entries()) {
      if (!fired.delete(instant)) {
        missed.push(`instant ${index + 1} of ${wish.length} of ${key} was never fired for`)
      }
    }
    for (const instant of fired) missed.push(`${key} fired for ${instant}, which it does not plan`)
  }
  return missed
}

/** Each execution ran once, or was recovered: then it is reported as lost, or runs again if its job wants that. */
function unexplainedFirings({ runs, lost, isDead }: Aftermath, { firings }: Replay): string[] {
  const problems: string[] = []
  const runsOf = new Map<string, Run[]>()
  for (const run of runs) runsOf.set(run.entry, [...(runsOf.get(run.entry) ?? []), run])
  const reruns = [...firings.values()].filter(({ row }) => isRerun(row))
  for (const [entry, firing] of firings) {
    const { row, end } = firing
    const ran = runsOf.get(entry) ?? []
    if (ran.length > 1) problems.push(`${entry} ran ${ran.length} times`)
    if (end === 'completed') {
      if (ran.length === 0) problems.push(`${entry} of ${row.trigger_name} was completed and never run`)
      if (ran.some(({ hasEnded }) => !hasEnded)) problems.push(`${entry} was completed while it ran`)
    }
    // What users delete does not run again.
    if (end === 'recovered' && !isDoomed(row.job_name)) {
      const isRunAgain = reruns.some((rerun) => isRerunOf(rerun, firing))
      if (row.requests_recovery === 1 && !isRunAgain) problems.push(`${entry} should have run again`)
      if (row.requests_recovery === 0 && !lost.has(entry)) problems.push(`${entry} was lost in silence`)
    }
    if (end === 'open' && !isDead(row.process)) problems.push(`${entry} never ended`)
  }
  return problems
}

function isRerunOf({ row: rerun }: Firing, { row }: Firing): boolean {
  return (
    rerun.job_name === row.job_name && rerun.sched_time === row.sched_time && rerun.entry_id !== row.entry_id
  )
}

function needlessRecoveries({ wasTroubled }: Aftermath, { recoveries }: Replay): string[] {
  return recoveries.flatMap(({ instance, at }) =>
    wasTroubled(instance, at) ? [] : [`${instance} was recovered at ${at} although it was well`],
  )
}

/** What the counting job left in its data is how often it was run to its end while that was its own. */
function miscounted({ runs, counted }: Aftermath, { firings }: Replay): string[] {
  const valid = runs.filter(
    ({ entry, jobName }) => jobName === counterJobName && firings.get(entry)?.end === 'completed',
  )
  return valid.length === counted ? [] : [`the counter ran ${valid.length} times and counted ${counted}`]
}
