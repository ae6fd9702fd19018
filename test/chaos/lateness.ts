import type { LogLine, RunLine } from './run-log.ts'

/** A time in which rows of some jobs were held by others, or rows of junk were due; other jobs must not notice. */
export interface Disturbance {
  readonly what: string
  readonly fromMs: number
  readonly toMs: number
  /** Keys of the jobs that may wait, as text. */
  readonly jobs: ReadonlySet<string>
}

/** A time in which triggers could be paused: the group that was paused may wait for rows of others to be resumed. */
export interface Pause {
  readonly fromMs: number
  readonly toMs: number
}

/** What came before may still show at the begin; later than this is no noise of a busy machine, but a stall. */
const settleMs = 1500
const stallMs = 2500
/** What was due longer ago than this, and has not begun, is a backlog. */
const backlogMs = 1000

/** Runs of undisturbed jobs that began late while others were disturbed; time in which they were paused is left out. */
export function stalls(
  lines: readonly LogLine[],
  disturbances: readonly Disturbance[],
  pauses: readonly Pause[] = [],
): string[] {
  const late = ({ planned, at }: RunLine): number =>
    pauses.reduce(
      (rest, { fromMs, toMs }) => rest - Math.max(0, Math.min(at, toMs) - Math.max(planned, fromMs)),
      at - planned,
    )
  const runs = lines.filter(
    (line): line is RunLine =>
      // Jobs that exclude themselves or share a limit wait for each other.
      line.kind === 'started' && line.attempt === 1 && !line.recovering && line.job.startsWith('jobs.work'),
  )
  return disturbances.flatMap((disturbance) => {
    const { what, toMs, jobs } = disturbance
    const undisturbed = runs.filter(({ job }) => !jobs.has(job))
    const behind = undisturbed.filter((run) => late(run) > backlogMs)
    const countsFromMs = caughtUpMs(behind, disturbance)
    return undisturbed
      .filter((run) => run.planned >= countsFromMs && run.planned <= toMs - settleMs && late(run) > stallMs)
      .map(
        (run) =>
          `${what}: ${run.trigger} ${String(run.planned)} began ${String(late(run))} ms late on ${run.node}`,
      )
  })
}

/**
 * When nodes had run what an earlier fault left late, such as a restart of the server on a busy machine. Later than
 * the middle of the disturbance is no excuse, and without a backlog at its begin there is none.
 */
function caughtUpMs(runs: readonly RunLine[], { fromMs, toMs }: Disturbance): number {
  let backlogUntilMs = fromMs
  for (;;) {
    const isBehind = ({ planned, at }: RunLine): boolean =>
      planned < backlogUntilMs - backlogMs && at > backlogUntilMs
    const last = Math.max(...runs.filter(isBehind).map(({ at }) => at), 0)
    if (last === 0) return Math.min(Math.max(backlogUntilMs, fromMs + settleMs), (fromMs + toMs) / 2)
    backlogUntilMs = last
  }
}

/** How many runs began in each second, and how late: a stall, or a backlog that becomes less. */
export function lateBySecond(lines: readonly LogLine[]): string[] {
  const seconds = new Map<number, number[]>()
  for (const line of lines) {
    if (line.kind !== 'started') continue
    const second = Math.floor(line.at / 1000)
    seconds.set(second, [...(seconds.get(second) ?? []), line.at - line.planned])
  }
  return [...seconds]
    .sort(([a], [b]) => a - b)
    .map(([second, late]) => {
      const sorted = late.toSorted((a, b) => a - b)
      const [median, most] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted.at(-1)]
      const at = new Date(second * 1000).toISOString().slice(11, 19)
      return `${at} ${String(late.length)} began, ${String(median)} ms late by the median, ${String(most)} ms at most`
    })
}
