import type { JobLog } from '../logs/job-log.ts'
import type { HandleResult, RunFacts } from '../run-context.ts'

/** A run, for the code that runs. */
export interface RunningJob {
  readonly facts: RunFacts
  readonly signal: AbortSignal
  readonly log: JobLog
}

/** The code of a lane: a handler or a script. */
export interface JobRunner {
  /** The handler's name, or the kind of the script. */
  readonly name: string
  readonly kind: 'handler' | 'script'
  /** Whether a run ends soon after its signal, whatever its code does. */
  readonly canBeStopped: boolean
  /** Whether runs of the other one may go on in the lane of this one. */
  isSame(other: JobRunner): boolean
  /** Called once for each lane, before its first run. */
  init(): unknown
  /** Called once for each lane, after its last run. */
  destroy(): unknown
  execute(run: RunningJob): Promise<HandleResult>
}
