import type { TypedEventEmitter } from '../../../core/typed-events.ts'
import type { XxlJobExecutorEventMap } from '../executor-events.ts'
import type { JobLog } from '../logs/job-log.ts'
import type { JobLogs } from '../logs/job-logs.ts'
import type { RunFacts } from '../run-context.ts'
import type { ResultSender } from './result-sender.ts'

/** An accepted run with its result. */
export interface RunEnd {
  readonly facts: RunFacts
  readonly log: JobLog
  readonly handleCode: number
  readonly handleMsg: string
}

export interface RunEndsOptions {
  readonly logs: JobLogs
  readonly results: ResultSender
  readonly events: TypedEventEmitter<XxlJobExecutorEventMap>
}

/** The last step of each run: its log is closed, its result is kept, and then listeners are told. */
export class RunEnds {
  readonly #options: RunEndsOptions

  constructor(options: RunEndsOptions) {
    this.#options = options
  }

  /** The results of all are on disk when listeners hear of the first, where the disk takes them. */
  add(ends: readonly RunEnd[]): void {
    const { logs, results, events } = this.#options
    for (const { facts, log } of ends) logs.close(facts.logId, log)
    results.add(
      ends.map(({ facts: { logId, logDateTimeMs }, handleCode, handleMsg }) => {
        return { logId, logDateTimeMs, handleCode, handleMsg }
      }),
    )
    for (const { facts, handleCode, handleMsg } of ends) {
      events.emit('runEnded', { jobId: facts.jobId, logId: facts.logId, handleCode, handleMsg })
    }
  }
}
