import { strayGroup } from '../support/stray-rows.ts'
import { isRun, type LogLine, type RunLine } from './run-log.ts'

/** What a trigger promises. */
export interface Promised {
  readonly instants: readonly number[]
  /** Whether an execution that dies with its node runs again; otherwise it is reported as lost. */
  readonly recovers: boolean
  /** Whether its misfire policy may skip instants that are too late. */
  readonly skips: boolean
  /** False when nobody knows whether it was stored: it may run and need not. */
  readonly isCertain: boolean
  /** How often each instant fails before it succeeds. */
  readonly failures: number
}

export interface Expectation {
  /** By the text of the trigger's key. */
  readonly triggers: ReadonlyMap<string, Promised>
  /** Texts of the keys of jobs that never run twice at a time. */
  readonly exclusiveJobs: ReadonlySet<string>
  /** How many jobs of a group run at a time. */
  readonly groupLimits: ReadonlyMap<string, number>
  readonly misfireThresholdMs: number
}

/** Lines of different processes, and clocks that a server corrects, are this far apart at most. */
const toleranceMs = 1500

/** A run as the world outside saw it. */
interface Run {
  readonly line: RunLine
  /** When it ended, or its process did; infinite when nobody knows. */
  readonly endMs: number
}

/**
 * Holds what jobs did against what was promised: no planned instant is lost, none runs twice unless the run is marked
 * as a recovery or a retry, nothing runs that was not planned, jobs that exclude themselves never overlap, and no
 * process fell over.
 */
export function judge(lines: readonly LogLine[], expectation: Expectation): string[] {
  return [
    ...unplannedRuns(lines, expectation),
    ...instantProblems(lines, expectation),
    ...overlaps(lines, expectation),
    ...crowds(lines, expectation),
    ...lines.flatMap((line) => {
      if (line.kind === 'uncaught') return [`uncaught in ${line.node}: ${line.error}`]
      return line.kind === 'triggerInError' && !line.trigger.startsWith(`${strayGroup}.`)
        ? [`in error: ${line.trigger}: ${line.reason}`]
        : []
    }),
  ]
}

function unplannedRuns(lines: readonly LogLine[], { triggers }: Expectation): string[] {
  const planned = new Set<string>()
  for (const [key, { instants }] of triggers) for (const at of instants) planned.add(instantOf(key, at))
  return lines
    .filter((line): line is RunLine => line.kind === 'started')
    .filter((line) => !planned.has(instantOf(line.trigger, line.planned)))
    .map((line) => `not planned: ${describe(line)}`)
}

function instantProblems(lines: readonly LogLine[], expectation: Expectation): string[] {
  const runs = new Map<string, RunLine[]>()
  const lost = new Set<string>()
  const misfires = new Map<string, { readonly at: number; readonly planned: number }[]>()
  for (const line of lines) {
    if (isRun(line)) {
      const instant = instantOf(line.trigger, line.planned)
      runs.set(instant, [...(runs.get(instant) ?? []), line])
    } else if (line.kind === 'executionLost') lost.add(instantOf(line.trigger, line.planned))
    else if (line.kind === 'triggerMisfired') {
      misfires.set(line.trigger, [...(misfires.get(line.trigger) ?? []), line])
    }
  }
  const { misfireThresholdMs } = expectation
  return [...expectation.triggers].flatMap(([key, promised]) =>
    promised.instants.flatMap((at) => {
      const instant = instantOf(key, at)
      const isExcused =
        !promised.isCertain ||
        // Also a retry may die with its node.
        (!promised.recovers && (lost.has(instant) || retryLost(runs.get(instant) ?? [], lines))) ||
        (promised.skips &&
          (misfires.get(key)?.some((misfire) => explains(misfire, at, misfireThresholdMs)) === true ||
            skippedUnheard(key, at, promised.instants, lines, misfireThresholdMs)))
      return outcomeProblems(instant, runs.get(instant) ?? [], promised, isExcused)
    }),
  )
}

/** Whether a misfire of the trigger skipped an instant: the trigger was late then, and the instant had passed. */
function explains(
  misfire: { readonly at: number; readonly planned: number },
  instant: number,
  misfireThresholdMs: number,
): boolean {
  const isLate = misfire.at - misfire.planned >= misfireThresholdMs - toleranceMs
  return isLate && misfire.planned <= instant && instant <= misfire.at + toleranceMs
}

/**
 * Whether the trigger stood still for so long that its policy skips the instant, while a node was in trouble that may
 * have committed the skip and never have said so.
 */
