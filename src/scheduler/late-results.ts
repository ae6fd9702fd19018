import { Gatherer } from '../core/gatherer.ts'
import type { Logger } from '../core/logger.ts'
import { textOf } from '../core/thrown-value.ts'
import type { RemoteResult } from '../jobs/remote-job.ts'
import type { ExecutionLogLine } from '../jobstore/execution-log.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { Page } from '../jobstore/queries.ts'
import type { Clock } from '../time/clock.ts'
import { ExecutionLog } from './execution-log.ts'
import type { Notifier } from './notifier.ts'
import type { Recorder } from './recorder.ts'

export interface LateResultsParts {
  readonly jobStore: JobStore
  readonly clock: Clock
  readonly logger: Logger
  readonly notifier: Notifier
  readonly recorder: Recorder
}

/** Results of firings that their deadlines have ended: each is a last line in the log of its execution. */
export class LateResults {
  readonly #parts: LateResultsParts
  readonly #taking: Gatherer<string, string | null>

  constructor(parts: LateResultsParts) {
    this.#parts = parts
    this.#taking = new Gatherer(async (references) => {
      const taken = (await parts.jobStore.awaitedResults?.takeLate?.([...new Set(references)])) ?? []
      // Of a reference that is named twice, the first result is the late one.
      const left = new Map(taken.map((late) => [late.reference, late.fireInstanceId]))
      return references.map((reference) => {
        const found = left.get(reference) ?? null
        left.delete(reference)
        return found
      })
    })
  }

  /**
   * Answers the firing that has ended without this result; null when there is none, or its result has come before.
   * Never rejects: the caller that reports it again would not be answered otherwise.
   */
  async record(reference: string, { error = null, result }: RemoteResult): Promise<string | null> {
    try {
      const fireInstanceId = await this.#taking.add(reference)
      if (fireInstanceId === null) return null
      const log = await this.#logOf(fireInstanceId)
      const how = error === null ? 'it ended well' : `it failed: ${textOf(error)}`
      const fields = { reference, ...(error === null && result !== undefined && { result }) }
      log?.warn(fields, `A late result came, after the deadline: ${how}`)
      return fireInstanceId
    } catch (failure) {
      this.#parts.notifier.error(`The late result of '${reference}' was not written down.`, failure)
      return null
    }
  }

  /** Goes on after the lines that are there; null where no lines are kept. */
  async #logOf(fireInstanceId: string): Promise<ExecutionLog | null> {
    const { jobStore, recorder } = this.#parts
    const limits = recorder.logLimits
    if (limits === null) return null
    await recorder.flush()
    let last = 0
    for (let after: number | null = 0; after !== null; ) {
      const page: Page<ExecutionLogLine, number> | undefined = await jobStore.records?.queryExecutionLog(
        fireInstanceId,
        { after, take: 1000 },
      )
      last = page?.items.at(-1)?.line ?? last
      after = page?.next ?? null
    }
    // Its lines may be as many as are kept: this one is kept all the same.
    const room = { ...limits, maxLines: Math.max(limits.maxLines, last + 2) }
    return new ExecutionLog({ fireInstanceId }, { ...this.#parts, limits: room }, last)
  }
}
