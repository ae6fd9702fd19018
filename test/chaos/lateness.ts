import type { LogLine, RunLine } from './run-log.ts'

/** A time in which rows of some jobs were held by others, or rows of junk were due; other jobs must not notice. */
export interface Disturbance {
  readonly what: string
  readonly fromMs: number
  readonly toMs: number
  /** Keys of the jobs that may wait, as text. */
  readonly jobs: ReadonlySet<string>
}

/** What came before may still show at the begin; later than this is no noise of a busy machine, but a stall. */
const settleMs = 1500
const stallMs = 2500

/** Runs of undisturbed jobs that began late while others were disturbed. */
export function stalls(lines: readonly LogLine[], disturbances: readonly Disturbance[]): string[] {
  const runs = lines.filter(
    (line): line is RunLine =>
      // Jobs that exclude themselves or share a limit wait for each other.
      line.kind === 'started' && line.attempt === 1 && !line.recovering && line.job.startsWith('jobs.work'),
  )
  return disturbances.flatMap(({ what, fromMs, toMs, jobs }) =>
    runs
      .filter(({ planned, at, job }) => {
        const isWithin = planned >= fromMs + settleMs && planned <= toMs - settleMs
        return isWithin && at - planned > stallMs && !jobs.has(job)
      })
      .map(
        ({ trigger, planned, at, node }) =>
          `${what}: ${trigger} ${String(planned)} began ${String(at - planned)} ms late on ${node}`,
      ),
  )
}