function skippedUnheard(
  key: string,
  instant: number,
  instants: readonly number[],
  lines: readonly LogLine[],
  misfireThresholdMs: number,
): boolean {
  const runs = lines.filter(
    (line): line is RunLine => line.kind === 'started' && line.trigger === key && line.attempt === 1,
  )
  const next = runs.find(({ planned }) => planned > instant)
  if (next === undefined) return false
  const lastRun = Math.max(...runs.map(({ planned }) => planned).filter((planned) => planned < instant))
  // The skip leaves out all that was due since the last run, in one go.
  const firstMissed = Math.min(...instants.filter((at) => at > lastRun))
  if (next.at < firstMissed + misfireThresholdMs) return false
  return lines.some(
    ({ kind, at }) =>
      (kind === 'killed' || kind === 'schedulerError') && firstMissed <= at && at <= next.at + toleranceMs,
  )
}

function retryLost(runs: readonly RunLine[], lines: readonly LogLine[]): boolean {
  const failed = new Set(runs.filter(({ kind }) => kind === 'failed').map(({ id }) => id))
  return lines.some(
    (line) =>
      line.kind === 'executionLost' &&
      // Named after the firing that failed.
      [...failed].some((id) => line.trigger.includes(`RT_${id}_`)),
  )
}

function outcomeProblems(
  instant: string,
  runs: readonly RunLine[],
  { failures }: Promised,
  isExcused: boolean,
): string[] {
  const problems: string[] = []
  const first = new Map<number, RunLine>()
  for (const run of runs) {
    if (run.kind !== 'started' || run.recovering) continue
    const other = first.get(run.attempt)
    if (other !== undefined) problems.push(`ran twice: ${describe(run)} after ${describe(other)}`)
    first.set(run.attempt, run)
  }
  const isFulfilled = runs.some(({ kind, attempt }) => kind === 'ended' && attempt > failures)
  if (!isFulfilled && !isExcused) {
    const seen = runs.map((run) => `${run.kind} ${describe(run)}`).join('; ')
    problems.push(`lost: ${instant}${seen === '' ? '' : `, with ${seen}`}`)
  }
  return problems
}

function overlaps(lines: readonly LogLine[], { exclusiveJobs }: Expectation): string[] {
  const problems: string[] = []
  for (const job of exclusiveJobs) {
    const runs = runsOf((candidate) => candidate === job, lines)
    runs.forEach((later, index) => {
      for (const earlier of runs.slice(0, index)) {
        if (earlier.endMs <= later.line.at || isVoid(earlier, later, lines) || isVoid(later, later, lines))
          continue
        problems.push(`overlap: ${describe(later.line)} while ${describe(earlier.line)} ran`)
      }
    })
  }
  return problems
}

/** Where more jobs of a group ran at a time than its limit says. */
function crowds(lines: readonly LogLine[], { groupLimits }: Expectation): string[] {
  return [...groupLimits].flatMap(([group, limit]) => {
    const runs = runsOf((job) => job.startsWith(`${group}.`), lines)
    return runs.flatMap((later) => {
      const beside = runs.filter(
        (other) =>
          other.line.at <= later.line.at && other.endMs > later.line.at && !isVoid(other, later, lines),
      )
      return beside.length > limit
        ? [`${String(beside.length)} of ${group} at a time: ${describe(later.line)}`]
        : []
    })
  })
}

function runsOf(isMeant: (job: string) => boolean, lines: readonly LogLine[]): Run[] {
  const starts = lines.filter((line): line is RunLine => line.kind === 'started' && isMeant(line.job))
  return starts.map((start) => {
    const end = lines.find(
      (line) =>
        line.at >= start.at &&
        line.pid === start.pid &&
        (line.kind === 'killed' ||
          (isRun(line) && line.kind !== 'started' && line.id === start.id && line.attempt === start.attempt)),
    )
    return { line: start, endMs: end?.at ?? Number.POSITIVE_INFINITY }
  })
}

/** Whether peers had recovered the node of a run when another run began: what the run still does counts no more. */
function isVoid({ line: run }: Run, { line: other }: Run, lines: readonly LogLine[]): boolean {
  return lines.some(
    (line) =>
      line.kind === 'nodeRecovered' &&
      line.instanceId === run.node &&
      line.at >= run.firedAt - toleranceMs &&
      line.at <= other.at + toleranceMs,
  )
}

function instantOf(trigger: string, at: number): string {
  return `${trigger} ${String(at)}`
}

function describe({ trigger, planned, at, node, id, attempt, recovering }: RunLine): string {
  const what = `${recovering ? 'recovery' : 'attempt'} ${String(attempt)}`
  return `${trigger} ${String(planned)} ${what} on ${node} at ${String(at)} (${id})`
}
