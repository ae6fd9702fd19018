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
  return disturbances.flatMap(({ what, fromMs, toMs, jobs }) =>
    runs
      .filter((run) => {
        const isWithin = run.planned >= fromMs + settleMs && run.planned <= toMs - settleMs
        return isWithin && late(run) > stallMs && !jobs.has(run.job)
      })
      .map(
        (run) =>
          `${what}: ${run.trigger} ${String(run.planned)} began ${String(late(run))} ms late on ${run.node}`,
      ),
  )
}
