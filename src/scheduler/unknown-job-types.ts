import type { Logger } from '../core/logger.ts'
import { nearestName } from '../core/options.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import { jobTypesOfLiving } from '../jobstore/cluster-view.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type { UnknownJobType } from '../jobstore/queries.ts'
import type { SchedulerEventEmitter } from '../listeners/events.ts'
import type { Clock, ClockTimer } from '../time/clock.ts'

export interface UnknownJobTypesParts {
  readonly jobStore: JobStore
  readonly clock: Clock
  readonly logger: Logger
  readonly events: SchedulerEventEmitter
  /** The job types that this node has the code of. */
  readonly jobTypes: () => readonly string[]
}

/** How often a started scheduler looks; a job that was renamed is noticed within this. */
const lookIntervalMs = 60_000

/**
 * Looks at the start, and once a minute, for due triggers whose job type no living node has the code of, and reports
 * each type once. Without the report such a trigger would wait unseen, in its normal state.
 */
export class UnknownJobTypes {
  readonly #parts: UnknownJobTypesParts
  readonly #told = new Set<string>()
  #timer: ClockTimer | null = null
  #isWatching = false

  constructor(parts: UnknownJobTypesParts) {
    this.#parts = parts
  }

  start(): void {
    // Triggers in memory were stored by this scheduler, which refuses job types that it does not know.
    if (this.#isWatching || !this.#parts.jobStore.capabilities.persistent) return
    this.#isWatching = true
    this.#begin()
  }

  stop(): void {
    this.#isWatching = false
    this.#timer?.cancel()
    this.#timer = null
  }

  #begin(): void {
    unawaited(this.#watch(), (error) => {
      logThrown(this.#parts.logger, error, 'The look for job types that are not known has stopped.')
    })
  }

  async #watch(): Promise<void> {
    const { clock, logger } = this.#parts
    try {
      await this.#look()
    } catch (error) {
      // The loop reports a store that is away; here it is enough to look again.
      logThrown(logger, error, 'Job types that are not known could not be looked for.', {}, 'debug')
    }
    if (!this.#isWatching || this.#timer !== null) return
    this.#timer = clock.setTimer(lookIntervalMs, () => {
      this.#timer = null
      this.#begin()
    })
  }

  async #look(): Promise<void> {
    const { jobStore } = this.#parts
    const found = await jobStore.queryUnknownJobTypes()
    const untold = found.filter(({ jobType }) => !this.#told.has(jobType))
    if (untold.length === 0) return
    const elsewhere = jobTypesOfLiving((await jobStore.cluster?.nodes()) ?? [])
    if (!this.#isWatching || elsewhere === null) return
    for (const each of untold) if (!elsewhere.has(each.jobType)) this.#tell(each)
  }

  #tell(found: UnknownJobType): void {
    const { events, jobTypes, logger } = this.#parts
    const { jobType, waiting, first } = found
    this.#told.add(jobType)
    const jobKeys = new Map(first.map(({ jobKey }) => [JSON.stringify([jobKey.group, jobKey.name]), jobKey]))
    events.emit('jobTypeUnknown', {
      jobType,
      waiting,
      triggerKeys: first.map(({ triggerKey }) => triggerKey),
      jobKeys: [...jobKeys.values()],
    })
    logger.warn({ jobType, waiting }, warningOf(found, nearestName(jobType, jobTypes())))
  }
}

function warningOf({ jobType, waiting, first }: UnknownJobType, nearest: string | null): string {
  const waits = waiting === 1 ? '1 due trigger waits' : `${waiting} due triggers wait`
  const list = first.map(({ triggerKey }) => triggerKey.toString()).join(', ')
  return (
    `No node has the code of job type '${jobType}', and ${waits} for it: ${list}` +
    `${waiting > first.length ? ', ...' : ''}. Register it in 'jobs' of createScheduler, or delete the jobs.` +
    (nearest === null ? '' : ` Was it renamed to '${nearest}'?`)
  )
}
